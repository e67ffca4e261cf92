"""Fewer words for the same thing. Verb: reduce.

`notes` writes what a note says of facts, `tasks` and `usage` compute what became of tasks and what contexts were spent
on: by rule, with no model. `summarizers` are models that word a note again, and `checks` whether what they say is true.
What all of them speak of lies beside them, so that a hook can load it: the outline's `schema`, a `kept_note`, and
`own_commands`, which are no work.
"""
