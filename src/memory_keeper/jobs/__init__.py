"""Work on the memory that nobody waits for. Verb: run.

`run` is the process that does it: it reads what is new, and then does what is `due`. `summarize` makes notes, `learn`
finds observations, `improve` has notes worded better by a model, as far as its `allowance` goes, and `upkeep`
does what the calendar asks. `compare` scores what several summarizers make of a note. `salvage` repairs,
`forget` takes something out for good, `backup` takes copies and puts them back, and
`bring_in` keeps what another tool had kept.
"""
