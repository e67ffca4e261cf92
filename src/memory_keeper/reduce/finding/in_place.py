"""The files that a shell call changed where they lie, as `sed -i` does."""

from __future__ import annotations

import re
from itertools import takewhile

from memory_keeper.capture.calls import command_of, steps
from memory_keeper.model import Event
from memory_keeper.reduce.words.names import ENDING

IN_PLACE = re.compile(r"(?:sed|perl)(?: -\S+)*? (?:-[A-Za-z]*i(?:\.\w+|'')?|--in-place\S*) ")
PATH = re.compile(r"[\w./@+~-]+")


def changed_in_place(event: Event) -> list[str]:
    """Such files of an event, as the command names them; none of most."""
    found: list[str] = []
    command = command_of(event)
    for step in steps(command) if IN_PLACE.search(command) else ():
        if IN_PLACE.match(step):
            named = takewhile(lambda word: PATH.fullmatch(word) and ENDING.search(word), reversed(step.split()))
            found += [word.removeprefix("./") for word in named]
    return found
