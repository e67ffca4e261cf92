"""Where the plugin's launcher comes in, `python -I -S start.py COMMAND …`: a command with a door of its own loads only
what it needs; all others go through the parser of `cli`."""

import gc
import sys

sys.path.insert(0, __file__.rpartition("/memory_keeper/")[0])
from memory_keeper.app import DOORS

command = sys.argv[1] if sys.argv[1:] else ""
if command == "hook":
    gc.disable()  # it is over before there is anything to collect
if command in DOORS:
    main = getattr(__import__("memory_keeper.app." + command, fromlist=[command]), DOORS[command])
else:
    from memory_keeper.app.cli import main
main(sys.argv[1:])
