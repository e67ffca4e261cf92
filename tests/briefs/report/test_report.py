"""The report of a month: the predecessor's labels, figures that are the store's own, and no saving that is assumed."""

from __future__ import annotations

import json
import time
from decimal import Decimal
from pathlib import Path

import pytest

from memory_keeper.briefs import UNLIMITED, View
from memory_keeper.briefs.report.markdown import as_json, cell, compose, report_of, show
from memory_keeper.briefs.report.month import Month, find_month
from memory_keeper.briefs.report.prices import read_prices
from memory_keeper.briefs.report.session import find_session, session_json, show_session
from memory_keeper.briefs.report.sums import sums, total
from memory_keeper.dates import bounds, month_of
from memory_keeper.jobs.allowance import attempts
from memory_keeper.model import USER, Note
from memory_keeper.notes.usage.compactions import saved
from memory_keeper.settings import DEFAULTS
from memory_keeper.store.events import model_calls
from memory_keeper.store.injected import TOOLS, tally
from memory_keeper.store.injected import told as told_in
from memory_keeper.store.sqlite import SqliteStore
from memory_keeper.text import tokens
from tests.briefs.report.month import APRIL, MARCH, MAY, OTHER, begin, compacted, respond, told
from tests.briefs.report.month import office as office
from tests.briefs.report.month import utc as utc
from tests.workplace import Workplace

GOLDEN = Path(__file__).parents[2] / "data/report.md"
LABELS = (
    "Sessions processed", "Average session tokens", "Compactions triggered", "Token recovery",
    "Observations escalated", "Observations archived", "Tasks archived", "Cost impact",
)  # fmt: skip


def month(place: Workplace, store: SqliteStore, project: str | None = "app", at: float = APRIL) -> Month:
    key = place.project(project) if project else None
    return find_month(store, read_prices(str(place.home)), key, month_of(at), DEFAULTS, MAY)


def test_a_month_is_told_like_this(office: Workplace) -> None:
    with office.store() as store:
        assert show(month(office, store)) == GOLDEN.read_text()


def test_the_labels_are_the_predecessors(office: Workplace) -> None:
    with office.store() as store:
        said = show(month(office, store))
    assert said.startswith("## Monthly Report - April 2026\n\n")
    assert [line[2:].partition(":**")[0] for line in said.split("\n") if line.startswith("**")] == list(LABELS)


@pytest.mark.parametrize("project", ["app", None])
def test_a_document_adds_up_to_what_the_store_has(office: Workplace, project: str | None) -> None:
    with office.store() as store:
        said = json.loads(json.dumps(as_json(month(office, store, project))))
        only = f" and project = '{office.project('app')}'" if project else ""
        rows = store.db.execute(
            "select count(*), sum(input), sum(cache_read), sum(cache_write), sum(output) from usage"
            f" where at >= {APRIL} and at < {MAY}{only}"
        ).fetchone()
    fields = ("requests", "input", "cache_read", "cache_write", "output")
    assert tuple(said["total"][field] for field in fields) == rows
    for by in ("by_day", "by_model", "by_project"):
        assert tuple(sum(row[field] for row in said[by]) for field in fields) == rows
    assert sum(one["tokens"] for one in said["sessions"]) == said["total"]["tokens"] == sum(rows[1:])
    assert sum(Decimal(row["cost"] or 0) for row in said["by_model"]) == Decimal(said["total"]["cost"])
    assert [row["cost"] for row in said["by_model"] if row["name"] == OTHER] == [None]


def test_a_month_has_its_first_moment_and_not_the_next_ones(tmp_path: Path, utc: None) -> None:
    place = Workplace(tmp_path)
    session = begin(place, MARCH)
    for at in (APRIL - 1, APRIL, MAY - 1, MAY):
        session.transcript.at = at
        respond(session, OTHER, 1, 0, 0, 1)
        row = session.transcript.lines[-1]
        row["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(at))
    session.write()
    place.catch_up()
    with place.store() as store:
        assert [month(place, store, at=at).total.requests for at in (MARCH, APRIL, MAY)] == [1, 2, 1]


@pytest.mark.parametrize(("zone", "hours"), [("UTC", 0), ("Asia/Seoul", -9), ("America/New_York", 4)])
def test_a_month_begins_where_the_user_is(monkeypatch: pytest.MonkeyPatch, utc: None, zone: str, hours: int) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    assert bounds(2026, 4) == (APRIL + hours * 3600, MAY + hours * 3600)
    assert month_of(APRIL + hours * 3600) == bounds(2026, 4)
    assert bounds(2026, 12)[1] == bounds(2027, 1)[0]


def test_savings_are_those_of_our_own_compactions(office: Workplace) -> None:
    with office.store() as store:
        found = month(office, store)
        known = saved(store, office.project("app"))
        asked = attempts(model_calls(store))
        telling = tally(told_in(store, office.project("app"), "", APRIL, MAY, reminders=True))
    assert found.saved == sum(one.saved for one in known) == (90_000 - 12_000) * 3
    assert found.spared == Decimal("0.5") * found.saved / 1_000_000
    assert [one.by for one in found.compactions if one.saved] == ["keeper"]
    assert (found.asking.times, found.asking.tokens) == (len(asked), sum(one.tokens for one in asked)) == (1, 1500)
    assert {one.brief: (one.times, one.tokens) for one in found.tellings} == telling | {"tools": (2, 2 * TOOLS)}
    assert found.net == found.saved - found.carried - 1500


def test_what_we_told_is_charged_with_every_request_that_carries_it(tmp_path: Path, utc: None) -> None:
    place = Workplace(tmp_path)
    session = begin(place, APRIL)
    told(session, "start", 1_000)
    for _ in range(4):
        respond(session, "claude-opus-4-5", 0, 10_000, 0, 1)
    compacted(session, 10_000, 5_000, "A summary.")
    respond(session, "claude-opus-4-5", 0, 5_000, 0, 1)  # a compaction has taken it out
    told(session, "rules", 10)
    respond(session, "claude-opus-4-5", 0, 5_000, 0, 1)
    session.write()
    place.catch_up()
    with place.store() as store:
        found = month(place, store)
    tools, *briefs = found.tellings
    assert [(one.brief, one.tokens, one.carried) for one in briefs] == [("start", 1_000, 4_000), ("rules", 10, 10)]
    first = (Decimal("6.25") + 3 * Decimal("0.5")) / 1000
    assert [one.cost for one in briefs] == [first, Decimal("6.25") / 100_000]
    assert found.net == -4_010 - tools.carried
    assert "Savings: none claimed" in show(found)


def test_our_tools_are_charged_with_every_request_since_the_start(tmp_path: Path, utc: None) -> None:
    place = Workplace(tmp_path)
    session = begin(place, APRIL)
    for _ in range(3):
        respond(session, "claude-opus-4-5", 0, 10_000, 0, 1)
    place.now = session.transcript.at
    session.mark("SessionStart", source="resume")
    respond(session, "claude-opus-4-5", 0, 10_000, 0, 1)
    place.now = session.transcript.at
    session.mark("SessionStart", source="compact")
    respond(session, "claude-opus-4-5", 0, 5_000, 0, 1)
    session.write()
    place.catch_up()
    with place.store() as store:
        found, later = month(place, store), month(place, store, at=MAY)
        said = show_session(find_session(store, str(place.home), found.prices, session.id, total([])))
    (charge,) = found.tellings
    assert (charge.brief, charge.times, charge.tokens, charge.carried) == ("tools", 2, 2 * TOOLS, 5 * TOOLS)
    assert charge.cost == TOOLS * (2 * Decimal("6.25") + 3 * Decimal("0.5")) / 1_000_000
    assert found.net == -5 * TOOLS and later.tellings == ()
    assert f"Our list of tools:  {TOOLS} tokens in each of 5 requests, {5 * TOOLS:,} in all\n" in said


def test_nothing_is_said_of_a_month_of_nothing(office: Workplace) -> None:
    with office.store() as store:
        empty = month(office, store, at=MAY + 40 * 86_400)
        assert empty.total.requests == 0
        assert report_of(store, str(office.home), office.project("app"), MAY, DEFAULTS, MAY) == ""
        assert as_json(empty)["by_day"] == []


def test_a_session_in_figures(office: Workplace) -> None:
    session = office.sessions[1]
    prices = read_prices(str(office.home))
    with office.store() as store:
        spent = total(sums(store, prices, session=session.id))
        one = find_session(store, str(office.home), prices, session.id, spent)
    said = show_session(one).split("\n")
    assert said[:9] == [
        f"Session ID: {session.id}",
        "─" * len(f"Session ID: {session.id}"),
        "Starting tokens:    90K",
        "Peak tokens:        90K (at compaction)",
        "Compaction trigger: Token threshold exceeded (auto), answered by Memory Keeper",
        "Tokens recovered:   78K (→ 12K remaining)",
        "Compression ratio:  87% reduction",
        "Time to compact:    41.9s",
        "Tokens used:        233,764 in 6 requests, 87% of what was sent from the cache",
    ]
    assert said[-6:] == [
        "Artifacts:",
        "  ✓ Original transcript archived",
        "  ✗ Summary generated",
        "  ✗ memory.md updated",
        "  ✓ Context cleaned (by Memory Keeper)",
        "",
    ]
    assert json.loads(json.dumps(session_json(one)))["compactions"][0]["saved"] == 234_000
    cleared = one.compactions[0]._replace(by="clear", trigger="", before=None, after=None)
    then = show_session(one._replace(compactions=(*one.compactions, cleared), summary=25, summarized="Memory Keeper"))
    assert said[4] in then, "a clear is no compaction"
    assert "90,000 → 12,000 tokens: Token threshold exceeded (auto), answered by Memory Keeper\n" in then
    assert " tokens: Cleared\n" in then and "Summary generated (25 tokens, by Memory Keeper)" in then


def test_a_session_that_was_never_compacted(office: Workplace) -> None:
    prices = read_prices(str(office.home))
    with office.store() as store:
        one = find_session(store, str(office.home), prices, office.sessions[0].id, total([]))
    said = show_session(one)
    assert "Compaction trigger: none\nTokens recovered:   none measured\nCompression ratio:  none measured\n" in said
    assert "✗ Context cleaned" in said


def test_names_that_others_chose_stay_in_their_cell() -> None:
    assert cell("a|b\n| c \x1b[31m<script>") == "a\\|b \\| c ‹script›"


@pytest.mark.parametrize("nonce", ["", "abc123"])
@pytest.mark.parametrize("budget", [40, 300, 100_000])
def test_a_brief_fits(office: Workplace, nonce: str, budget: int) -> None:
    with office.store() as store:
        view = View(
            store, office.project("app"), "", "startup", budget=budget, home=str(office.home), now=APRIL + 86_400
        )
        brief = compose("report", view, nonce, UNLIMITED)
        short = compose("report", view, nonce, 300)
    assert brief.tokens == tokens(brief.text) <= budget
    assert len(short.text) <= 300
    if budget > 1000:
        assert "| **Sessions processed:** 3" in brief.text if nonce else "**Sessions processed:** 3" in brief.text


def test_observations_and_tasks_are_counted_when_it_happened(tmp_path: Path, utc: None) -> None:
    place = Workplace(tmp_path)
    session = begin(place, APRIL)
    respond(session, OTHER, 1, 0, 0, 1)
    for number in range(13):
        session.transcript.at = APRIL + number * 3 * 86_400  # the tenth after the first is done in May
        session.transcript.task_create(f"Build part {number} of the house.")
        session.transcript.task_update(str(number + 1), "completed")
    session.write()
    place.catch_up()
    project = place.project()
    seen = Note("note-000000000001", MARCH, "observation", 0, project, "Prefers tabs.", who="user")
    old = Note("note-000000000002", APRIL - 20 * 86_400, "observation", 0, project, "Likes green.", who="user")
    source = '{"source": "note-000000000001"}'
    rule = Note("note-000000000003", APRIL + 5, "rule", 0, project, "Use tabs.", extra=source)
    own = Note("note-000000000004", APRIL + 6, "rule", 0, project, "Prefer green.", who="user")
    everywhere = Note("note-000000000005", MAY + 5, "rule", 0, USER, "Answer in English.", extra=source)
    with place.keeper() as keeper:
        for note in (seen, old, rule, own, everywhere):
            assert keeper.write(note)
        keeper.reword(rule, "Use tabs, always.", now=MAY + 7)
    with place.store() as store:
        march, april, may = (month(place, store, at=at) for at in (MARCH, APRIL, MAY))
    assert (april.escalated, april.archived) == (1, 1), "not the one that was written by hand"
    assert may.escalated == 1, "the one of all projects, not the one that was worded again"
    assert (march.escalated, march.archived) == (0, 0)
    assert [one.finished for one in (march, april, may)] == [0, 0, 3]
    assert "**Observations escalated:** 1 (→ ACTIVE_RULES)" in show(april)
    assert "**Tasks archived:** 3 (moved to TASK_ARCHIVE.md)" in show(may)
