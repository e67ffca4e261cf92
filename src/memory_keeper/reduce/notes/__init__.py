"""What a note says: of a stretch of a session, and of the notes beneath it.

`levels` says what one note covers. Of events it is a `digest`, written in `sections` from what lies on the `desk`, in
the ways of `phrasing`; of `children`, which are notes, it is an `outline`, whose lists `themes` makes.
"""
