"""What a user shares with others, or with another machine: chosen by hand, carried by git or by PostgreSQL.

`teams` are where a project is shared; an `item` is what is, as a file; `outbox` is all of that, as a query; a
`transport` carries it (`git`, or a `hub`); `inbox` keeps what others have shared; `own` is what goes to another machine
of the user's; `sync` does both. Nothing here is on the hook path: hooks read the notes that are kept by then.
"""
