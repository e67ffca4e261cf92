"""What needs numpy is looked at where numpy is: it comes with the extra `semantic`, not with us."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("numpy") else ["test_minilm.py"]
