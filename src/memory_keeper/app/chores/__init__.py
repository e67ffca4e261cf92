"""Work on the memory that no hook waits for: notes, observations, better wordings, what the calendar asks, repair."""
