"""What people and models look up: one thing (`by_id`), the transcripts' own `lines`, and `dates` as they say them."""
