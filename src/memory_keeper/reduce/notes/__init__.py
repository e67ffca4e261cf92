"""What a note says: of a segment of a session, and of the notes beneath it.

`segments` says what one note covers. Of events it is a `note`; of notes it is an `outline`, whose `lists` are themes,
decisions and issues. Both are told from facts. What is only `small_talk` is covered without a word.
"""
