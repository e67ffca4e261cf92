"""What the events of a session state, found by rule.

`found` has all its facts: what was `said`, `worked_on` (`in_place`: by a shell call) and `ran`. `goal` is what it is
about, `answers` what a reader is told of the model's, `weights` how much each name matters, `latest` what still holds,
and `lists` which tasks are open.
"""
