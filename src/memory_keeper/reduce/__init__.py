"""Fewer words for the same thing. Verb: reduce.

`facts` takes by rule what events state outright. A summarizer is a function that satisfies `Summarizer`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    class Summarizer(Protocol):
        """Says the same in fewer tokens."""

        def __call__(self, texts: Sequence[str], budget: int) -> str: ...
