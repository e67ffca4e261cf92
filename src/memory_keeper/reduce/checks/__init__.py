"""Whether a text is true to what it is about: what it names, what each sentence rests on, and what it lost."""
