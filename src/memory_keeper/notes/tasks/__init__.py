"""The tasks of a project, made anew from events and notes whenever they are asked for.

`lists` are the model's, `manual` those that somebody wrote down; `identity` tells one from another. `completions` say
how each ended, `progress` what happened while it was in hand, and `done` puts all of it together.
"""
