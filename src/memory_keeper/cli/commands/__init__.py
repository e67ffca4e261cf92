"""The commands, a file each: what it takes, `ARGUMENTS`, and `run(args) -> exit code`; of a resource, its `VERBS`."""
