"""What is recorded is kept once, in its order, with how far its file was read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memory_keeper.model import EVERYWHERE, Event, Filter, Member, Moved, Note, Phrase, Placed, Source, Usage
from memory_keeper.store import open_store as load_store
from memory_keeper.store.events import session_events
from memory_keeper.text import storable
from tests.raw import pending
from tests.store.contract.made import HERE, a_usage, an_event, begin, find_ids, record_lines, some_events

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.store.contract.made import Open

ODD = (
    "",
    " ",
    "\n\t\r\n",
    "a\0b",
    "\ufffd",
    "half a pair \ud83d here",
    "\U0001f469\u200d\U0001f4bb \U0001f1f0\U0001f1f7 e\u0301",
    "שלום \u202e\u0645\u0631\u062d\u0628\u0627\u202c",
    "한국어 漢字 \U00010000 \U0010fffd",
    "'; drop table event; -- \" % _ \\ ?1 :x",
    "\x1b[31m\x07\x7f\x85\u2028\ufeff",
    "x" * (1 << 20),
    "é" * (1 << 19),
)


def test_recording_twice_keeps_once(open_store: Open) -> None:
    """The same stretch again, or parts of it in another order, adds nothing and changes nothing."""
    store = open_store()
    events = some_events(5)
    source = begin(store)
    assert record_lines(store, source, events) == 5
    assert record_lines(store, source, events) == 0
    assert record_lines(store, source, [events[3], events[1]._replace(text="changed", kind="reply")]) == 0
    twin = an_event(9)
    assert record_lines(store, source, [events[0], twin, twin]) == 1, "once, also within one stretch"
    assert session_events(store, "s1") == [*events, twin]
    assert [store.event(event.id) for event in events] == events
    store.close()


def test_known_event_gets_a_second_place(open_store: Open) -> None:
    """A fork repeats the lines it came from: they belong to both sessions, and are still one event each."""
    store = open_store()
    shared, own, late = some_events(3), an_event(10, session="s2"), an_event(11)
    first, second = begin(store), begin(store, path="/t/s2.jsonl", session="s2")
    record_lines(store, first, shared)
    fork = [event._replace(session="s2") for event in shared]
    assert record_lines(store, second, [*fork, own]) == 1
    record_lines(store, first, [late])
    assert session_events(store, "s1") == [*shared, late]
    assert session_events(store, "s2") == [*shared, own], "what it took over comes first, as it was"
    assert sorted(pending(store, HERE)) == sorted(event.id for event in (*shared, own, late))
    store.close()


def test_a_session_reads_in_the_order_it_was_written(open_store: Open) -> None:
    """The order of the lines counts, not their clocks: in real transcripts some go backwards."""
    store = open_store()
    events = [an_event(number, at=1000.0 - 7 * number) for number in range(20)]
    source = begin(store)
    for start in range(0, 20, 3):
        record_lines(store, source, events[start : start + 3])
    store.close()
    store = open_store()
    assert session_events(store, "s1") == events
    assert pending(store, HERE) == [event.id for event in events]
    store.close()


def test_says_what_a_file_said_last(open_store: Open) -> None:
    """Newest first, whoever said it first, and without the texts."""
    store = open_store()
    first, second = begin(store), begin(store, path="/t/s2.jsonl", session="s2")
    record_lines(store, first, some_events(5))
    record_lines(store, second, [an_event(9, session="s2", kind="compact")])
    assert [event.id for event in store.last_of(first, 2)] == ["e4:0", "e3:0"]
    assert [event.text for event in store.last_of(first, 2)] == ["", ""]
    assert [(event.id, event.kind) for event in store.last_of(second, 9)] == [("e9:0", "compact")]
    record_lines(store, second, [an_event(8, session="s2"), an_event(2)])
    assert sorted(event.id for event in store.last_of(second, 9)) == ["e2:0", "e8:0", "e9:0"]
    store.close()


def test_offset_and_rows_move_together(open_store: Open) -> None:
    """How far a file was read is kept with what was read, or neither is."""
    store = open_store()
    source = begin(store)
    read = source._replace(offset=500, inode=7, head="h", tail="t", at=30.0)
    store.record(read, [Placed(an_event(1), 0)])
    assert store.source(source.path) == read
    try:
        store.record(read._replace(offset=900, tail="u"), [Placed(an_event(2), 500)], _Breaking([a_usage("m", 1)]))
    except _Broken:
        pass
    else:
        raise AssertionError("what breaks in the middle must not pass silently")
    store.close()
    store = open_store()
    assert store.source(source.path) == read
    assert store.event("e2:0") is None
    assert find_ids(store, "word2") == set()
    store.record(read._replace(offset=900), [Placed(an_event(2), 500)])  # and it can go on
    assert [event.id for event in session_events(store, "s1")] == ["e1:0", "e2:0"]
    store.close()


def test_a_replaced_file_keeps_its_old_rows(open_store: Open) -> None:
    """When a file is another one than before it is read from its start; what the old one said stays."""
    store = open_store()
    assert store.source("/t/s1.jsonl") is None
    source = begin(store)
    assert source.seq
    assert source.offset == 0
    record_lines(store, source, some_events(3))
    again = store.begin(source._replace(offset=300, inode=3, head="x", tail="y", at=9.0))
    assert again.seq != source.seq
    assert (again.offset, again.inode, again.head, again.tail, again.at) == (0, 0, "", "", 0.0)
    assert store.source(source.path) == again
    assert store.last_member(again) is None
    assert session_events(store, "s1") == some_events(3)
    record_lines(store, again, [*some_events(2), an_event(7)])
    assert session_events(store, "s1") == [*some_events(3), an_event(7)]
    store.close()


def test_usage_counts_once_per_response(open_store: Open) -> None:
    """A host repeats a response's usage on each of its lines, and the output grows on the way."""
    store = open_store()
    source = begin(store)
    assert store.last_usage("s1") is None
    for output in (1, 50, 20):
        store.record(source, [], [a_usage("m1", output)])
    store.record(source, [], [a_usage("m0", 7, at=5.0), a_usage("m1", 50), a_usage("agents", 9, at=99.0, agent="a1")])
    assert store.last_usage("s1") == a_usage("m1", 50)
    store.record(source, [], [a_usage("m2", 3, at=20.0)])
    assert store.last_usage("s1") == a_usage("m2", 3, at=20.0)
    assert [one.message for one in store.usages("s1")] == ["m0", "m1", "m2", "agents"], "oldest first, each once"
    assert store.last_usage("s2") is None
    store.close()


def test_text_comes_back_as_it_was(open_store: Open) -> None:
    """Whatever was made storable comes back equal, and so does everything around it."""
    store = open_store()
    texts = [storable(text) for text in ODD]
    events = [
        an_event(number, text=text, tool=text[:50], path=text[:50], ref=text[:50], extra='{"a":1}', failed=True)
        for number, text in enumerate(texts)
    ]
    record_lines(store, begin(store), events)
    for number, text in enumerate(texts):
        store.add(Note(f"n{number}", 1.0, "fact", 1, HERE, text, extra="{}", tokens=3))
    store.close()
    store = open_store()
    assert session_events(store, "s1") == events
    for number, text in enumerate(texts):
        kept = store.note(f"n{number}")
        assert kept and kept.text == text
        assert kept.tokens == 3
    store.close()


class _Broken(Exception):  # noqa: N818
    """Raised while a store reads what it was given."""


class _Breaking(list[Usage]):
    """Gives its items and then breaks, as a writer that dies between two rows would."""

    def __iter__(self) -> Iterator[Usage]:
        yield from super().__iter__()
        raise _Broken


def test_what_is_forgotten_is_in_no_byte(open_store: Open) -> None:
    """Events, notes and a file's lines go, what the notes covered is open again, and words are masked."""
    store = open_store()
    source = store.begin(Source("/t.jsonl", "s1", "p"))
    said = ["the plover sings", "a goose sleeps", "the plover eats"]
    events = [Event(f"e{number}:0", float(number), "prompt", "s1", "p", text) for number, text in enumerate(said)]
    placed = [Placed(event, 10 * number) for number, event in enumerate(events)]
    store.record(source, placed, member=Member(0, 30, 0, 20), now=1.0)
    store.add(Note("n1", 1.0, "session", 1, "p", "plovers and geese", "s1"), ["e0:0", "e1:0"])
    (key,) = (kept.key for kept in store.find(Filter(ids=["e0:0"])))
    left = Moved(source.seq + 7, (Member(0, 20, 0, 15),), {10: 0, 20: 10})
    store.forget([key], ["n1"], {source.seq: left})
    assert store.mask(lambda text: text.replace("plover", "bird"), dry=True) == 1
    assert store.mask(lambda text: text.replace("plover", "bird")) == 1
    store.compact()
    assert [kept.event.text for kept in store.find(Filter(project="p"))] == ["a goose sleeps", "the bird eats"]
    assert pending(store, "p") == ["e1:0", "e2:0"]
    assert [one.seq for one in store.sources()] == [left.seq]
    assert store.line("e2:0") == (store.sources()[0], left.members[0], 10)
    assert store.problems() == []
    assert store.matching([[Phrase("goose")]], EVERYWHERE, 5)
    for path in Path(store.path).parent.glob("store.db*"):
        assert b"plover" not in path.read_bytes()
    store.copy(f"{store.path}-copy")
    copy = load_store(f"{store.path}-copy")
    copy.rebuild_index()
    assert copy.problems() == []
    assert copy.texts(copy.matching([[Phrase("goose")]], EVERYWHERE, 5)) == {2: "a goose sleeps"}
    copy.close()
    store.forget([], [], {left.seq: None})
    assert store.sources() == []
