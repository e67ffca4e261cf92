"""What a note says: of a segment of a session, and of the notes beneath it.

`segments` says which events one note covers, `small_talk` what is worth no note. Of a segment it is a `note`, of notes
an `outline` with its `lists`; `turns` words a request with what came of it. All are made of facts.
"""
