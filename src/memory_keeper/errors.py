"""What goes wrong, in words for the person who must do something about it."""

from __future__ import annotations


class KeeperError(Exception):
    """A problem the user can act on: one line, and a hint."""

    code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class NotSetUp(KeeperError):  # noqa: N818  (it reads as what it says)
    """Something has to be installed or started first."""

    code = 3


class NothingKept(NotSetUp):
    """There is no store yet."""


class Damaged(KeeperError):  # noqa: N818
    """What was kept is not as it was written."""


class Busy(KeeperError):  # noqa: N818
    """Somebody else holds what is needed; trying again later works."""

    code = 4


class Outdated(Busy):
    """The store is of an earlier version, and another process brings it up to date."""


class TooLarge(KeeperError):  # noqa: N818
    """A file that would fill the memory."""


class PartlyDone(KeeperError):  # noqa: N818
    """Some of it worked; the message says what did not."""

    code = 5
