"""Notes cover what is open, each thing once, and their wordings move nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_keeper.model import Note
from memory_keeper.store.events import covered_events, marks_on, model_calls, not_covered, open_events
from tests.raw import pending
from tests.store.contract.made import ELSEWHERE, HERE, a_note, an_event, begin, record_lines, some_events

if TYPE_CHECKING:
    from tests.store.contract.made import Open


def test_a_note_covers_what_is_open(open_store: Open) -> None:
    """Pending and children part the events among them; covering twice is covering once."""
    store = open_store()
    ids = [event.id for event in some_events(6)]
    record_lines(store, begin(store), some_events(6))
    assert pending(store, HERE) == ids
    assert store.add(a_note("n1"), ids[:2]) == 2
    assert store.add(a_note("n1"), ids[:2]) == 0, "the same note again"
    assert store.add(a_note("n1"), ids) == 0, "a note is never changed"
    assert store.children("n1") == ids[:2]
    assert store.add(a_note("n2"), ids[1:4]) == 0, "it would speak of what another note speaks of"
    assert store.note("n2") is None and pending(store, HERE) == ids[2:], "then it is as if it had never been"
    assert store.add(a_note("n2"), ids[2:4]) == 2
    assert store.children("n2") == ids[2:4]
    assert [event.id for event in covered_events(store, "n2")] == ids[2:4]
    assert pending(store, HERE) == ids[4:]
    assert pending(store, ELSEWHERE) == []
    assert store.add(a_note("n3"), ["no such event"]) == 0
    assert store.add(a_note("n4")._replace(project=ELSEWHERE), ids[4:]) == 0, "another project's"
    assert store.note("n4") is None and pending(store, HERE) == ids[4:]
    assert store.note("n3") is None
    parted = [*pending(store, HERE), *store.children("n1"), *store.children("n2")]
    assert sorted(parted) == sorted(ids)
    store.close()


def test_a_note_too_late_is_not_kept(open_store: Open) -> None:
    """When somebody else covered any of its children it is too late; a note that need cover nothing is kept."""
    store = open_store()
    ids = [event.id for event in some_events(3)]
    record_lines(store, begin(store), some_events(3))
    store.add(a_note("early"), ids)
    assert store.add(a_note("late"), ids) == 0
    assert store.note("late") is None
    assert store.children("late") == []
    assert store.children("early") == ids
    assert store.add(a_note("standing")) == 0
    assert store.note("standing") == a_note("standing")
    store.close()


def test_notes_cover_notes(open_store: Open) -> None:
    """The levels are the same loop: above the first, notes are what is covered."""
    store = open_store()
    ids = [event.id for event in some_events(4)]
    record_lines(store, begin(store), some_events(4))
    store.add(a_note("a"), ids[:2])
    store.add(a_note("b"), ids[2:])
    assert pending(store, HERE) == []
    assert pending(store, HERE, 1) == ["a", "b"]
    assert store.add(a_note("top", level=2), ["a", "b"]) == 2
    assert pending(store, HERE, 1) == []
    assert pending(store, HERE, 2) == ["top"]
    assert store.children("top") == ["a", "b"]
    store.close()


def test_two_notes_at_once_share_nothing(open_store: Open) -> None:
    """Of notes written at the same moment that want the same children, one has all it wants and the others nothing."""
    from threading import Barrier, Thread

    store = open_store()
    ids = [event.id for event in some_events(30)]
    record_lines(store, begin(store), some_events(30))
    wanted = {"left": ids[:20], "right": ids[10:], "late": ids[5:20]}
    covered: dict[str, int] = {}
    together = Barrier(len(wanted))

    def cover(name: str) -> None:
        other = open_store()
        together.wait()
        covered[name] = other.add(a_note(name), wanted[name])
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
    assert sorted([*pending(store, HERE), *children[winner]]) == sorted(ids)
    assert all((store.note(name) is not None) == bool(those) for name, those in children.items())
    store.close()


def test_a_better_wording_moves_nothing(open_store: Open) -> None:
    """A replacement is told in the place of the first wording; what covers what goes by the first one."""
    store = open_store()
    ids = [event.id for event in some_events(4)]
    record_lines(store, begin(store), some_events(4))
    store.add(a_note("a"), ids[:2])
    store.add(a_note("b"), ids[2:])
    assert [note.id for note in store.notes(HERE, 1)] == ["a", "b"]
    better = a_note("a2")._replace(replaces="a", text="better")
    store.add(better)
    assert store.wording("a") == store.wording("a2") == better
    assert store.children("a2") == store.children("a") == ids[:2]
    assert [note.id for note in store.notes(HERE, 1, open=True)] == ["a2", "b"], "in the place of the first"
    assert pending(store, HERE, 1) == ["a", "b"]
    mine = a_note("a3")._replace(replaces="a", text="mine", who="user")
    store.add(mine)
    store.add(a_note("a4")._replace(replaces="a", text="by a model, later"))
    assert store.wording("a") == mine, "what a person wrote stays"
    assert [note.id for note in store.wordings("a4")] == ["a", "a2", "a3", "a4"]
    store.add(a_note("a5")._replace(replaces="a", tokens=700, who="user"))
    assert store.open_tokens() == store.open_tokens(HERE) == [(HERE, 700 + a_note("b").tokens)]
    assert store.open_tokens(ELSEWHERE) == []
    assert store.add(a_note("top", level=2), ["a", "b"]) == 2
    assert [note.id for note in store.notes(HERE, above="top")] == ["a5", "b"]
    assert store.open_tokens() == [(HERE, a_note("top").tokens)]
    assert store.notes(HERE, 1, open=True) == []
    store.add(a_note("own")._replace(who="user"))
    store.add(a_note("own2")._replace(replaces="own", text="by a model"))
    assert store.wording("own") == a_note("own")._replace(who="user"), "also when they wrote it first"
    for wrong in (
        a_note("x")._replace(replaces="nothing"),
        a_note("x")._replace(replaces="a2"),
        a_note("x")._replace(replaces="a", project=ELSEWHERE),
        a_note("x", level=2)._replace(replaces="a"),
    ):
        store.add(wrong)
        assert store.note("x") is None
    store.close()


def test_each_session_has_one_newest_handoff(open_store: Open) -> None:
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


def test_what_a_model_took_is_kept_with_its_words(open_store: Open) -> None:
    """That a model was asked is covered by the note from the start; its wording is kept with it, or neither is."""
    store = open_store()
    record_lines(store, begin(store), some_events(2))
    store.add(a_note("a"), [event.id for event in some_events(2)])
    asked = an_event("spent", kind="spent", ref="a", at=7.0)
    assert store.mark(asked)
    assert not store.mark(asked), "once"
    assert model_calls(store) == [asked] and model_calls(store, 8.0) == []
    assert pending(store, HERE) == []
    better = a_note("a2")._replace(replaces="a", text="better")
    assert not store.mark(an_event("lost", kind="spent", ref="nothing"), better)
    assert not store.mark(an_event("lost", kind="spent", ref="a"), better._replace(replaces="nothing"))
    assert store.note("a2") is None and store.event("lost") is None
    assert store.mark(an_event("spent2", kind="spent", ref="a"), better)
    assert store.wording("a") == better
    store.close()


def test_says_what_became_of_notes(open_store: Open) -> None:
    """Of one kind and one project, the oldest first, whatever the order in which it was kept."""
    store = open_store()
    store.add(a_note("a"))
    marked = [an_event(n, kind="confirmed", ref="a", at=at) for n, at in ((1, 20.0), (2, 10.0))]
    assert all(store.mark(event) for event in (*marked, an_event(3, kind="done", ref="a")))
    assert marks_on(store, HERE, "confirmed") == marked[::-1]
    assert marks_on(store, ELSEWHERE, "confirmed") == []
    store.close()


def test_says_what_is_open(open_store: Open) -> None:
    """What no note covers yet, by session; an end counts unless a start came after it."""
    store = open_store()
    source = begin(store)
    events = [
        an_event(1, kind="prompt", text="12345"),
        an_event(2, kind="call"),
        an_event(3, kind="result"),
        an_event(4, kind="end"),
    ]
    record_lines(store, source, events)
    (found,) = store.open_sessions(HERE)
    assert (found.session, found.tools, found.characters, found.ended) == ("s1", 1, 5, True)
    assert open_events(store, "s1", HERE) == events
    store.add(a_note("n1"), [event.id for event in events[:2]])
    assert open_events(store, "s1", HERE) == events[2:]
    assert not_covered(store, [event.id for event in events]) == {event.id for event in events[2:]}
    record_lines(store, source, [an_event(5, kind="start"), an_event(6, kind="compact")])
    (found,) = store.open_sessions(session="s1")
    assert (found.tools, found.characters, found.ended, found.compacted) == (0, 0, False, True)
    assert store.open_sessions(ELSEWHERE) == []
    store.close()


def test_what_was_written_by_hand_stands_in_the_journal_too(open_store: Open) -> None:
    store = open_store()
    record_lines(store, begin(store), some_events(2))
    store.add(a_note("n1"), [event.id for event in some_events(2)])
    store.add(a_note("n2", 0)._replace(kind="rule", who="user"))
    store.add(a_note("n3", 0)._replace(kind="handoff"))
    assert [note.id for note in store.written()] == ["n2"]
    assert [entry["note"][0] for entry in store.journal.read().entries] == ["n2"]
    assert [note.id for note in store.notes(HERE, 0, "rule")] == ["n2"]
