"""Why a context was told something: every line of it, with its source and its cost, whoever asks and whenever."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from time import time
from typing import Any

import pytest

from memory_keeper import wire
from memory_keeper.briefs.rules import rules_of
from memory_keeper.cli.main import parse_and_run
from memory_keeper.keeper import Keeper
from memory_keeper.keeper.rules import change_rule
from memory_keeper.model import Note
from memory_keeper.server.protocol import TOOLS as PROTOCOL
from memory_keeper.store import spool
from memory_keeper.store.events import session_events
from memory_keeper.store.injected import TOOLS, tally, told
from memory_keeper.text import tokens
from tests.machine import Machine, Session
from tests.stories.test_recall import ASKED, DECIDED, PROMPT, ask, lived

pytestmark = pytest.mark.usefixtures("rules_on")

RULE = "Never push to main."


@pytest.fixture
def now(machine: Machine) -> Session:
    """A session of today, after one of last week that settled something, and one that did other things."""
    lived(machine, (ASKED, DECIDED))
    lived(machine, ("Write the release notes.", "The release notes are written."), days=2.0)
    session = machine.session()
    session.environ["MEMORY_KEEPER_TELL_STARTBUDGET"] = "180"
    return session


class Asker:
    """Somebody at a terminal."""

    def __init__(self, machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
        self.machine, self.capsys = machine, capsys

    def __call__(self, *words: str) -> str:
        self.capsys.readouterr()
        where = ["--home", str(self.machine.home), "--project", str(self.machine.project)]
        assert parse_and_run(["why", *words, *where]) == 0
        return self.capsys.readouterr().out

    def json(self, *words: str) -> list[dict[str, Any]]:
        found = json.loads(self("--json", *words))
        assert isinstance(found, list)
        return found


@pytest.fixture
def why(machine: Machine, capsys: pytest.CaptureFixture[str]) -> Asker:
    return Asker(machine, capsys)


def words(told: dict[str, Any]) -> str:
    return "\n".join(line["text"] for line in told["lines"])


def test_every_line_that_was_told_is_listed_as_it_was(now: Session, why: Asker) -> None:
    begun = now.start().text
    heard = ask(now, PROMPT)
    start, *prompt = why.json()
    assert (start["event"], start["brief"], words(start)) == ("SessionStart", "start", begun)
    assert {one["event"] for one in prompt} == {"UserPromptSubmit"}
    assert {one["brief"] for one in prompt} == {"rules", "recall"}
    assert sorted(map(words, prompt)) == sorted(_apart(heard))
    for one in (start, *prompt):
        assert sum(line["tokens"] for line in one["lines"]) == one["tokens"] > 0


def _apart(heard: str) -> list[str]:
    return [f"{part}</memory-keeper>" for part in heard.replace(">\n<", "><").split("</memory-keeper>") if part]


def test_a_line_says_what_it_rests_on_and_why(now: Session, why: Asker) -> None:
    now.start()
    ask(now, PROMPT)
    (recalled,) = [one for one in why.json() if one["brief"] == "recall"]
    (line,) = [line for line in recalled["lines"] if DECIDED in line["text"]]
    assert (line["source"], line["session"][:8]) == ("reply", "00000001")
    assert line["why"] == "the prompt names src/billing/invoice.py" and line["score"] > 1
    with now.machine.store() as store:
        event = store.event(line["id"])
        assert event and DECIDED in event.text and line["at"] == event.at


def test_a_handoff_says_how_it_was_chosen(now: Session, why: Asker) -> None:
    now.environ.clear()
    now.start()
    lines = [line for one in why.json() for line in one["lines"] if "release notes" in line["text"]]
    assert lines and all(line["session"][:8] == "00000002" for line in lines)
    assert lines[0]["why"].startswith("the newest handoff") and "session 00000002" in lines[0]["why"]


def test_a_rule_is_the_users_or_comes_with_us(now: Session, why: Asker) -> None:
    with Keeper(str(now.machine.home)) as keeper:
        project = keeper.project(str(now.project))
        keeper.write(Note("rule-1", time(), "rule", 0, project, RULE, extra='{"by":"user"}', who="user"))
    now.start()
    ask(now, "Go on.")
    (rules,) = [one for one in why.json() if one["brief"] == "rules"]
    own, *shipped = [line for line in rules["lines"] if line["source"] == "rule"]
    assert RULE in own["text"] and (own["id"], own["why"]) == ("rule-1", "a rule in force, by the user")
    assert shipped and {line["why"] for line in shipped} == {"a rule that comes with Memory Keeper"}


def test_a_warning_is_told_too(now: Session, why: Asker) -> None:
    now.start()
    now.turn("Read everything.", "I did.")
    now.fill(170_000)
    heard = now.prompt("Go on.").text
    (warned,) = [one for one in why.json() if one["brief"] == "warning"]
    assert words(warned) in heard and "<memory-keeper context=" in heard
    assert [line["source"] for line in warned["lines"] if line["source"] != "frame"] == ["warning"]
    assert warned["tokens"] > 20


def test_what_a_compaction_lost_is_told_at_its_start(now: Session, why: Asker) -> None:
    now.start()
    now.turn("Add SMS login to src/login.py.", "The provider is in src/sms.py.")
    now.happen("PreCompact", trigger="manual", custom_instructions="")
    heard = now.start("compact").text
    handoff = next(one for one in why.json() if one["brief"] == "handoff")
    assert handoff["event"] == "SessionStart" and words(handoff) in heard
    (line, *_) = [line for line in handoff["lines"] if line["id"]]
    assert line["why"] == "handoff of this session, before it was compacted" and line["session"] == now.id
    assert "start (compact): handoff" in why()


def test_it_is_the_same_before_and_after_it_was_moved(now: Session, why: Asker) -> None:
    now.start()
    stamp = datetime.now(UTC).isoformat(timespec="milliseconds")
    now.happen("UserPromptSubmit", prompt="What is open?")
    for row in now.transcript.prompt("What is open?"):
        row["timestamp"] = stamp.replace("+00:00", "Z")
    now.write()
    now.reply("Nothing is.")
    before = why.json(), why()
    assert "prompt 1: rules" in before[1]
    now.machine.catch_up()
    assert (why.json(), why()) == before
    now.machine.catch_up()
    spool.remove(str(now.machine.home), now.id, len(spool.read(str(now.machine.home), now.id)))
    assert (why.json("--session", now.id), why("--session", now.id)) == before


def test_the_first_session_ever_has_only_the_rules(machine: Machine, why: Asker) -> None:
    session = machine.session()
    session.start()
    ask(session, "Hello.")
    (told,) = why.json()
    assert told["brief"] == "rules"
    assert "prompt 1: rules" in why()


def test_the_last_thing_told_is_more_than_a_reminder(now: Session, why: Asker) -> None:
    now.start()
    now.environ["MEMORY_KEEPER_RULES_EVERY"] = "1"
    for minute, prompt in enumerate(("What is open?", PROMPT, "Go on.")):
        ask(now, prompt, time() + 60 * minute)
    assert {one["brief"] for one in why.json("--last")} == {"reminder", "recall"}
    text = why("--last")
    assert "prompt 2: recall" in text and DECIDED[:40] in text and "start (" not in text


def test_before_the_rules_comes_what_the_context_began_with(now: Session, why: Asker) -> None:
    now.start()
    ask(now, "What is open?")
    assert [one["brief"] for one in why.json("--last")] == ["start", "rules"]


def test_people_read_it_in_eighty_columns(now: Session, why: Asker) -> None:
    now.start()
    ask(now, PROMPT)
    text = why()
    assert max(map(len, text.splitlines())) <= 80
    assert "start (startup): start, " in text and "prompt 1: rules, " in text
    assert "<- reply " in text and "because: the prompt names src/billing/invoice.py" in text
    assert "fence=" not in text and "\n| " not in text


def test_what_it_cost_is_counted_once(now: Session, why: Asker) -> None:
    now.start()
    ask(now, PROMPT)
    size = sum(one["tokens"] for one in why.json())
    with now.machine.store() as store:
        costs = tally(told(store, store.project_of(now.id), reminders=True))
        assert sum(all for _, all in costs.values()) == size
        assert {name: times for name, (times, _) in costs.items()} == {"start": 1, "rules": 1, "recall": 1}
        assert tally(told(store, store.project_of(now.id), until=now.machine.began, reminders=True)) == {}
    shown = " ".join(why().split())
    assert shown.count(f": {size + TOOLS:,} tokens in 3 briefs and the tools of 1 context (tools {TOOLS}, ") == 3, (
        "this session, this project, this month"
    )


def test_the_tools_are_charged_once_per_context(now: Session, why: Asker) -> None:
    now.start()
    ask(now, PROMPT)
    now.start("resume")  # is the context that it was
    assert "and the tools of 1 context " in " ".join(why().split())
    now.start("compact")
    before = why()
    assert f"(tools {2 * TOOLS:,}, " in " ".join(before.split())
    now.machine.catch_up()
    assert why() == before, "whether the records were moved or not"


def test_the_tools_cost_what_is_charged_for_them() -> None:
    assert tokens(json.dumps(PROTOCOL, separators=(",", ":"))) == TOOLS


def test_who_came_second_is_not_charged(now: Session, why: Asker) -> None:
    """Of two hooks that find the same, only the first is listened to; whether its record was moved or not."""
    now.start()
    ask(now, PROMPT)
    wanted, home = why.json(), str(now.machine.home)
    for record in spool.records(spool.read(home, now.id), "Told"):
        if record["source"] in ("rules", "recall"):
            spool.append(home, now.id, {**record, "at": record["at"] + 0.02, "call": "another"})
    assert why.json() == wanted
    shown = why()
    now.machine.catch_up()
    assert (why.json(), why()) == (wanted, shown)


@pytest.mark.parametrize("most", [200, 900])
def test_what_the_host_has_no_room_for_is_not_told(
    now: Session, why: Asker, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    now.start()
    monkeypatch.setattr("memory_keeper.hooks.answer.HEARD", most)
    heard = ask(now, PROMPT)
    assert len(heard) < most
    assert Counter(map(words, why.json()[1:])) == Counter(_apart(heard))
    assert ("recall" in {one["brief"] for one in why.json()}) == (most == 900)


def test_a_warning_that_has_no_room_is_not_told_either(
    now: Session, why: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    now.start()
    now.turn("Read everything.", "I did.")
    now.fill(170_000)
    monkeypatch.setattr("memory_keeper.hooks.answer.HEARD", 200)
    assert "<memory-keeper context=" not in ask(now, "Go on.")
    assert "warning" not in {one["brief"] for one in why.json()}


def test_a_shipped_rule_that_the_user_worded_is_the_users(now: Session, why: Asker) -> None:
    now.start()
    ask(now, "Go on.")
    with Keeper(str(now.machine.home)) as keeper:
        rule = rules_of(None, "")[0]
        change_rule(keeper, rule, "Never delete anything.")
    ask(now, "Go on.")
    before, after = (one["lines"] for one in why.json() if one["brief"] == "rules")
    whys = [[line["why"] for line in lines if line["id"] == rule.id] for lines in (before, after)]
    assert whys == [["a rule that comes with Memory Keeper"], ["a rule in force, by the user"]]


def test_what_a_subagent_is_told_is_listed_as_that(now: Session, why: Asker) -> None:
    now.environ["MEMORY_KEEPER_RULES_SUBAGENTS"] = "true"
    now.start()
    at = time()
    for agent in ("a1", "a2"):  # at the same moment
        ask(now, "", at, "SubagentStart", agent_id=agent, agent_type="Explore")
    told, _ = found = [one for one in why.json() if one["event"] == "SubagentStart"]
    now.machine.catch_up()
    assert [one for one in why.json() if one["event"] == "SubagentStart"] == found
    assert told["brief"] == "subagent" and [line for line in told["lines"] if line["source"] == "rule"]
    assert "start of a subagent: subagent" in why()


def test_a_record_of_before_has_no_words(now: Session, why: Asker) -> None:
    now.start()
    with now.machine.store() as store:
        (cite, *_) = [event.id for event in session_events(store, "00000001-0000-4000-8000-000000000001")]
    told = wire.dumps({"brief": "start", "tokens": 70, "cites": [cite]})
    spool.append(str(now.machine.home), now.id, {"event": "Told", "at": time(), "dir": str(now.project), "extra": told})
    (last,) = why.json("--last")
    assert last["tokens"] == 70 and [(line["id"], line["text"]) for line in last["lines"]] == [(cite, "")]
    assert "was not kept then" in why("--last")


def test_what_was_told_is_not_found_as_something_that_happened(
    now: Session, why: Asker, capsys: pytest.CaptureFixture[str]
) -> None:
    now.start()
    ask(now, PROMPT)
    now.machine.catch_up()
    capsys.readouterr()
    where = ["--home", str(now.machine.home), "--project", str(now.project), "--json"]
    parse_and_run(["search", "round half to even", *where])
    found = json.loads(capsys.readouterr().out)
    assert found and all(not hit["id"].startswith("told-") for hit in found)


def test_a_session_that_was_told_nothing_says_so(machine: Machine, why: Asker) -> None:
    session = machine.session()
    session.environ["MEMORY_KEEPER_RULES_ENABLED"] = "false"
    session.start()
    assert "was told nothing" in why()
    assert why.json() == []
