"""Whether a text is true to what it is about: what it names (`grounding`), what it rests on (`citations`)."""
