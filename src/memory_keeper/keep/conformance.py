"""What every engine promises, as checks that any test-suite can run.

A check takes `open_store`, a function that opens the same store again, as another process would; it begins with an
empty store and raises AssertionError when a promise is broken. `SUITE` has them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_keeper.keep.index import tag
from memory_keeper.model import Event, Note, Placed, Source, Usage
from memory_keeper.text import storable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memory_keeper.keep import Store

    Open = Callable[[], Store]

HERE, ELSEWHERE = "dir:/here", "dir:/elsewhere"
SIZE = 100  # bytes that each line of the made-up transcripts has
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


# --- recording --------------------------------------------------------------------------------------------------------


def recording_twice_keeps_once(open_store: Open) -> None:
    """The same stretch again, or parts of it in another order, adds nothing and changes nothing."""
    store = open_store()
    events = _events(5)
    source = _begin(store)
    assert _record(store, source, events) == 5
    assert _record(store, source, events) == 0
    assert _record(store, source, [events[3], events[1]._replace(text="changed", kind="reply")]) == 0
    twin = _event(9)
    assert _record(store, source, [events[0], twin, twin]) == 1, "once, also within one stretch"
    assert store.events("s1") == [*events, twin]
    assert [store.event(event.id) for event in events] == events
    store.close()


def known_event_gets_a_second_place(open_store: Open) -> None:
    """A fork repeats the lines it came from: they belong to both sessions, and are still one event each."""
    store = open_store()
    shared, own, late = _events(3), _event(10, session="s2"), _event(11)
    first, second = _begin(store), _begin(store, path="/t/s2.jsonl", session="s2")
    _record(store, first, shared)
    fork = [event._replace(session="s2") for event in shared]
    assert _record(store, second, [*fork, own]) == 1
    _record(store, first, [late])
    assert store.events("s1") == [*shared, late]
    assert store.events("s2") == [*shared, own], "what it took over comes first, as it was"
    assert sorted(store.pending(HERE)) == sorted(event.id for event in (*shared, own, late))
    store.close()


def a_session_reads_in_the_order_it_was_written(open_store: Open) -> None:
    """The order of the lines counts, not their clocks: in real transcripts some go backwards."""
    store = open_store()
    events = [_event(number, at=1000.0 - 7 * number) for number in range(20)]
    source = _begin(store)
    for start in range(0, 20, 3):
        _record(store, source, events[start : start + 3])
    store.close()
    store = open_store()
    assert store.events("s1") == events
    assert store.pending(HERE) == [event.id for event in events]
    store.close()


def says_what_a_file_said_last(open_store: Open) -> None:
    """Newest first, whoever said it first, and without the texts."""
    store = open_store()
    first, second = _begin(store), _begin(store, path="/t/s2.jsonl", session="s2")
    _record(store, first, _events(5))
    _record(store, second, [_event(9, session="s2", kind="compact")])
    assert [event.id for event in store.last_of(first, 2)] == ["e4:0", "e3:0"]
    assert [event.text for event in store.last_of(first, 2)] == ["", ""]
    assert [(event.id, event.kind) for event in store.last_of(second, 9)] == [("e9:0", "compact")]
    _record(store, second, [_event(8, session="s2"), _event(2)])
    assert sorted(event.id for event in store.last_of(second, 9)) == ["e2:0", "e8:0", "e9:0"]
    store.close()


def offset_and_rows_move_together(open_store: Open) -> None:
    """How far a file was read is kept with what was read, or neither is."""
    store = open_store()
    source = _begin(store)
    read = source._replace(offset=500, inode=7, head="h", tail="t", at=30.0)
    store.record(read, [Placed(_event(1), 0)])
    assert store.source(source.path) == read
    try:
        store.record(read._replace(offset=900, tail="u"), [Placed(_event(2), 500)], _Breaking([_usage("m", 1)]))
    except _Broken:
        pass
    else:
        raise AssertionError("what breaks in the middle must not pass silently")
    store.close()
    store = open_store()
    assert store.source(source.path) == read
    assert store.event("e2:0") is None
    assert _found(store, '"word2"') == set()
    store.record(read._replace(offset=900), [Placed(_event(2), 500)])  # and it can go on
    assert [event.id for event in store.events("s1")] == ["e1:0", "e2:0"]
    store.close()


def a_replaced_file_keeps_its_old_rows(open_store: Open) -> None:
    """When a file is another one than before it is read from its start; what the old one said stays."""
    store = open_store()
    assert store.source("/t/s1.jsonl") is None
    source = _begin(store)
    assert source.seq
    assert source.offset == 0
    _record(store, source, _events(3))
    again = store.begin(source._replace(offset=300, inode=3, head="x", tail="y", at=9.0))
    assert again.seq != source.seq
    assert (again.offset, again.inode, again.head, again.tail, again.at) == (0, 0, "", "", 0.0)
    assert store.source(source.path) == again
    assert store.last_member(again) is None
    assert store.events("s1") == _events(3)
    _record(store, again, [*_events(2), _event(7)])
    assert store.events("s1") == [*_events(3), _event(7)]
    store.close()


def usage_counts_once_per_response(open_store: Open) -> None:
    """A host repeats a response's usage on each of its lines, and the output grows on the way."""
    store = open_store()
    source = _begin(store)
    assert store.last_usage("s1") is None
    for output in (1, 50, 20):
        store.record(source, [], [_usage("m1", output)])
    store.record(source, [], [_usage("m0", 7, at=5.0), _usage("m1", 50), _usage("agents", 9, at=99.0, agent="a1")])
    assert store.last_usage("s1") == _usage("m1", 50)
    store.record(source, [], [_usage("m2", 3, at=20.0)])
    assert store.last_usage("s1") == _usage("m2", 3, at=20.0)
    assert [one.message for one in store.usages("s1")] == ["m0", "m1", "m2", "agents"], "oldest first, each once"
    assert store.last_usage("s2") is None
    store.close()


def text_comes_back_as_it_was(open_store: Open) -> None:
    """Whatever was made storable comes back equal, and so does everything around it."""
    store = open_store()
    texts = [storable(text) for text in ODD]
    events = [
        _event(number, text=text, tool=text[:50], path=text[:50], ref=text[:50], extra='{"a":1}', failed=True)
        for number, text in enumerate(texts)
    ]
    _record(store, _begin(store), events)
    for number, text in enumerate(texts):
        store.add(Note(f"n{number}", 1.0, "fact", 1, HERE, text, extra="{}", tokens=3))
    store.close()
    store = open_store()
    assert store.events("s1") == events
    for number, text in enumerate(texts):
        kept = store.note(f"n{number}")
        assert kept and kept.text == text
        assert kept.tokens == 3
    store.close()


# --- covering ---------------------------------------------------------------------------------------------------------


def a_note_covers_what_is_open(open_store: Open) -> None:
    """Pending and children part the events among them; covering twice is covering once."""
    store = open_store()
    ids = [event.id for event in _events(6)]
    _record(store, _begin(store), _events(6))
    assert store.pending(HERE) == ids
    assert store.add(_note("n1"), ids[:2]) == 2
    assert store.add(_note("n1"), ids[:2]) == 0, "the same note again"
    assert store.add(_note("n1"), ids) == 0, "a note is never changed"
    assert store.children("n1") == ids[:2]
    assert store.add(_note("n2"), ids[1:4]) == 0, "it would speak of what another note speaks of"
    assert store.note("n2") is None and store.pending(HERE) == ids[2:], "then it is as if it had never been"
    assert store.add(_note("n2"), ids[2:4]) == 2
    assert store.children("n2") == ids[2:4]
    assert [event.id for event in store.covered("n2")] == ids[2:4]
    assert store.pending(HERE) == ids[4:]
    assert store.pending(ELSEWHERE) == []
    assert store.add(_note("n3"), ["no such event"]) == 0
    assert store.add(_note("n4")._replace(project=ELSEWHERE), ids[4:]) == 0, "another project's"
    assert store.note("n4") is None and store.pending(HERE) == ids[4:]
    assert store.note("n3") is None
    parted = [*store.pending(HERE), *store.children("n1"), *store.children("n2")]
    assert sorted(parted) == sorted(ids)
    store.close()


def a_note_too_late_is_not_kept(open_store: Open) -> None:
    """When somebody else covered any of its children it is too late; a note that need cover nothing is kept."""
    store = open_store()
    ids = [event.id for event in _events(3)]
    _record(store, _begin(store), _events(3))
    store.add(_note("early"), ids)
    assert store.add(_note("late"), ids) == 0
    assert store.note("late") is None
    assert store.children("late") == []
    assert store.children("early") == ids
    assert store.add(_note("standing")) == 0
    assert store.note("standing") == _note("standing")
    store.close()


def notes_cover_notes(open_store: Open) -> None:
    """The levels are the same loop: above the first, notes are what is covered."""
    store = open_store()
    ids = [event.id for event in _events(4)]
    _record(store, _begin(store), _events(4))
    store.add(_note("a"), ids[:2])
    store.add(_note("b"), ids[2:])
    assert store.pending(HERE) == []
    assert store.pending(HERE, 1) == ["a", "b"]
    assert store.add(_note("top", level=2), ["a", "b"]) == 2
    assert store.pending(HERE, 1) == []
    assert store.pending(HERE, 2) == ["top"]
    assert store.children("top") == ["a", "b"]
    store.close()


def two_notes_at_once_share_nothing(open_store: Open) -> None:
    """Of notes written at the same moment that want the same children, one has all it wants and the others nothing."""
    from threading import Barrier, Thread

    store = open_store()
    ids = [event.id for event in _events(30)]
    _record(store, _begin(store), _events(30))
    wanted = {"left": ids[:20], "right": ids[10:], "late": ids[5:20]}
    covered: dict[str, int] = {}
    together = Barrier(len(wanted))

    def cover(name: str) -> None:
        other = open_store()
        together.wait()
        covered[name] = other.add(_note(name), wanted[name])
        other.close()

    threads = [Thread(target=cover, args=(name,)) for name in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    children = {name: store.children(name) for name in wanted}
    assert covered == {name: len(those) for name, those in children.items()}
    (winner,) = (name for name, those in children.items() if those)
    assert children[winner] == wanted[winner]
    assert sorted([*store.pending(HERE), *children[winner]]) == sorted(ids)
    assert all((store.note(name) is not None) == bool(those) for name, those in children.items())
    store.close()


def a_better_wording_moves_nothing(open_store: Open) -> None:
    """A replacement is told in the place of the first wording; what covers what goes by the first one."""
    store = open_store()
    ids = [event.id for event in _events(4)]
    _record(store, _begin(store), _events(4))
    store.add(_note("a"), ids[:2])
    store.add(_note("b"), ids[2:])
    assert [note.id for note in store.notes(HERE, 1)] == ["a", "b"]
    better = _note("a2")._replace(replaces="a", text="better")
    store.add(better)
    assert store.wording("a") == store.wording("a2") == better
    assert store.children("a2") == store.children("a") == ids[:2]
    assert [note.id for note in store.notes(HERE, 1, open=True)] == ["a2", "b"], "in the place of the first"
    assert store.pending(HERE, 1) == ["a", "b"]
    mine = _note("a3")._replace(replaces="a", text="mine", who="user")
    store.add(mine)
    store.add(_note("a4")._replace(replaces="a", text="by a model, later"))
    assert store.wording("a") == mine, "what a person wrote stays"
    assert [note.id for note in store.wordings("a4")] == ["a", "a2", "a3", "a4"]
    store.add(_note("a5")._replace(replaces="a", tokens=700, who="user"))
    assert store.open_tokens() == store.open_tokens(HERE) == [(HERE, 700 + _note("b").tokens)]
    assert store.open_tokens(ELSEWHERE) == []
    assert store.add(_note("top", level=2), ["a", "b"]) == 2
    assert [note.id for note in store.notes(HERE, above="top")] == ["a5", "b"]
    assert store.open_tokens() == [(HERE, _note("top").tokens)]
    assert store.notes(HERE, 1, open=True) == []
    store.add(_note("own")._replace(who="user"))
    store.add(_note("own2")._replace(replaces="own", text="by a model"))
    assert store.wording("own") == _note("own")._replace(who="user"), "also when they wrote it first"
    for wrong in (
        _note("x")._replace(replaces="nothing"),
        _note("x")._replace(replaces="a2"),
        _note("x")._replace(replaces="a", project=ELSEWHERE),
        _note("x", level=2)._replace(replaces="a"),
    ):
        store.add(wrong)
        assert store.note("x") is None
    store.close()


def each_session_has_one_newest_handoff(open_store: Open) -> None:
    """However many it has had; those of another project, and other notes, are none."""
    store = open_store()
    for number in range(40):
        store.add(Note(f"h{number}", 100.0 + number, "handoff", 0, HERE, "long", session="long"))
    for id, at, session, project in (
        ("old", 5.0, "quiet", HERE),
        ("late", 5.0, "quiet", HERE),
        ("away", 500.0, "away", ELSEWHERE),
    ):
        store.add(Note(id, at, "handoff", 0, project, "short", session=session))
    store.add(Note("fact", 900.0, "fact", 0, HERE, "no handoff", session="other"))
    assert [note.id for note in store.handoffs(HERE, 30)] == ["h39", "late"], "of one moment, the last that was written"
    assert [note.id for note in store.handoffs(HERE, 1)] == ["h39"]
    assert [note.id for note in store.handoffs(ELSEWHERE, 30)] == ["away"]
    store.close()


def what_a_model_took_is_kept_with_its_words(open_store: Open) -> None:
    """That a model was asked is covered by the note from the start; its wording is kept with it, or neither is."""
    store = open_store()
    _record(store, _begin(store), _events(2))
    store.add(_note("a"), [event.id for event in _events(2)])
    asked = _event("spent", kind="spent", ref="a", at=7.0)
    assert store.mark(asked)
    assert not store.mark(asked), "once"
    assert store.spent() == [asked] and store.spent(8.0) == []
    assert store.pending(HERE) == []
    better = _note("a2")._replace(replaces="a", text="better")
    assert not store.mark(_event("lost", kind="spent", ref="nothing"), better)
    assert not store.mark(_event("lost", kind="spent", ref="a"), better._replace(replaces="nothing"))
    assert store.note("a2") is None and store.event("lost") is None
    assert store.mark(_event("spent2", kind="spent", ref="a"), better)
    assert store.wording("a") == better
    store.close()


def says_what_became_of_notes(open_store: Open) -> None:
    """Of one kind and one project, the oldest first, whatever the order in which it was kept."""
    store = open_store()
    store.add(_note("a"))
    marked = [_event(n, kind="confirmed", ref="a", at=at) for n, at in ((1, 20.0), (2, 10.0))]
    assert all(store.mark(event) for event in (*marked, _event(3, kind="done", ref="a")))
    assert store.marks_on(HERE, "confirmed") == marked[::-1]
    assert store.marks_on(ELSEWHERE, "confirmed") == []
    store.close()


def says_what_is_open(open_store: Open) -> None:
    """What no note covers yet, by session; an end counts unless a start came after it."""
    store = open_store()
    source = _begin(store)
    events = [
        _event(1, kind="prompt", text="12345"),
        _event(2, kind="call"),
        _event(3, kind="result"),
        _event(4, kind="end"),
    ]
    _record(store, source, events)
    (found,) = store.open_sessions(HERE)
    assert (found.session, found.tools, found.characters, found.ended) == ("s1", 1, 5, True)
    assert store.open_events("s1", HERE) == events
    store.add(_note("n1"), [event.id for event in events[:2]])
    assert store.open_events("s1", HERE) == events[2:]
    assert store.open_among([event.id for event in events]) == {event.id for event in events[2:]}
    _record(store, source, [_event(5, kind="start"), _event(6, kind="compact")])
    (found,) = store.open_sessions(session="s1")
    assert (found.tools, found.characters, found.ended, found.compacted) == (0, 0, False, True)
    assert store.open_sessions(ELSEWHERE) == []
    store.close()


# --- asking -----------------------------------------------------------------------------------------------------------


def _found(store: Store, match: str) -> set[str]:
    return {row.id for row in store.rows(store.matching(match, 100))}


def finds_what_was_recorded_and_nothing_else(open_store: Open) -> None:
    """Every word of every event is found, in its project, and words nobody said are not."""
    store = open_store()
    _record(store, _begin(store), _events(12))
    other = _begin(store, path="/t/s2.jsonl", session="s2", project=ELSEWHERE)
    _record(store, other, [_event(20, session="s2", project=ELSEWHERE, text="word3 elsewhere naïve 배포")])
    for number in range(12):
        (row,) = store.rows(store.matching(f'"word{number}" AND tags : {tag("p", HERE)}', 10))
        event = _event(number)
        assert (row.id, row.level, row.kind, row.at) == (event.id, 0, event.kind, event.at)
        assert (row.session, row.project) == (event.session, event.project)
        assert store.texts([row.key]) == {row.key: event.text}
        assert store.texts([row.key], 3) == {row.key: event.text[:3]}
    assert _found(store, '"word3"') == {"e3:0", "e20:0"}
    assert _found(store, f'"elsewhere" AND tags : {tag("p", ELSEWHERE)}') == {"e20:0"}
    assert _found(store, f'"elsewhere" AND tags : {tag("p", HERE)}') == set()
    assert _found(store, 'parts : "배포"') == {"e20:0"}
    assert _found(store, '"nobody"') == set()
    assert _found(store, '"word1" "word2"') == set()
    assert store.matching('"common"', 5) == sorted(store.matching('"common"', 100), reverse=True)[:5]
    assert len(store.matching('"common"', 100)) == 12
    assert (store.size(None, 100), store.size(ELSEWHERE, 100), store.size(None, 5)) == (13, 1, 5)
    dated = [_event(n, session="s2", at=float(n), text="dated") for n in range(30, 60)]
    _record(store, other, dated)
    between = store.rows(store.matching('"dated"', 100, since=33.0, until=36.0))
    assert {row.at for row in between} == {33.0, 34.0, 35.0}, "the last moment is not one of them"
    assert [row.at for row in store.rows(store.matching('"dated"', 1, until=36.0))] == [35.0], "before it is cut"
    store.close()


def finds_notes_by_their_wording_in_force(open_store: Open) -> None:
    """Notes have keys below zero and match by themselves; a wording that another replaced, or without words, has no
    row."""
    store = open_store()
    _record(store, _begin(store), _events(1))
    store.add(Note("a", 7.0, "fact", 0, HERE, "common zebra", session="s1", who="user"))
    store.add(Note("b", 8.0, "session", 1, ELSEWHERE, "common giraffe"), [])
    store.add(Note("empty", 9.0, "fact", 0, HERE, ""))
    assert [key < 0 for key in store.matching('"common"', 9, True)] == [True, True]
    assert store.matching('"common"', 9) == [1], "events are asked apart"
    assert store.matching('"common"', 1, True) == store.matching('"common"', 9, True)[:1], "the newest"
    (row,) = store.rows(store.matching(f'"common" AND tags : {tag("p", HERE)}', 9, True))
    assert (row.id, row.level, row.kind, row.at, row.session, row.project) == ("a", 0, "fact", 7.0, "s1", HERE)
    assert (row.who, row.size, row.path, row.tool, row.failed) == ("user", 2, "", "", False)
    assert store.texts([row.key, 1], 8) == {row.key: "common z", 1: "common w"}
    assert [row.id for row in store.rows(store.matching("tags : l1", 9, True))] == ["b"]
    store.add(Note("a2", 10.0, "fact", 0, HERE, "common lion", replaces="a", who="user"))
    assert {row.id for row in store.rows(store.matching('"common"', 9, True))} == {"a2", "b"}
    assert store.rows(store.matching('"zebra"', 9, True)) == []
    assert store.rows([-3, 99, -99, 0]) == [] == store.rows([]), "without words, or never kept"
    assert store.texts([]) == {} == store.texts([99, -99, 0])
    store.close()


def rows_say_what_is_known_of_an_event(open_store: Open) -> None:
    """All but its text; and whose tool answered, where the answer itself does not say."""
    store = open_store()
    events = [
        _event(1, kind="call", text="one two three", tool="Bash", path="a.py", ref="t1", failed=True),
        _event(2, kind="result", text="four", ref="t1"),
        _event(3, kind="result", text="four", ref="t9"),
    ]
    _record(store, _begin(store), events)
    call, result, other = sorted(store.rows([3, 1, 2]), key=lambda row: row.key)
    assert (call.size, call.path, call.tool, call.ref, call.failed) == (3, "a.py", "Bash", "t1", True)
    assert (result.kind, result.tool, result.ref, other.ref) == ("result", "", "t1", "t9")
    assert sorted(store.matching(f"tags : {tag('t', 'bash')}", 9)) == [1, 2]
    assert store.newest_key() == 3
    store.close()


def everything_can_be_read_one_by_one(open_store: Open) -> None:
    """The newest first, as a clause selects; nothing of the other table."""
    store = open_store()
    assert store.newest_key() == 0 and list(store.scan("text != ''", ())) == []
    _record(store, _begin(store), _events(4))
    store.add(_note("n1"))
    assert [key for key, _ in store.scan("text != ''", ())] == [4, 3, 2, 1]
    assert next(iter(store.scan("text != ''", ()))) == (4, _event(3).text)
    assert [key for key, _ in store.scan("project = ? and kind = ?", (HERE, "prompt"))] == []
    assert list(store.scan("project = ?", (HERE,), notes=True)) == [(-1, "note n1")]
    assert store.newest_key() == 4, "notes do not count"
    store.close()


def says_which_event_a_line_is(open_store: Open) -> None:
    """The first of each line, by the offset of the line in its own transcript."""
    store = open_store()
    source, other = _begin(store), _begin(store, path="/t/s2.jsonl", session="s2")
    events = [_event(1, at=5.0), _event(2, at=6.0), _event(3, at=4.0)]
    store.record(source, [Placed(event, offset) for event, offset in zip(events, (0, 0, 70), strict=True)])
    store.record(other, [Placed(events[2], 10), Placed(_event(4, session="s2"), -1)])
    assert store.lines(source.seq) == [(0, 1, 5.0), (70, 3, 4.0)]
    assert store.lines(other.seq) == [(10, 3, 4.0)], "what no line says has none"
    assert store.lines(99) == []
    store.close()


def has_no_vectors_that_nobody_made(open_store: Open) -> None:
    """Then search goes by words alone."""
    store = open_store()
    _record(store, _begin(store), _events(2))
    store.add(_note("n1"))
    assert not store.has_vectors()
    store.close()


def an_event_is_found_by_the_beginning_of_its_id(open_store: Open) -> None:
    """As long as that fits one event only."""
    store = open_store()
    _record(store, _begin(store), [_event(1), _event(10), _event(2, text="two")])
    found = store.event("e2")
    assert found and found.text == "two"
    assert store.event("e1") is None, "two begin like that"
    second = _event(3)._replace(id="e3:1")
    _record(store, _begin(store), [second, _event(3)])
    assert store.event("e3") == _event(3), "of a line with several the first is meant"
    assert store.event("e3:1") == second
    assert store.event("e1:0") == _event(1)
    assert store.event("zz") is None
    assert store.event("%") is None
    store.close()


def projects_go_by_many_names(open_store: Open) -> None:
    """A key is a name of one project; the last thing said counts."""
    store = open_store()
    assert store.project("remote:host/a") == ""
    store.name_project(["remote:host/a", "dir:/a"], "remote:host/a")
    store.name_project(["dir:/clone"], "remote:host/a")
    assert {store.project(key) for key in ("remote:host/a", "dir:/a", "dir:/clone")} == {"remote:host/a"}
    store.name_project(["dir:/clone"], "dir:/clone")
    assert store.project("dir:/clone") == "dir:/clone"
    assert store.project("dir:/a") == "remote:host/a"
    assert store.project("dir:/") == ""
    store.close()


def sessions_come_newest_first(open_store: Open) -> None:
    """By when something last happened in them."""
    store = open_store()
    for name, at in (("old", 100.0), ("new", 300.0), ("middle", 200.0)):
        source = _begin(store, path=f"/t/{name}.jsonl", session=name)
        events = [_event(f"{name}{n}", session=name, at=at + n, kind=kind) for n, kind in enumerate(("prompt", "call"))]
        store.record(source._replace(offset=SIZE, at=at + 1), [Placed(event, 0) for event in events])
    away = _begin(store, path="/t/away.jsonl", session="away", project=ELSEWHERE)
    store.record(away._replace(offset=SIZE, at=999.0), [Placed(_event("x", session="away", project=ELSEWHERE), 0)])
    assert [one.id for one in store.sessions(HERE, 10)] == ["new", "middle", "old"]
    assert [one.id for one in store.sessions(HERE, 2)] == ["new", "middle"]
    (newest,) = store.sessions(HERE, 1)
    assert newest == ("new", HERE, 300.0, 301.0, 2, 1)
    assert store.sessions("dir:/unknown", 10) == []
    store.close()


def the_latest_come_newest_first(open_store: Open) -> None:
    """Of a kind, in the main thread, in a project or one of its sessions."""
    store = open_store()
    events = [_event(n, at=float(at), kind=kind) for n, (at, kind) in enumerate(
        [(50, "prompt"), (10, "prompt"), (30, "reply"), (40, "prompt")]
    )]  # fmt: skip
    _record(store, _begin(store), [*events, _event(8, at=99.0, kind="prompt", agent="a1")])
    second = _begin(store, path="/t/s2.jsonl", session="s2")
    _record(store, second, [_event(9, at=45.0, kind="prompt", session="s2")])
    assert [event.at for event in store.latest(HERE, "prompt", 10)] == [50.0, 45.0, 40.0, 10.0]
    assert [event.at for event in store.latest(HERE, "prompt", 2)] == [50.0, 45.0]
    assert [event.at for event in store.latest(HERE, "prompt", 10, ("s1",))] == [50.0, 40.0, 10.0]
    assert store.latest(HERE, "title", 10) == []
    _record(store, second, [_event(number, at=60.0, kind="result", session="s2") for number in range(20, 40)])
    for session in ("", "s2"):
        ties = [event.id for event in store.latest(HERE, "result", 3, (session,) if session else ())]
        assert ties == ["e39:0", "e38:0", "e37:0"], "of one moment, the last that was written"
    assert store.latest(ELSEWHERE, "prompt", 10) == []
    store.close()


def says_how_a_session_began(open_store: Open) -> None:
    """When, by the first of its lines, of which some go backwards; and whether the user asked for anything."""
    store = open_store()
    assert store.first_moment("s1") == 0.0 and not store.asked("s1")
    source = _begin(store)
    _record(store, source, [_event(1, at=50.0), _event(2, at=40.0), _event(3, at=60.0)])
    assert store.first_moment("s1") == 40.0 and not store.asked("s1")
    _record(store, source, [_event(4, kind="prompt", at=70.0)])
    assert store.first_moment("s1") == 40.0 and store.asked("s1")
    assert store.first_moment("s2") == 0.0 and not store.asked("s2")
    store.close()


def says_where_contexts_were_compacted(open_store: Open) -> None:
    """By the host, by a clear or by hand, in the main thread; and what a session's list of tasks said."""
    store = open_store()
    source = _begin(store)
    where = [
        _event("c1", kind="compact", tool="compact_boundary", at=10.0),
        _event("c2", kind="compact", tool="microcompact_boundary", at=20.0),
        _event("c3", kind="compact", tool="compact_boundary", at=30.0, agent="a1"),
        _event("c4", kind="end", tool="other", at=40.0),
        _event("c5", kind="archived", at=60.0),
        _event("c6", kind="end", tool="clear", at=50.0),
    ]
    _record(store, source, where)
    assert [event.id for event in store.compacted(HERE)] == ["ec1:0", "ec6:0", "ec5:0"]
    assert store.compacted(ELSEWHERE) == []
    tasks = [
        _event("t1", kind="todo", ref="r1", tool="TaskCreate"),
        _event("t2", kind="result", ref="r1"),
        _event("t3", kind="call", ref="r2"),
        _event("t4", kind="result", ref="r2"),
        _event("t5", kind="todo", ref="r3", agent="a1"),
        _event("t6", kind="todo", ref="r4", tool="TodoWrite"),
        _event("t7", kind="result", ref="r4", failed=True),
    ]
    _record(store, source, tasks)
    assert [event.id for event in store.todo_events("s1")] == ["et1:0", "et2:0"]
    assert store.todo_events("s2") == []
    store.close()


SUITE: tuple[Callable[[Open], None], ...] = (
    recording_twice_keeps_once,
    known_event_gets_a_second_place,
    a_session_reads_in_the_order_it_was_written,
    says_what_a_file_said_last,
    offset_and_rows_move_together,
    a_replaced_file_keeps_its_old_rows,
    usage_counts_once_per_response,
    text_comes_back_as_it_was,
    a_note_covers_what_is_open,
    a_note_too_late_is_not_kept,
    notes_cover_notes,
    two_notes_at_once_share_nothing,
    a_better_wording_moves_nothing,
    each_session_has_one_newest_handoff,
    what_a_model_took_is_kept_with_its_words,
    says_what_became_of_notes,
    says_what_is_open,
    finds_what_was_recorded_and_nothing_else,
    finds_notes_by_their_wording_in_force,
    rows_say_what_is_known_of_an_event,
    everything_can_be_read_one_by_one,
    says_which_event_a_line_is,
    has_no_vectors_that_nobody_made,
    an_event_is_found_by_the_beginning_of_its_id,
    projects_go_by_many_names,
    sessions_come_newest_first,
    the_latest_come_newest_first,
    says_how_a_session_began,
    says_where_contexts_were_compacted,
)


# --- what the checks are made of --------------------------------------------------------------------------------------


class _Broken(Exception):  # noqa: N818
    """Raised while a store reads what it was given."""


class _Breaking(list[Usage]):
    """Gives its items and then breaks, as a writer that dies between two rows would."""

    def __iter__(self) -> Iterator[Usage]:
        yield from super().__iter__()
        raise _Broken


def _event(
    number: int | str,
    *,
    session: str = "s1",
    project: str = HERE,
    at: float = 0.0,
    kind: str = "reply",
    text: str = "",
    tool: str = "",
    path: str = "",
    ref: str = "",
    agent: str = "",
    failed: bool = False,
    extra: str = "",
) -> Event:
    text = text if text or tool or extra else f"common word{number}"
    return Event(f"e{number}:0", at, kind, session, project, text, tool, path, ref, agent, failed, extra)


def _events(count: int) -> list[Event]:
    return [_event(number) for number in range(count)]


def _usage(message: str, output: int, at: float = 10.0, agent: str = "") -> Usage:
    return Usage(message, at, "s1", HERE, agent, "model", 1000, 200, 30, output)


def _note(id: str, level: int = 1) -> Note:
    return Note(id, 5.0, "session", level, HERE, f"note {id}", session="s1", tokens=2)


def _begin(store: Store, path: str = "/t/s1.jsonl", session: str = "s1", project: str = HERE) -> Source:
    return store.begin(Source(path, session, project))


def _record(store: Store, source: Source, events: Sequence[Event]) -> int:
    """Keep some events, as if each were a line behind what the store has read of the source."""
    known = store.source(source.path)
    begin = known.offset if known else 0
    placed = [Placed(event, begin + number * SIZE) for number, event in enumerate(events)]
    return store.record(source._replace(offset=begin + len(events) * SIZE), placed)
