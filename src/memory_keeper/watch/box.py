"""What the screen of Claude Code says: the input box, while the program sits idle at it and nothing else is open.

A wrong "idle" types into a dialog or a running turn, a wrong "busy" costs a second look. So a screen is believed only
when everything on it is as it was seen on idle screens (2.1.197, 2.1.325), and whatever is odd means: not now.

What a model or a tool prints stands above the box and is indented, so it can imitate what makes us refuse (a line like
the one that turns while a turn runs), but not the box, which is the last thing between two lines of full width. What a
dialog shows may begin at the left edge; it is told by the words under it. And no screen alone makes us press Enter:
`clear` types first, and goes on only when the program has offered its own `/clear` for it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

COMMAND = "/clear"
SIGN = "\u276f"  # ❯
LINE = "\u2500"  # ─
BELOW = 8  # lines that a user's status line and the host's own take under the box, at most
ABOVE = 2  # lines over the box that belong to it

# ❯ and a space that does not break: what a user has sent is shown with an ordinary one
_FIRST = re.compile(f"{SIGN}\xa0(.*)")
# the bottom is plain; a session's name may stand in the top
_BOTTOM = re.compile(f"{LINE}{{20,}}")
_TOP = re.compile(f"{LINE}{{4,}}(?:.*{LINE})?")
# "✻ Baking… (3s · ↓ 12 tokens)", at the left edge; a dot where motion is reduced; "✻ Waiting for 1 background agent"
_RUNNING = re.compile(r"[*\u00b7\u2219\u25cf\u2217\u2720-\u274b] (?:\S.*\u2026(?: \(.*)?|Waiting for .*)")
_SCROLLED = re.compile(r".*\u2193|.*: \S+ to scroll")  # "Jump to bottom (ctrl+End) ↓": who knows what runs down there
_HINTS = re.compile(
    r"Press (?:up|Enter) |Taking your message back|Message @|describe a task for a new session", re.IGNORECASE
)
# under the box: something is open or selected, or runs in the background
_OPEN = re.compile(
    r"\besc to |\benter to |\bspace to |press ctrl|again to exit|to (?:navigate|select|cancel|confirm|manage)\b"
    r"|search prompts|for shell mode|view tasks|^  \u25ef |^  \u25cf main$"
    r"|\b\d+ (?:shells?|bash(?:es)?|(?:background |local |remote )?(?:agents?|tasks?)|monitors?|teammates?|workflows?)"
    r"\b",
    re.IGNORECASE,
)
_AGAIN = re.compile(r"\besc again", re.IGNORECASE)  # somebody has just pressed it
_STASHED = "\u203a stashed"
# "/clear   Start a new session…", under the box (197) or, with a sign before the chosen one, over it (325)
_OFFER = re.compile(rf"(?:  {SIGN} |    )?(/\S+)(?:  .*)?")
_REST = re.compile(r" {12,}\S.*")  # of what an offer says
_FILES = re.compile(rf"(?:  {SIGN} |    )?[*+\u25c7] .*")  # offered after an @


class Box(NamedTuple):
    """The input box of an idle Claude Code."""

    text: str  # what stands in it; it may be a hint, which goes away when something is typed
    stashed: bool = False  # a draft was put away before
    offered: bool = False  # /clear is typed, and offered once: it is the host's own, no project has one of this name


def read_screen(screen: str) -> Box | None:
    """The input box; None when the program is busy, shows something else, or is another program."""
    lines = [line.rstrip(" ") for line in screen.rstrip(" \n").split("\n")]
    bottom = _last(_BOTTOM, lines, len(lines))
    top = _last(_TOP, lines, bottom)
    text = _read_box(lines[top + 1 : bottom]) if top >= 0 else None
    if text is None or _HINTS.match(text):
        return None
    above, below = lines[:top], lines[bottom + 1 :]
    if any(map(_RUNNING.fullmatch, above)) or any(map(_SCROLLED.fullmatch, above[-4:])):
        return None
    over = _read_offers(above[::-1])[::-1]
    under = [] if over else _read_offers(below)
    offers = over + under
    if offers and text != COMMAND:
        return None  # somebody is choosing a command
    footer = [line for line in below if line] if not under else []
    if under and not all(_OFFER.fullmatch(line) or _REST.fullmatch(line) for line in below):
        return None
    if len(footer) > BELOW or not all(line.startswith("  ") for line in footer) or any(map(_OPEN.search, footer)):
        return None
    near = above[-ABOVE:] + footer
    if any(map(_AGAIN.search, near)) or any(map(_FILES.fullmatch, above[-1:])):
        return None
    # counted on the whole screen: better to miss a clear than another command of that name
    clears = [line for line in above + below if (offer := _OFFER.fullmatch(line)) and offer[1] == COMMAND]
    offered = text == COMMAND and offers[:1] == [COMMAND] and len(clears) == 1
    return Box(text, any(_STASHED in line for line in near), offered)


def _last(wanted: re.Pattern[str], lines: list[str], end: int) -> int:
    """The last line of a kind before another; -1: there is none."""
    return next((at for at in range(end - 1, -1, -1) if wanted.fullmatch(lines[at])), -1)


def _read_box(lines: list[str]) -> str | None:
    """What stands in the box; None when it is no box."""
    first = _FIRST.fullmatch(lines[0]) if lines else None
    if first is None or any(line and not line.startswith("  ") for line in lines[1:]):
        return None
    return "\n".join([first[1], *(line[2:] for line in lines[1:])]).rstrip("\n ")


def _read_offers(lines: list[str]) -> list[str]:
    """The commands that are offered, in lines that begin next to the box."""
    found = []
    for line in lines:
        offer = _OFFER.fullmatch(line)
        if offer:
            found.append(offer[1])
        elif not _REST.fullmatch(line):
            break
    return found
