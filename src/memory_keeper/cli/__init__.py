"""The command line, for people and scripts. Verb: run.

`main` has the table of commands and `aliases` their other names, `parser` reads a command line, `guard` says what went
wrong. `commands` has a file for each; what they share is in `arguments`, `scope` (which project and session), `output`,
`work` and `beginning` (where nothing is kept yet); `imports` brings in the memory of another tool, `hub` has the
verbs of a team on PostgreSQL, and `claude` asks Claude Code's own commands.
"""
