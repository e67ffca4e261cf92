"""The files in a project that people read and edit.

`render` writes them from notes, `adopt` makes notes of what people changed in them, and `claude_md` puts rules into a
file of the user's own. `ownership` says which of them are ours to take away.
"""
