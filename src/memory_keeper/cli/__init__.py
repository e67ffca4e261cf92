"""The command line, for people and scripts. Verb: run.

`main` finds the command, `parser` reads what is said to it, `guard` says what went wrong; `commands` has a file for
each; `search` answers the one that is asked most without a parser.
"""
