"""What the user asks for, by the words alone.

`prose` takes a text apart. What it asks for: `orders`, of which some are `rules`, the `subjects` they are about, and
the `wishes` that several wordings have in common.
"""
