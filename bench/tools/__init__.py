"""What the benchmarks are made of: floors, figures, transcripts, sets of questions, made-up rows."""
