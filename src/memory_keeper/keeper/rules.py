"""Rules of the user's: added, given another wording, taken away."""

from __future__ import annotations

from time import time

from memory_keeper import wire
from memory_keeper.briefs.rules import Rule, shipped_note
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note
from memory_keeper.notes.kept_note import measure
from memory_keeper.text import digest_of


def add_rule(keeper: Keeper, project: str, text: str, *, source: str = "", automatic: bool = False) -> Note:
    """A rule of the user's, from now on; `source` is the observation that it came of. One that came of the same before
    and was taken away gets this as its wording."""
    now = time()
    about = {"by": "user", "source": source, "automatic": automatic}
    id = "rule-" + digest_of(project, source or repr((text, now)))
    known = keeper.store.wording(id) if source else None
    if known:
        return known if known.text else keeper.reword(known, text, about, now=now)
    extra = wire.dumps({name: value for name, value in {**about, "written": now}.items() if value})
    keeper.write(Note(id, now, "rule", 0, project, text, "", measure(text), extra, who="user"))
    note = keeper.store.note(id)
    assert note, "it was just kept"
    return note


def change_rule(keeper: Keeper, rule: Rule, text: str) -> Note:
    """Give a rule another wording, or take it away; one that came with us is written down first, as it came."""
    first = rule.note
    if not first:
        first = shipped_note(rule.id, time())
        keeper.write(first)
    return keeper.reword(first, text, {"automatic": False})
