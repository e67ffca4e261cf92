"""A month or a session in figures, each of them measured: what models were given and gave, what that cost, what
compactions did, and what we added. Verb: show.

`month` and `session` find the figures, `sums`, `prices` and `savings` count them, `markdown` and `html` say them.
`survival` finds what became of the facts of a session, and `survival_svg` draws it.
"""
