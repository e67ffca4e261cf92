"""The fold: what confirms, contradicts, takes the place of and ages an observation."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from memory_keeper.keeper import Keeper
from memory_keeper.model import USER, Event, Note
from memory_keeper.rules.observations import Observed, clashes, escalated, observed, observed_here
from memory_keeper.rules.prompts import MOST, in_force, said
from memory_keeper.settings import DEFAULTS
from memory_keeper.store.home import Lock
from tests.rows import rows

DAY = 86_400.0
AT = 1_768_305_600.0  # 2026-01-13 12:00 UTC
PROJECT = "dir:/p"


class Book:
    """A store with observations in it."""

    def __init__(self, home: Path) -> None:
        self.keeper = Keeper(str(home), {})
        self.made = 0
        with Lock(self.keeper.home, 5.0):
            self.keeper.writer.name_project([PROJECT], PROJECT)

    def say(self, text: str, session: str, day: float = 0.0, prompt: str = "") -> list[Note]:
        """The user says something in a session."""
        self.made += 1
        event = Event(prompt or f"{session}-{self.made}:0", AT + day * DAY, "prompt", session, PROJECT, text)
        notes = [*said(event, PROJECT)]
        for note in notes:
            self.keeper.write(note)
        return notes

    def add(self, text: str, by: str = "user", day: float = 0.0, **more: Any) -> Note:
        """Somebody writes an observation down."""
        self.made += 1
        note = Note(f"note-{self.made}", AT + day * DAY, "observation", 0, PROJECT, text, extra=json.dumps({"by": by}))
        note = note._replace(who="user" if by == "user" else "", **more)
        self.keeper.write(note)
        return note

    def rule(self, text: str, source: str = "", day: float = 0.0, replaces: str = "", project: str = PROJECT) -> Note:
        self.made += 1
        about = {"by": "user", "written": AT + day * DAY, "source": source}
        note = Note(f"rule-{self.made}", AT, "rule", 0, project, text, extra=json.dumps(about), who="user")
        note = note._replace(replaces=replaces)
        self.keeper.write(note)
        return note

    def confirm(self, note: Note, session: str = "", day: float = 0.0) -> None:
        self.keeper.mark("confirmed", note, session=session, at=AT + day * DAY)

    def contradict(self, note: Note, day: float = 0.0) -> None:
        self.keeper.mark("contradicted", note, at=AT + day * DAY)

    def read(self, day: float = 1.0, **settings: Any) -> list[Observed]:
        return observed(self.keeper.store, PROJECT, {**DEFAULTS, **settings}, AT + day * DAY)


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book(tmp_path / "keeper")


def states(found: list[Observed]) -> dict[str, str]:
    return {one.text: one.state for one in found}


def test_sessions_confirm_not_prompts(book: Book) -> None:
    for number in range(3):
        book.say("Always use tabs.", "s1", number)
    (one,) = book.read(3)
    assert (one.sessions, one.confirmations, one.state, one.by) == (("s1",), 1, "open", "said")
    assert (one.first, one.last) == (AT, AT + 2 * DAY)


def test_the_fifth_session_proposes(book: Book) -> None:
    for number in range(4):
        book.say("Always use tabs.", f"s{number}", number)
    assert states(book.read(4)) == {"use tabs": "open"}
    book.say("always use tabs", "s4", 4)
    (one,) = book.read(5)
    assert (one.state, one.confirmations, one.since) == ("proposed", 5, AT + 4 * DAY)
    assert states(book.read(400)) == {"use tabs": "proposed"}, "what is proposed waits for an answer"


def test_an_id_stays_when_another_session_says_it_again(book: Book) -> None:
    (first,) = book.say("Always use tabs.", "s1", 1)
    for number in range(2, 4):
        book.say("Always use tabs.", f"s{number}", number)
        (one,) = book.read(9)
        assert one.id == first.id
    assert len(one.notes) == 3


def test_an_older_word_that_comes_later_keeps_what_was_marked(book: Book) -> None:
    (late,) = book.say("Always use tabs.", "s9", 9)
    book.confirm(late, day=9)
    book.rule("use tabs", source=late.id)
    (early,) = book.say("Always use tabs.", "s1", 1)
    (one,) = book.read(10)
    assert (one.id, one.confirmations, one.state) == (early.id, 3, "rule")


def test_by_hand_counts_once_a_day(book: Book) -> None:
    note = book.add("Builds are slow on Mondays.")
    for minute in range(5):
        book.confirm(note, day=minute / 1440)
    (one,) = book.read(1)
    assert (one.confirmations, one.state) == (1, "open")


def test_by_hand_each_day_counts(book: Book) -> None:
    note = book.add("Builds are slow on Mondays.")
    for day in range(5):
        assert book.read(day)[0].state == "open"
        book.confirm(note, day=day)
    (one,) = book.read(5)
    assert (one.sessions, one.confirmations, one.state, one.by) == ((), 5, "proposed", "user")


def test_a_contradiction_begins_the_count_anew(book: Book) -> None:
    note = book.add("Builds are slow on Mondays.")
    for day in range(5):
        book.confirm(note, f"s{day}", day)
    book.contradict(note, 6)
    (one,) = book.read(7)
    assert (one.state, one.confirmations, one.since) == ("contradicted", 0, AT + 6 * DAY)
    book.confirm(note, "s7", 7)
    (one,) = book.read(8)
    assert (one.state, one.sessions) == ("open", ("s7",))


def test_weeks_without_a_confirmation_archive(book: Book) -> None:
    note = book.add("Builds are slow on Mondays.")
    assert book.read(27)[0].state == "open"
    (one,) = book.read(29)
    assert (one.state, one.since) == ("archived", AT + 28 * DAY)
    book.confirm(note, "s1", 40)
    assert book.read(41)[0].state == "open"
    days = {"compaction.triggers.observationAge.archiveAfterDays": 3}
    assert book.read(44, **days)[0].state == "archived"


@pytest.mark.parametrize("switch", ["compaction.enabled", "compaction.triggers.observationAge.enabled"])
def test_switched_off_nothing_is_proposed_or_archived(book: Book, switch: str) -> None:
    for number in range(6):
        book.say("Always use tabs.", f"s{number}")
    book.add("Builds are slow on Mondays.")
    assert {*states(book.read(400, **{switch: False})).values()} == {"open"}


@rows("before", "after")
def test_a_later_word_takes_the_place_of_an_earlier_one(book: Book, before: str, after: str) -> None:
    (old,) = book.say(before, "s1", 0)
    (new,) = book.say(after, "s2", 1)
    first, last = book.read(2)
    assert (first.id, first.state, first.instead, first.since) == (old.id, "superseded", new.id, AT + DAY)
    assert (last.id, last.state) == (new.id, "open")


def test_a_rule_that_is_given_up_is_not_told_and_nor_is_that_it_was(book: Book) -> None:
    book.say("Always run the linter.", "s0", 0)
    for number in range(1, 9):
        book.say("Delete the rule: always run the linter", f"s{number}", number)
    assert states(book.read(9)) == {"run the linter": "superseded", "Delete the rule: always run the linter": "open"}
    assert not in_force(book.keeper.store, PROJECT, DEFAULTS, AT + 9 * DAY)
    book.say("Always run the linter.", "s9", 10)
    assert [one.text for one in in_force(book.keeper.store, PROJECT, DEFAULTS, AT + 11 * DAY)] == ["run the linter"]


def test_a_clock_that_was_wrong_once(book: Book) -> None:
    book.say("From now on use yarn.", "s1", 300)
    book.say("No, use pnpm.", "s2", 1)
    assert states(book.read(2)) == {"use yarn": "superseded", "use pnpm": "open"}


def test_there_and_back_again(book: Book) -> None:
    for day, name in enumerate(("npm", "pnpm", "npm")):
        book.say(f"From now on use {name}.", f"s{day}", day)
    assert [one.state for one in book.read(3)] == ["superseded", "superseded", "open"]


@rows("before", "after")
def test_what_is_used_together_stands_beside_each_other(book: Book, before: str, after: str) -> None:
    book.say(before, "s1", 0)
    book.say(after, "s2", 1)
    assert [one.state for one in book.read(2)] == ["open", "open"]


def test_other_matters_stand_beside_each_other(book: Book) -> None:
    for number, text in enumerate(("Always use tabs.", "Never commit to main.", "Always answer in German.")):
        book.say(text, "s1", number)
    assert [one.state for one in book.read(3)] == ["open"] * 3


def test_a_model_takes_the_place_of_nothing(book: Book) -> None:
    book.say("Always use npm.", "s1", 0)
    book.add("From now on use pnpm.", "model", 1)
    assert states(book.read(2)) == {"use npm": "open", "From now on use pnpm.": "open"}
    book.say("No, use yarn.", "s2", 2)
    assert states(book.read(3)) == {"use npm": "superseded", "From now on use pnpm.": "superseded", "use yarn": "open"}


def test_a_model_that_says_the_same_adds_nothing(book: Book) -> None:
    book.say("Always use tabs.", "s1", 1)
    book.add("Always use tabs.", "model", 0, session="s0")
    (one,) = book.read(2)
    assert (one.by, one.text, one.sessions, len(one.notes)) == ("said", "use tabs", ("s1",), 2)


def test_what_the_user_writes_and_says_is_one(book: Book) -> None:
    note = book.add("Always use tabs.")
    book.say("Remember, always use tabs.", "s1", 1)
    (one,) = book.read(2)
    assert (one.id, one.by, one.sessions) == (note.id, "user", ("s1",))


def test_a_rule_that_came_of_it(book: Book) -> None:
    (note,) = book.say("Always use tabs.", "s1")
    rule = book.rule("Use tabs.", note.id, 1)
    (one,) = book.read(400)
    assert (one.state, one.instead, one.since) == ("rule", rule.id, AT + DAY)
    book.rule("", note.id, 2, rule.id)
    (one,) = book.read(3)
    assert (one.state, one.since) == ("contradicted", AT + 2 * DAY), "who takes the rule away does not want it"


def test_a_rule_that_was_written_by_hand(book: Book) -> None:
    book.say("Always use tabs.", "s1")
    rule = book.rule("Always use tabs.")
    (one,) = book.read()
    assert (one.state, one.instead) == ("rule", rule.id)


def test_rules_that_a_later_word_contradicts(book: Book) -> None:
    (old,) = book.say("Always use npm.", "s1", 0)
    grown, given = book.rule("use npm", old.id, 1), book.rule("Always use tabs.", day=1)
    book.rule("Never commit to main.", day=1)
    assert not clashes(book.keeper.store, PROJECT, book.read(2))
    (new,) = book.say("No, use pnpm.", "s2", 2)
    (newer,) = book.say("From now on use spaces.", "s2", 2)
    found = clashes(book.keeper.store, PROJECT, book.read(3))
    assert {(clash.rule.id, clash.said.id) for clash in found} == {(grown.id, new.id), (given.id, newer.id)}


def test_a_rule_of_all_projects_is_contradicted_too(book: Book) -> None:
    rule = book.rule("Answer in English.", day=1, project=USER)
    (new,) = book.say("From now on, answer me in German.", "s2", 2)
    (clash,) = clashes(book.keeper.store, PROJECT, book.read(3))
    assert (clash.rule.id, clash.said.id) == (rule.id, new.id)


def test_of_two_rules_that_came_of_it_the_one_in_force_counts(book: Book) -> None:
    (note,) = book.say("Always use tabs.", "s1")
    first = book.rule("Use tabs.", note.id, 1)
    book.rule("", note.id, 2, first.id)
    second = book.rule("Use tabs.", note.id, 1.5, project=USER)
    (one,) = book.read(3)
    assert (one.state, one.instead) == ("rule", second.id)


def test_when_observations_became_rules(book: Book) -> None:
    (note,) = book.say("Always use tabs.", "s1")
    rule = book.rule("Use tabs.", note.id, 1)
    book.rule("Use tabs, and no spaces.", note.id, 40, rule.id)
    book.rule("Never commit to main.", day=2)
    assert escalated(book.keeper.store, PROJECT) == [(rule.at, rule.id)]
    assert not escalated(book.keeper.store, USER)


def test_a_word_for_all_projects_and_one_for_this(book: Book) -> None:
    everywhere = book.add("Always use npm.", project=USER)
    book.add("Always use tabs.", project=USER)
    (same,) = book.say("Always use tabs.", "s1", 1)
    (here,) = book.say("No, use pnpm instead of npm.", "s1", 1)
    store, now = book.keeper.store, AT + 2 * DAY
    found = {one.id: one for one in observed_here(store, PROJECT, DEFAULTS, now)}
    assert (found[everywhere.id].state, found[everywhere.id].instead) == ("superseded", here.id)
    assert found[same.id].project == PROJECT and len(found) == 4, "each is listed where it was said"
    assert [one.state for one in observed(store, USER, DEFAULTS, now)] == ["open", "open"], "elsewhere it holds"
    told = in_force(store, PROJECT, DEFAULTS, now)
    assert sorted(one.wish.wanted for one in told if one.wish) == [("pnpm",), ("tabs",)], "each thing once"


def test_a_model_s_many_words_do_not_push_out_the_user_s(book: Book) -> None:
    (note,) = book.say("Always use tabs.", "s1", 0)
    for number in range(MOST + 1):
        book.add(f"Always use tool{number}.", "model", 1)
    assert [one.id for one in in_force(book.keeper.store, PROJECT, DEFAULTS, AT + 2 * DAY)] == [note.id]


def test_a_rule_that_was_worded_anew_since_contradicts_nothing(book: Book) -> None:
    (old,) = book.say("Always use npm.", "s1", 0)
    rule = book.rule("use npm", old.id, 1)
    book.say("No, use pnpm.", "s2", 2)
    assert clashes(book.keeper.store, PROJECT, book.read(3))
    book.rule("use pnpm", old.id, 4, rule.id)
    assert not clashes(book.keeper.store, PROJECT, book.read(5))


def test_what_was_taken_away_is_gone(book: Book) -> None:
    (note,) = book.say("Always use tabs.", "s1")
    book.keeper.write(note._replace(id="gone", text="", replaces=note.id))
    assert not book.read()
    book.say("Always use tabs.", "s2", 1)
    assert [one.sessions for one in book.read(2)] == [("s2",)]


def test_the_order_in_which_it_is_kept_does_not_matter(tmp_path: Path) -> None:
    told = [
        (f"{text} use {name}.", f"s{day}", float(day), f"p{day}:0")
        for day, (text, name) in enumerate(
            [("Always", "npm"), ("Always", "tabs"), ("No,", "pnpm"), ("Always", "pnpm"), ("From now on", "tabs")]
        )
    ]
    expected = None
    for seed in range(5):
        book = Book(tmp_path / f"k{seed}")
        Random(seed).shuffle(told)
        for one in (*told, *told):
            book.say(*one)
        expected = expected or book.read(9)
        assert book.read(9) == expected
    assert expected and [one.state for one in expected] == ["superseded", "open", "open"]
