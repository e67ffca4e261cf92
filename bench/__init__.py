"""Benchmarks: each is a module here that prints tables, or its figures as JSON; `tools` has what they are made of."""
