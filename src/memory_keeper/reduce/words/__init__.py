"""What a text says by its words alone.

`prose` takes it apart, `names` are in it, `own_words` are its writer's. What it says: `claims`, `orders` and the
`subjects` they are about, and `loose_ends`.
"""
