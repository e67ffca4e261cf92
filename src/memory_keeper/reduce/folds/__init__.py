"""What became of things, over many events and notes: made anew whenever it is asked for, and stored nowhere.

Of rules: `instructions` the user gave, what was `observed`, what of it comes `from_prompts`, and `habits` before
commits. Of tasks: the `tasks` of a list and those `by_hand`, which is the `same_task`, how each `ends`, what was
`in_hand` meanwhile, and what is `done`. Of contexts: the `breakdown` of what ate one, over the `gaps` between its
responses, and its `compactions`.
"""
