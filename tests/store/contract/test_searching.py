"""Rows are found by their words, and nothing else is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_keeper.model import EVERYWHERE, Filter, Note, Phrase, Scope
from tests.store.contract.made import (
    ELSEWHERE,
    HERE,
    a_note,
    an_event,
    begin,
    find_ids,
    find_keys,
    record_lines,
    some_events,
)

if TYPE_CHECKING:
    from tests.store.contract.made import Open


def test_finds_what_was_recorded_and_nothing_else(open_store: Open) -> None:
    """Every word of every event is found, in its project, and words nobody said are not."""
    store = open_store()
    record_lines(store, begin(store), some_events(12))
    other = begin(store, path="/t/s2.jsonl", session="s2", project=ELSEWHERE)
    record_lines(store, other, [an_event(20, session="s2", project=ELSEWHERE, text="word3 elsewhere naïve 배포")])
    for number in range(12):
        (row,) = store.rows(find_keys(store, f"word{number}", scope=Scope(HERE)))
        event = an_event(number)
        assert (row.id, row.level, row.kind, row.at) == (event.id, 0, event.kind, event.at)
        assert (row.session, row.project) == (event.session, event.project)
        assert store.texts([row.key]) == {row.key: event.text}
        assert store.texts([row.key], 3) == {row.key: event.text[:3]}
    assert find_ids(store, "word3") == {"e3:0", "e20:0"}
    assert find_ids(store, "elsewhere", scope=Scope(ELSEWHERE)) == {"e20:0"}
    assert find_ids(store, "elsewhere", scope=Scope(HERE)) == set()
    assert find_ids(store, "배포") == {"e20:0"}
    assert find_ids(store, "nobody") == set()
    assert find_ids(store, "word1", "word2") == set()
    assert find_keys(store, "common", limit=5) == sorted(find_keys(store, "common"), reverse=True)[:5]
    assert len(find_keys(store, "common")) == 12
    assert (store.count(Filter()), store.count(Filter(ELSEWHERE)), store.count(Filter(limit=5))) == (13, 1, 5)
    dated = [an_event(n, session="s2", at=float(n), text="dated") for n in range(30, 60)]
    record_lines(store, other, dated)
    between = store.rows(find_keys(store, "dated", scope=Scope(since=33.0, until=36.0)))
    assert {row.at for row in between} == {33.0, 34.0, 35.0}, "the last moment is not one of them"
    cut = find_keys(store, "dated", scope=Scope(until=36.0), limit=1)
    assert [row.at for row in store.rows(cut)] == [35.0], "before it is cut"
    store.close()


def test_finds_notes_by_their_wording_in_force(open_store: Open) -> None:
    """Notes have keys below zero and match by themselves; a wording that another replaced, or without words, has no
    row."""
    store = open_store()
    record_lines(store, begin(store), some_events(1))
    store.add(Note("a", 7.0, "fact", 0, HERE, "common zebra", session="s1", who="user"))
    store.add(Note("b", 8.0, "session", 1, ELSEWHERE, "common giraffe"), [])
    store.add(Note("empty", 9.0, "fact", 0, HERE, ""))
    assert [key < 0 for key in find_keys(store, "common", notes=True)] == [True, True]
    assert find_keys(store, "common") == [1], "events are asked apart"
    assert find_keys(store, "common", limit=1, notes=True) == find_keys(store, "common", notes=True)[:1], "the newest"
    (row,) = store.rows(find_keys(store, "common", scope=Scope(HERE), notes=True))
    assert (row.id, row.level, row.kind, row.at, row.session, row.project) == ("a", 0, "fact", 7.0, "s1", HERE)
    assert (row.by, row.size, row.path, row.tool, row.failed) == ("user", 2, "", "", False)
    assert store.texts([row.key, 1], 8) == {row.key: "common z", 1: "common w"}
    assert [row.id for row in store.rows(find_keys(store, scope=Scope(level=1), notes=True))] == ["b"]
    store.add(Note("a2", 10.0, "fact", 0, HERE, "common lion", replaces="a", who="user"))
    assert {row.id for row in store.rows(find_keys(store, "common", notes=True))} == {"a2", "b"}
    assert store.rows(find_keys(store, "zebra", notes=True)) == []
    assert store.rows([-3, 99, -99, 0]) == [] == store.rows([]), "without words, or never kept"
    assert store.texts([]) == {} == store.texts([99, -99, 0])
    store.close()


def test_rows_say_what_is_known_of_an_event(open_store: Open) -> None:
    """All but its text; and whose tool answered, where the answer itself does not say."""
    store = open_store()
    events = [
        an_event(1, kind="call", text="one two three", tool="Bash", path="a.py", ref="t1", failed=True),
        an_event(2, kind="result", text="four", ref="t1"),
        an_event(3, kind="result", text="four", ref="t9"),
    ]
    record_lines(store, begin(store), events)
    call, result, other = sorted(store.rows([3, 1, 2]), key=lambda row: row.key)
    assert (call.size, call.path, call.tool, call.ref, call.failed) == (3, "a.py", "Bash", "t1", True)
    assert (result.kind, result.tool, result.ref, other.ref) == ("result", "", "t1", "t9")
    assert sorted(find_keys(store, scope=Scope(tool="Bash"))) == [1, 2]
    assert store.newest_key() == 3
    store.close()


def test_rows_are_found_by_a_phrase_of_each_group(open_store: Open) -> None:
    """The newest first; in its own column, or with a word that goes on, where that is said."""
    store = open_store()
    texts = ("the red parser", "a blue parser", "parseHeaders of the red one")
    made = [event._replace(text=text) for event, text in zip(some_events(3), texts, strict=True)]
    record_lines(store, begin(store), made)

    def keys(*wanted: tuple[Phrase, ...], limit: int = 9) -> list[int]:
        return store.matching(wanted, EVERYWHERE, limit)

    assert keys((Phrase("red"),)) == [3, 1] and keys((Phrase("red"),), limit=1) == [3]
    assert keys((Phrase("red"), Phrase("blue")), (Phrase("parser"),)) == [2, 1]
    assert keys((Phrase("red parser"),)) == [1] and keys((Phrase("parser red"),)) == []
    assert keys((Phrase("head", begins=True),)) == [3] == keys((Phrase("headers", "parts"),))
    assert keys((Phrase("headers", "text"),)) == [] and keys() == []
    assert store.matching([(Phrase("red"),)], Scope("another"), 9) == []
    assert store.matching([(Phrase("red"),)], Scope(HERE), 9, kinds=("none",)) == []
    store.close()


def test_everything_can_be_read_one_by_one(open_store: Open) -> None:
    """The newest first, as a clause selects; nothing of the other table."""
    store = open_store()
    assert store.newest_key() == 0 and list(store.scan(EVERYWHERE)) == []
    record_lines(store, begin(store), some_events(4))
    store.add(a_note("n1"))
    assert [key for key, _ in store.scan(EVERYWHERE)] == [4, 3, 2, 1]
    assert next(iter(store.scan(EVERYWHERE))) == (4, an_event(3).text)
    assert [key for key, _ in store.scan(Scope(HERE, kind="prompt"))] == []
    assert list(store.scan(Scope(HERE), notes=True)) == [(-1, "note n1")]
    assert store.newest_key() == 4, "notes do not count"
    store.close()


def test_has_no_vectors_that_nobody_made(open_store: Open) -> None:
    """Then search goes by words alone."""
    store = open_store()
    record_lines(store, begin(store), some_events(2))
    store.add(a_note("n1"))
    assert not store.has_vectors()
    store.close()
