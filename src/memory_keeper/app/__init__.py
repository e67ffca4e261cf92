"""The doors, and what they set in motion. Verb: answer.

The doors: `hook`, `mcp` and `turn` for Claude Code, `look` for what no hook waits for, `statusline`, `search` and `cli`
for people; `start` picks one. `answer` is what all hooks come to. They share `options` (without a parser), `problems`
(what went wrong, for `doctor`), `detached` (what outlives a door), `terminal` and `cells` (what people see), and
`project_settings`.

Beneath them `commands` has a file for each command, `actions` what hooks do, `server` the resident process, `chores`
the upkeep, `pages` the files for people, `watch` the terminals, `schedule` the clock, `lookup` what is asked by id, and
`host` what we touch outside our home.
"""

DOORS = {  # the commands that have no time for a parser; what is called of the module of that name, in its own process
    "hook": "main",
    "mcp": "main",
    "search": "hurry",
    "look": "main",
    "turn": "main",
    "statusline": "main",
}
