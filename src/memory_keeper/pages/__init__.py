"""The files in a project that people read and edit.

`reading` says what stands in them and whose it is, `adopt` makes notes of what people changed, `render` writes them
from notes, and `claude_md` puts rules into a file of the user's own.
"""
