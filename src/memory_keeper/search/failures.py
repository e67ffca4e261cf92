"""Earlier failures with an error: results that say the same went wrong, the likest and newest first."""

from __future__ import annotations

from collections.abc import Sequence

from memory_keeper.capture.runs import Run, went_wrong
from memory_keeper.capture.signature import holds, likeness, says, signatures, words
from memory_keeper.model import Event, NamedTuple, Phrase, Row, Scope
from memory_keeper.store.calls import SHOWN as LOOKED_AT
from memory_keeper.store.calls import call_of, events_of
from memory_keeper.store.index import words_in
from memory_keeper.store.store import Store

HITS = 5_000  # results that have all the words, the newest
FAILED, UNSAID = 100, 40  # of them that failed, and of the newest, that are read
TELLING = 6  # words of an error that are searched for
LOOKED = 24  # of them that are looked at
ALL = 40  # errors of one output in which one is looked for
NEAR = 0.8  # two signatures that share so much may be of the same error


class Seen(NamedTuple):
    """An earlier failure with the error that is asked for."""

    result: Event
    signature: str
    like: float


# --- earlier failures ---


def find_seen(store: Store, asked: Sequence[str], scope: Scope, nearly: bool = True) -> list[Seen]:
    """Earlier failures with this error, the likest and newest first. Only what has its words is looked at."""
    told = words(asked[0], TELLING)
    rows = _having(store, told, scope) if told else []
    if not rows and len(told) > 3 and nearly:  # nobody had all of them: the most telling half
        rows = _having(store, sorted(told, key=lambda word: (word.islower(), -len(word)))[: len(told) // 2 + 1], scope)
    texts = store.texts([row.key for row in rows], LOOKED_AT)
    kept = [row.id for row in rows if _has(texts.get(row.key, ""), told)][:LOOKED]
    found = [seen for event in events_of(store, kept) if (seen := _read(event, asked, nearly))]
    found = [one for one in found if one.result.failed or _failed(store, one.result)]
    return sorted(found, key=lambda one: (-one.like, -one.result.at))


def _having(store: Store, told: Sequence[str], scope: Scope) -> list[Row]:
    """The newest results with all of some words: those that failed, then some of which that is not said."""
    phrases = [Phrase(" ".join(words_in(word)), "text") for word in told]
    wanted = [(phrase,) for phrase in phrases if phrase.words]
    if not wanted or not store.indexed:
        return []
    keys = store.matching(wanted, Scope(scope.project), HITS, kinds=("result",))
    failed = {row.key for row in store.rows(keys) if row.failed}
    rows = store.rows([*[key for key in keys if key in failed][:FAILED], *keys[:UNSAID]])
    rows.sort(key=lambda row: (not row.failed, -row.at))
    return [row for row in rows if row.kind == "result" and lies_in(row, scope)]


def lies_in(row: Row | Event, scope: Scope) -> bool:
    """Whether something lies in a scope."""
    here = scope.project is None or row.project == scope.project
    then = row.at >= scope.since and (not scope.until or row.at < scope.until)
    return here and then and scope.session in ("", row.session)


def _failed(store: Store, result: Event) -> bool:
    """Whether a command failed behind a pipe: others only print what went wrong elsewhere."""
    call = call_of(store, result)
    return call is not None and call.tool == "Bash" and went_wrong(Run(call, result, 0))


def _has(text: str, told: Sequence[str]) -> bool:
    """Whether a text has most of some words: cheaper to ask than what it says went wrong."""
    low = text.lower()
    return sum(word.lower() in low for word in told) >= len(told) * NEAR


def _read(event: Event, asked: Sequence[str], nearly: bool) -> Seen | None:
    """A result as a failure with this error; None when it has another one, or none."""
    for one in asked:
        if says(event.text, one):
            return Seen(event, one, 1.0)
    best = None
    for said in signatures(event.text, ALL) if nearly else ():
        like = max(0.9 if holds(said, one) else likeness(one, said) for one in asked)
        if like >= NEAR and (best is None or like > best.like):
            best = Seen(event, said, like)
    return best
