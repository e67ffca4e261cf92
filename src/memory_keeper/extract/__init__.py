"""What events state: requests, findings, decisions, errors, edits, tasks, the state of the work. Verb: extract.

`prose` takes a text apart, `own_words` leaves off what it quotes, `concepts` says what it speaks of. `spoken` finds
what was said, `work` what was done with tools, `head` what whoever takes over asks first, `state` where the work
stands, `plans` how far a plan has come, `names` and `touched` the names and files, `todos` the model's lists. `ranker`
says what each is worth, by learnt weights; `extraction` puts all together, the most needed first. They make `facts`,
which are values; briefs and notes put them in words. `settled` says which of them still hold, `fidelity` which of them
a summary kept. Hooks load `facts`, `todos` and `touched` only.
"""
