"""What happened: a host's payloads and transcripts become events. Verb: read.

`tail` finds the new lines of a file, `redact` takes the secrets out before anything is kept, and a module for each
host, of which there is one, `claude_code`, has `read_line(line, source, offset, at) -> Line`; `repeated` knows what the
host only writes again, `large_outputs` where it put what is too long for a line, and `forgotten`
what is not to be kept again. What a hook is told is read in
`payload`, what a plugin is handed in `messages`.

The rest asks the host's own files and words a question: `gauge` how full a context is, `newest` what is still in it,
`auto_memory` what the host remembers by itself, `host` which process it is, `project` where it works, `calls` what a
call was given, `runs` what became of it, `signature` which error an output shows, `named` what a prompt names, and
`typed` what a person typed.
"""
