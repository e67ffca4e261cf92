"""What people and models look up: one thing (`by_id`), one session (`sessions`), and the transcripts' own `lines`."""
