"""What happened: a host's payloads and transcripts become events. Verb: read.

A member is a module for one host with `read_line(line, source, offset, at) -> Line`; `tail` finds the new lines,
`redact` takes the secrets out before anything is kept.
"""
