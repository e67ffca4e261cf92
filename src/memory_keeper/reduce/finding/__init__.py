"""What the events of a session state, found by rule.

`found` has all its facts: what was `said`, `worked_on` and `ran`. `goal` is what it is about, `answers` what a reader
is told of the model's, `weights` how much each name matters, and `latest` what still holds.
"""
