"""Whether a text is true to what it is about: what it names (`grounding`), what each sentence rests on (`citations`),
and what it lost (`fidelity`)."""
