"""What the user wants from now on: instructions, and the observations that may become rules.

`classifier` says which sentences are rules, `subjects` of which things they speak, `clauses` which of their clauses
hold for good. Two `wishes` are the same, or one reverses the other, or neither.
`instructions` are the wishes of a session, `prompts` those that wait to be kept, `observations` what became of all
that were, `habits` what is run before nearly every commit.
"""
