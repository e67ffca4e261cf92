"""The resident process of a session: a front, which `mcp` is, and behind it a worker.

`protocol` is what the front can say alone; `worker` answers, while `looking` moves what is new into the store. `tools`
are those that a model may call, with `arguments` as it may write them.
"""
