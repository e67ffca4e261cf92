"""What a text says by its words alone: its sentences, its names, and what they claim, order and leave open."""
