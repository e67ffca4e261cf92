"""Where the plugin's launcher comes in, `python -I -S start.py COMMAND …`: six commands have a door of their own, which
loads only what it needs; all others go through the parser of `cli`."""

import sys

sys.path.insert(0, __file__.rpartition("/memory_keeper/")[0])
if sys.argv[1:2] == ["hook"]:
    from memory_keeper.app.hook import main
elif sys.argv[1:2] == ["mcp"]:
    from memory_keeper.app.mcp import main
elif sys.argv[1:2] == ["search"] and not {"--help", "-h"} & {*sys.argv}:
    from memory_keeper.app.search import hurry as main
elif sys.argv[1:2] == ["look"]:
    from memory_keeper.app.look import main
elif sys.argv[1:2] == ["turn"]:
    from memory_keeper.app.turn import main
elif sys.argv[1:2] == ["statusline"] and not {"--help", "-h", "--install", "--remove"} & {*sys.argv}:
    from memory_keeper.app.statusline import main
else:
    from memory_keeper.app.cli import main
main(sys.argv[1:])
