"""Events are found by what is asked of them, files and sessions by their names, and usage is summed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memory_keeper.model import EVERYWHERE, Filter, Kept, Member, Note, Phrase, Placed, Scope, Spending, Usage, Used
from tests.store.contract.made import ELSEWHERE, HERE, SIZE, a_note, a_usage, an_event, begin, record_lines

if TYPE_CHECKING:
    from memory_keeper.store.store import Store
    from tests.store.contract.made import Open


def some_work(store: Store) -> None:
    """Nine events of two threads of a session, and one of another session in another project."""
    record_lines(
        store,
        begin(store),
        [
            an_event(1, kind="prompt", text="Build it.", at=10.0),
            an_event(2, kind="call", text="Bash: make all", tool="Bash", ref="r1", at=20.0, extra="{}"),
            an_event(3, kind="result", text="error", ref="r1", at=30.0, failed=True),
            an_event(4, kind="call", text="Edit: a.py", tool="Edit", path="/p/a.py", ref="r2", at=40.0),
            an_event(5, kind="result", text="edited the file", ref="r2", at=50.0, extra='{"file": 1}'),
            an_event(6, kind="reply", text="It is 100% built.", at=60.0),
            an_event(7, kind="call", text="Bash: ls", tool="Bash", ref="r3", at=5.0, agent="a1"),
            an_event(8, kind="result", text="a.py", ref="r3", at=6.0, agent="a1"),
            an_event(9, kind="call", text="Bash: make", tool="Bash", ref="", at=70.0),
        ],
    )
    other = begin(store, path="/t/s2.jsonl", session="s2", project=ELSEWHERE)
    record_lines(store, other, [an_event(10, session="s2", project=ELSEWHERE, kind="prompt", text="No.", at=80.0)])
    store.add(a_note("n1"), ["e1:0", "e2:0"])


FILTERS = [
    (Filter(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
    (Filter(ELSEWHERE), [10]),
    (Filter(""), []),
    (Filter(sessions=("s1",), newest=True, limit=2), [9, 8]),
    (Filter(sessions=("s1", "s2"), kinds=("prompt",)), [1, 10]),
    (Filter(sessions=()), []),
    (Filter(kinds=()), []),
    (Filter(HERE, kinds=("call",), by_time=True), [7, 2, 4, 9]),
    (Filter(HERE, kinds=("call",), by_time=True, newest=True, limit=1), [9]),
    (Filter(HERE, no_kinds=("call", "result")), [1, 6]),
    (Filter(agent="a1"), [7, 8]),
    (Filter(HERE, agent="", kinds=("call",)), [2, 4, 9]),
    (Filter(since=30.0, until=50.0), [3, 4]),
    (Filter(after=3, before=6), [4, 5]),
    (Filter(keys=[9, 2, 99]), [2, 9]),
    (Filter(keys=[]), []),
    (Filter(ids=("e6:0", "e1:0", "nobody")), [1, 6]),
    (Filter(tools=("Edit", "Write")), [4]),
    (Filter(paths=("/p/a.py",)), [4]),
    (Filter(refs=("r1", "r3")), [2, 3, 7, 8]),
    (Filter(words=("Bash", "make")), [2, 9]),
    (Filter(words=("%",)), [6]),
    (Filter(extra='{"file"'), [5]),
    (Filter(failed=True), [3]),
    (Filter(kinds=("result",), failed=False), [5, 8]),
    (Filter(HERE, sessions=("s1",), covered=False), [3, 4, 5, 6, 7, 8, 9]),
    (Filter(covered=True), [1, 2]),
    (Filter(covered_by="n1", newest=True), [2, 1]),
    (Filter(lines_of="s2"), [10]),
    (Filter(HERE, kinds=("call",), by_time=True, newest_of=2, tools=("Bash",)), [9]),
    (Filter(newest_of=3, newest=True), [10, 9, 8]),
    (Filter(limit=0), []),
]


@pytest.mark.parametrize(("which", "keys"), FILTERS, ids=str)
def test_finds_what_is_asked_for(open_store: Open, which: Filter, keys: list[int]) -> None:
    store = open_store()
    some_work(store)
    found = list(store.find(which))
    assert [one.key for one in found] == keys
    assert [one.event.id for one in found] == [f"e{key}:0" for key in keys]
    assert store.count(which) == len(keys)
    store.close()


def test_reads_no_more_of_an_event_than_is_wanted(open_store: Open) -> None:
    store = open_store()
    some_work(store)
    ((key, event),) = store.find(Filter(ids=("e5:0",)))
    assert (key, event.text, event.extra) == (5, "edited the file", '{"file": 1}')

    def read(which: Filter) -> list[tuple[str, str]]:
        return [(one.event.text, one.event.extra) for one in store.find(which._replace(ids=("e3:0", "e5:0")))]

    assert read(Filter(text=3)) == [("err", ""), ("edi", '{"file": 1}')]
    assert read(Filter(text=0)) == [("", ""), ("", '{"file": 1}')]
    assert read(Filter(bare=True)) == [("", ""), ("", "")]
    assert read(Filter(printed=False)) == [("error", ""), ("", '{"file": 1}')]
    store.close()


def test_calls_have_results(open_store: Open) -> None:
    store = open_store()
    some_work(store)
    results = store.results([2, 4, 7, 9, 99], 5)
    assert {key: result.key for key, result in results.items()} == {2: 3, 4: 5, 7: 8}, "a call without a name has none"
    assert isinstance(results[2], Kept) and (results[2].event.failed, results[4].event.text) == (True, "edite")
    assert store.results([]) == {}
    assert [store.cover(id) for id in ("e1:0", "e3:0", "n1", "nobody")] == ["n1", "", "", ""]
    assert sorted(store.ids("e1", 9)) == ["e1", "e10"] and store.ids("n", 9) == ["n1"] and store.ids("", 9) == []
    assert len(store.ids("e1", 1)) == 1 and sorted(store.ids("e1:0", 9)) == ["e10:0", "e1:0"]
    store.close()


def test_knows_files_and_sessions(open_store: Open) -> None:
    store = open_store()
    assert (store.began(), store.projects(), store.members()) == (0.0, [], [])
    source = begin(store)
    store.record(source._replace(offset=SIZE, at=30.0), [Placed(an_event(1, at=30.0), 0)], (), Member(0, 99, 0, 9), 8.0)
    late = begin(store, path="/t/late.jsonl", session="late")
    store.record(late._replace(offset=SIZE, at=50.0), [Placed(an_event(2, session="late", at=50.0), 0)], now=9.0)
    begin(store, path="/t/new.jsonl", session="s1")
    store.record(begin(store, path="/h/spool/s1.spool")._replace(at=60.0), [])
    begin(store, path="/t/agent.jsonl", session="s1")
    assert store.began() == 8.0
    assert [one.path for one in store.recent_sources(HERE, 1)] == ["/t/late.jsonl", "/t/agent.jsonl"]
    assert store.recent_sources(ELSEWHERE, 9) == []
    assert (store.transcript("late"), store.transcript("nobody")) == ("/t/late.jsonl", "")
    assert (store.last_moment("late"), store.last_moment("nobody")) == (50.0, 0.0)
    assert store.last_moments(HERE) == {"s1": 60.0, "late": 50.0}
    assert (store.project_of("late"), store.project_of("nobody")) == (HERE, "")
    assert (store.sessions_called("la"), store.sessions_called("x")) == (["late"], [])
    assert sorted(store.sessions_called("")) == ["late", "s1"]
    ((whose, member),) = store.members()
    assert (whose.path, member) == ("/t/s1.jsonl", Member(0, 99, 0, 9)) and store.last_member(whose) == member
    assert store.line("e1:0") == (whose, member, 0) and store.line("e2:0") is None and store.line("nobody") is None
    store.name_project(["dir:/a", "dir:/a/deep/er", "root:abc"], HERE)
    store.name_project(["dir:/b"], ELSEWHERE)
    assert store.roots(HERE) == ["/a/deep/er", "/a"] and set(store.roots()) == {"/a", "/a/deep/er", "/b"}
    assert (store.first_commits(HERE), store.first_commits(ELSEWHERE)) == (["abc"], [])
    assert store.projects() == [HERE]
    store.close()


def test_knows_whether_somebody_typed(open_store: Open) -> None:
    store = open_store()
    record_lines(store, begin(store), [an_event(1, kind="prompt", text="Hello.")])
    assert not store.has_typed("/h/spool"), "imported"
    begin(store, path="/h/spool/s1.spool")
    assert store.has_typed("/h/spool") and not store.has_typed("/other/spool")
    begin(store, path="/h/spool/s2.spool", session="s2")
    store.close()


def test_sums_usage(open_store: Open) -> None:
    store = open_store()
    usages = [a_usage("m1", 5), a_usage("m2", 7, at=20.0), Usage("m3", 30.0, "s2", ELSEWHERE, "", "big", 9000, 0, 0, 1)]
    store.record(begin(store), [], [*usages, a_usage("m4", 1, at=15.0, agent="a1")])
    assert store.last_usage("s1") == usages[1] and store.last_usage("nobody") is None
    assert [one.message for one in store.usages("s1")] == ["m1", "m4", "m2"]
    assert store.spending(project=HERE) == [Spending("", "model", 0, 3, 3000, 600, 90, 13)]
    assert [(one.key, one.requests) for one in store.spending("session")] == [("s1", 3), ("s2", 1)]
    assert [(one.model, one.above) for one in store.spending(sizes=(2000, 5000))] == [("big", 5000), ("model", 0)]
    assert store.spending(since=20.0, until=30.0) == [Spending("", "model", 0, 1, 1000, 200, 30, 7)]
    assert store.spending("model", session="s2") == [Spending("big", "big", 0, 1, 9000, 0, 0, 1)]
    assert store.used(HERE) == [Used("s1", HERE, 10.0, 20.0, 3, 3703, 1230, 1230)]
    assert [one.session for one in store.used()] == ["s2", "s1"] and store.used(until=5.0) == []
    store.close()


def test_tells_notes_in_the_order_of_time(open_store: Open) -> None:
    store = open_store()
    for id, kind, at in (
        ("h1", "handoff", 10.0),
        ("h2", "handoff", 20.0),
        ("i", "issue", 30.0),
        ("empty", "fact", 40.0),
    ):
        store.add(Note(id, at, kind, 0, HERE, "" if id == "empty" else id, session="s1"))
    store.add(Note("i2", 99.0, "issue", 0, HERE, "better", session="s1", replaces="i"))
    assert [note.id for note in store.notes_between(HERE, "", 0.0, 0.0, 9)] == ["h2", "i2"]
    assert [note.id for note in store.notes_between(None, "s1", 0.0, 30.0, 9)] == ["h2"]
    assert [note.id for note in store.notes_of("s1")] == ["h1", "h2"]
    newest = store.handoff("s1")
    assert newest and newest.id == "h2" and store.handoff(project=HERE) == newest and store.handoff("s2") is None
    store.close()


def test_keeps_the_vectors_of_one_model(open_store: Open) -> None:
    store = open_store()
    some_work(store)
    record_lines(store, begin(store, path="/t/s3.jsonl"), [an_event(20, kind="reply", text="A longer answer.")])
    assert store.lacking(9) == [(6, "It is 100% built."), (11, "A longer answer.")] and store.count_lacking() == 2
    store.keep_vectors("old", [(6, b"1")])
    store.keep_vectors("old", [(6, b"2"), (11, b"3")])
    assert store.vectors("old", [6, 11, 99]) == [(6, b"1"), (11, b"3")], "twice is once"
    assert store.vectors("old", scope=EVERYWHERE) == store.vectors("old", [11, 6])[::-1]
    assert store.vectors("old", scope=Scope(ELSEWHERE)) == [] == store.vectors("new", [6])
    assert store.has_vectors() and store.has_vectors("old") and not store.has_vectors("new")
    store.keep_vectors("new", [])
    assert not store.has_vectors() and store.count_lacking() == 2
    store.close()


def test_says_how_much_there_is_and_that_it_is_sound(open_store: Open) -> None:
    store = open_store()
    some_work(store)
    counts = store.counts(HERE)
    assert (counts["events"], counts["sessions"], counts["pending"], counts["last_event"]) == (9, 1, 7, 70.0)
    assert counts["notes"] == {"1": 1} and counts["kinds"]["call"] == 4 and store.counts()["events"] == 10
    assert (store.problems(), store.index_problem()) == ([], "")
    store.rebuild_index()
    assert store.index_problem() == "" and [
        row.id for row in store.rows(store.matching([[Phrase("built")]], EVERYWHERE, 9))
    ] == ["e6:0"]
    rows = list(store.dump(HERE))
    assert {table: sum(name == table for name, _ in rows) for table in store.sizes(HERE)} == store.sizes(HERE)
    assert next(row for table, row in rows if table == "note")["text"] == "note n1"
    assert not any(ELSEWHERE in row.values() for _, row in rows)
    store.close()
