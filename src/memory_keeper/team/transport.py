"""What carries shared items: the one contract, which git and a hub satisfy.

Whatever fails is a KeeperError, and nothing is lost by it: what was not carried is carried the next time. Both ways may
be done twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from memory_keeper.errors import KeeperError
from memory_keeper.model import Item


class Offline(KeeperError):  # noqa: N818  (it reads as what it says)
    """The other side cannot be reached; later it may be."""


class Batch(NamedTuple):
    """Some of what the other side has."""

    items: Sequence[Item]
    cursor: str  # where to go on from, once these are kept; losing it only costs reading them again
    more: bool


class Transport(Protocol):
    """The way to the others."""

    problems: list[str]  # what was left out, in words for people

    def pull(self, cursor: str) -> Batch:
        """What came since; the home's own items may be among it."""

    def push(self, items: Sequence[Item]) -> dict[str, str]:
        """Have the other side know all of the outbox; the ids of those that it refused, and why."""

    def close(self) -> None:
        """Let go of what is open."""
