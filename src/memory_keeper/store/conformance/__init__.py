"""What every engine promises, as checks that any test-suite can run.

A check takes `open_store`, a function that opens the same store again, as another process would; it begins with an
empty store and raises AssertionError when a promise is broken. `SUITE` has them all: of `recording`, of `covering`, of
`searching` by words, and of `asking` for the rest; `made` has what they are made of.
"""

from __future__ import annotations

from memory_keeper.store.conformance import asking, covering, recording, searching
from memory_keeper.store.conformance.made import Check

SUITE: tuple[Check, ...] = (*recording.CHECKS, *covering.CHECKS, *searching.CHECKS, *asking.CHECKS)
