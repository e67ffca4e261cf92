"""What events state: requests, findings, decisions, errors, edits, tasks, the state of the work. Verb: extract.

`prose` takes a text apart, `concepts` says what it speaks of. `spoken` finds what was said, `work` what was done with
tools, `head` what whoever takes over asks first, `todos` the model's lists. `ranker` says what each is worth, by learnt
weights. `extraction` puts them together, the most needed
first. All of them make `facts`, which are values; briefs and notes put them in words. Hooks load `facts`, `todos` and
`touched` only.
"""
