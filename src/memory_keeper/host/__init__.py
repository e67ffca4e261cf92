"""What we touch outside our home: Claude Code, and the machine that both of us run on.

`claude_settings` and `registration` are our place in Claude Code, `hooks_module` what of it is there only where it is
needed, `consent` says who runs in its shell; `own_command` is our name on the user's path. `files` writes a file whole,
`json_file` reads and lays out an object in one, `process` says what the system knows of a process.
"""
