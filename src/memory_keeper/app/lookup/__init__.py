"""What people and models look up: one thing by its id, the transcripts' own lines, a moment as they say it."""
