"""Fewer words for the same thing. Verb: reduce.

`note` writes what a note says of facts, `segments` says which notes go up together, and
`outline` with its `lists` what is written of those; `tasks` and `usage` compute what became of tasks and what contexts
were spent on: by rule, with no model. `summarizers` are models that word a note again, and `checks` whether what they
say is true. What all of them speak of lies beside them, so that a hook can load it: the outline's `schema`, a
`kept_note`, and `own_commands`, which are no work.
"""
