"""The dashboard: the memory in a browser, for the user of this machine alone. Verb: serve.

`guard` says who is let in, `app` puts addresses, views and templates together, `views` finds what a page shows by the
queries that the commands have, `charts` draws, `writes` is the few things that can be changed, and `serve` runs it. The
pages need the extra `dashboard`; nothing else imports them.
"""
