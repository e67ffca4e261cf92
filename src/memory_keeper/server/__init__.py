"""The resident process of a session: a `front` that the host knows, and behind it a `worker`. Verb: serve.

`protocol` is what the front can say alone; the worker answers, while `catch_up` moves what is new into the store.
`tools` are those that a model may call, with `arguments` as it may write them.
"""
