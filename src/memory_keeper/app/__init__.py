"""The doors, and what they set in motion. Verb: answer.

The modules are the doors: `hook`, `mcp` and `turn` for Claude Code, `look` for what no hook waits for, `statusline`,
`search` and `cli` for people. Beneath them `commands` has a file for each command, `actions` what hooks do, `server`
the resident process, `chores` the upkeep, `pages` the files for people, `watch` the terminals, `schedule` the clock,
`lookup` what is asked by id, and `host` the machine we run on.
"""
