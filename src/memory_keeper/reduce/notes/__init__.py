"""What a note says: of a stretch of a session, and of the notes beneath it."""
