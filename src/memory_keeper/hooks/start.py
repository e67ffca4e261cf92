"""Where the plugin's launcher comes in, `python -I -S start.py COMMAND …`: a command with an entry point of its own
loads only what it needs; all others go through the parser of `cli`."""

import gc
import sys

sys.path.insert(0, __file__.rpartition("/memory_keeper/")[0])
from memory_keeper.hooks import COMMAND_LINE, ENTRY_POINTS, enter

command = sys.argv[1] if sys.argv[1:] else ""
if command == "hook":
    gc.disable()  # it is over before there is anything to collect
enter(ENTRY_POINTS.get(command, COMMAND_LINE), sys.argv[1:])
