"""What people and models look up: one thing (`by_id`), and the transcripts' own `lines`."""
