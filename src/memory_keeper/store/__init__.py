"""What is kept: events, and the notes that cover them. Verb: record.

An engine is a class that satisfies `store.Store` and passes `conformance`. The embedded one is `sqlite.SqliteStore`: it
records; its parts answer: `leaves` about events, `branches` about notes, `matches` about words, of which `index` says
what rows have. One public method is one transaction. Of what is kept only `covered_by` ever changes, once, from null.
`migrations` has the schema.

What one feature asks, and no other, is no promise of an engine but a module of queries on its connection: `doing`
(tasks), `moments` (the timeline), `passage` (calls and what came of them), `spending` (tokens), `telling` (briefs that
were told), `touched` (files), `typed` (whether a person was there), `vectors` (meaning), `dump` (everything).

Beside the store a home holds `spool` (what hooks left, of which `context` is the sum), `archive` (raw lines) and
`ready` (the reminder of the rules); `home` has its lock.
"""
