"""What a store answers about events, sessions and projects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_keeper.model import Placed
from memory_keeper.store.events import began_at, boundaries, has_prompt, todo_events
from tests.store.contract.made import ELSEWHERE, HERE, SIZE, an_event, begin, record_lines

if TYPE_CHECKING:
    from tests.store.contract.made import Open


def test_an_event_is_found_by_the_beginning_of_its_id(open_store: Open) -> None:
    """As long as that fits one event only."""
    store = open_store()
    record_lines(store, begin(store), [an_event(1), an_event(10), an_event(2, text="two")])
    found = store.event("e2")
    assert found and found.text == "two"
    assert store.event("e1") is None, "two begin like that"
    second = an_event(3)._replace(id="e3:1")
    record_lines(store, begin(store), [second, an_event(3)])
    assert store.event("e3") == an_event(3), "of a line with several the first is meant"
    assert store.event("e3:1") == second
    assert store.event("e1:0") == an_event(1)
    assert store.event("zz") is None
    assert store.event("%") is None
    store.close()


def test_says_which_event_a_line_is(open_store: Open) -> None:
    """The first of each line, by the offset of the line in its own transcript."""
    store = open_store()
    source, other = begin(store), begin(store, path="/t/s2.jsonl", session="s2")
    events = [an_event(1, at=5.0), an_event(2, at=6.0), an_event(3, at=4.0)]
    store.record(source, [Placed(event, offset) for event, offset in zip(events, (0, 0, 70), strict=True)])
    store.record(other, [Placed(events[2], 10), Placed(an_event(4, session="s2"), -1)])
    assert store.lines(source.seq) == [(0, 1, 5.0), (70, 3, 4.0)]
    assert store.lines(other.seq) == [(10, 3, 4.0)], "what no line says has none"
    assert store.lines(99) == []
    store.close()


def test_projects_go_by_many_names(open_store: Open) -> None:
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


def test_sessions_come_newest_first(open_store: Open) -> None:
    """By when something last happened in them."""
    store = open_store()
    for name, at in (("old", 100.0), ("new", 300.0), ("middle", 200.0)):
        source = begin(store, path=f"/t/{name}.jsonl", session=name)
        events = [
            an_event(f"{name}{n}", session=name, at=at + n, kind=kind) for n, kind in enumerate(("prompt", "call"))
        ]
        store.record(source._replace(offset=SIZE, at=at + 1), [Placed(event, 0) for event in events])
    away = begin(store, path="/t/away.jsonl", session="away", project=ELSEWHERE)
    store.record(away._replace(offset=SIZE, at=999.0), [Placed(an_event("x", session="away", project=ELSEWHERE), 0)])
    assert [one.id for one in store.sessions(HERE, 10)] == ["new", "middle", "old"]
    assert [one.id for one in store.sessions(HERE, 2)] == ["new", "middle"]
    (newest,) = store.sessions(HERE, 1)
    assert newest == ("new", HERE, 300.0, 301.0, 2, 1)
    assert store.sessions("dir:/unknown", 10) == []
    store.close()


def test_the_latest_come_newest_first(open_store: Open) -> None:
    """Of a kind, in the main thread, in a project or one of its sessions."""
    store = open_store()
    events = [an_event(n, at=float(at), kind=kind) for n, (at, kind) in enumerate(
        [(50, "prompt"), (10, "prompt"), (30, "reply"), (40, "prompt")]
    )]  # fmt: skip
    record_lines(store, begin(store), [*events, an_event(8, at=99.0, kind="prompt", agent="a1")])
    second = begin(store, path="/t/s2.jsonl", session="s2")
    record_lines(store, second, [an_event(9, at=45.0, kind="prompt", session="s2")])
    assert [event.at for event in store.latest(HERE, "prompt", 10)] == [50.0, 45.0, 40.0, 10.0]
    assert [event.at for event in store.latest(HERE, "prompt", 2)] == [50.0, 45.0]
    assert [event.at for event in store.latest(HERE, "prompt", 10, ("s1",))] == [50.0, 40.0, 10.0]
    assert store.latest(HERE, "title", 10) == []
    record_lines(store, second, [an_event(number, at=60.0, kind="result", session="s2") for number in range(20, 40)])
    for session in ("", "s2"):
        ties = [event.id for event in store.latest(HERE, "result", 3, (session,) if session else ())]
        assert ties == ["e39:0", "e38:0", "e37:0"], "of one moment, the last that was written"
    assert store.latest(ELSEWHERE, "prompt", 10) == []
    store.close()


def test_calls_a_session_what_the_host_does(open_store: Open) -> None:
    """A title that names a line is of the session with that line: the host writes it at the start of the next one."""
    store = open_store()
    first, second = begin(store), begin(store, path="/t/s2.jsonl", session="s2")
    other = an_event("t1", kind="title", text="The parser", ref="e1", session="s2")
    record_lines(store, second, [other, an_event("t2", kind="title", text="Nobody's", ref="gone", session="s2")])
    assert store.title("s1") == store.title("s2") == ""
    record_lines(store, first, [an_event(1)])
    assert store.title("s1") == "The parser" and store.title("s2") == ""
    own = an_event("t3", kind="title", text="The lexer", ref="e2", session="s2")
    record_lines(store, second, [an_event(2, session="s2"), own])
    assert (store.title("s1"), store.title("s2")) == ("The parser", "The lexer")
    record_lines(store, first, [an_event("t4", kind="title", text="Mine")])
    assert (store.title("s1"), store.title("s2"), store.title("s3")) == ("Mine", "The lexer", "")
    store.close()


def test_says_how_a_session_began(open_store: Open) -> None:
    """When, by the first of its lines, of which some go backwards; and whether the user asked for anything."""
    store = open_store()
    assert began_at(store, "s1") == 0.0 and not has_prompt(store, "s1")
    source = begin(store)
    record_lines(store, source, [an_event(1, at=50.0), an_event(2, at=40.0), an_event(3, at=60.0)])
    assert began_at(store, "s1") == 40.0 and not has_prompt(store, "s1")
    record_lines(store, source, [an_event(4, kind="prompt", at=70.0)])
    assert began_at(store, "s1") == 40.0 and has_prompt(store, "s1")
    assert began_at(store, "s2") == 0.0 and not has_prompt(store, "s2")
    store.close()


def test_says_where_contexts_were_compacted(open_store: Open) -> None:
    """By the host, by a clear or by hand, in the main thread; and what a session's list of tasks said."""
    store = open_store()
    source = begin(store)
    where = [
        an_event("c1", kind="compact", tool="compact_boundary", at=10.0),
        an_event("c2", kind="compact", tool="microcompact_boundary", at=20.0),
        an_event("c3", kind="compact", tool="compact_boundary", at=30.0, agent="a1"),
        an_event("c4", kind="end", tool="other", at=40.0),
        an_event("c5", kind="archived", at=60.0),
        an_event("c6", kind="end", tool="clear", at=50.0),
    ]
    record_lines(store, source, where)
    assert [event.id for event in boundaries(store, HERE)] == ["ec1:0", "ec6:0", "ec5:0"]
    assert boundaries(store, ELSEWHERE) == []
    tasks = [
        an_event("t1", kind="todo", ref="r1", tool="TaskCreate"),
        an_event("t2", kind="result", ref="r1"),
        an_event("t3", kind="call", ref="r2"),
        an_event("t4", kind="result", ref="r2"),
        an_event("t5", kind="todo", ref="r3", agent="a1"),
        an_event("t6", kind="todo", ref="r4", tool="TodoWrite"),
        an_event("t7", kind="result", ref="r4", failed=True),
    ]
    record_lines(store, source, tasks)
    assert [event.id for event in todo_events(store, "s1")] == ["et1:0", "et2:0"]
    assert todo_events(store, "s2") == []
    store.close()
