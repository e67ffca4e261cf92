"""Work on the memory that no hook waits for.

`rounds` does what is due: `distil` makes notes, `learn` finds observations, `improve` has notes worded better by a
model, as far as its `allowance` goes, and `upkeep` does what the calendar asks. `compare` scores what
several summarizers make of a note. `salvage` repairs.
"""
