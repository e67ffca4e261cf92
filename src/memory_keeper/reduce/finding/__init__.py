"""What the events of a session state, found by rule: its facts, its goal, the names in it, and what still holds."""
