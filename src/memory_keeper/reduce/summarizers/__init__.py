"""Who says the same in fewer words: by rule, or a model, whose answer is judged before it is taken."""
