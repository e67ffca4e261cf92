"""The resident process of a session: its protocol, the worker that answers, and the tools a model may call."""
