"""Fewer words for the same thing. Verb: reduce.

`words` reads a text, `finding` the events of a session, `notes` writes what a note says of them, and `folds` tells what
became of rules, tasks and contexts over all of them: by rule, with no model. `summarizers` has those that word a note
again with a model, and `checks` whether what they say is true. What all of them speak of lies beside them, so that a
hook can load it: `facts`, `sentences`, the outline's `schema`, a `kept_note`, and `own_commands`, which are no work.
"""
