"""What compactions of our own saved, as later requests measured it."""

from __future__ import annotations

import json

import pytest

from memory_keeper.briefs.context_archive import find, show
from memory_keeper.briefs.report.prices import read_prices
from memory_keeper.briefs.report.savings import Sessions, find_compactions
from memory_keeper.cli.main import main
from memory_keeper.model import EVER
from memory_keeper.notes.usage.compactions import saved
from memory_keeper.store import spool
from tests.machine import Machine, Session


def replied(session: Session, size: int) -> None:
    """A response that was given so many tokens, a while later."""
    session.transcript.at += 30
    session.transcript.reply("On.", usage=size)
    session.transcript.at += 30


def compacted(session: Session, size: int, summary: str = "") -> None:
    """The host compacts a context of so many tokens; without a summary it took our answer."""
    t = session.transcript
    record = {"event": "Replaced", "at": t.at, "dir": str(session.project), "source": "auto", "tokens": size}
    spool.append(str(session.machine.home), session.id, record)
    t.compact(summary, pre=size)
    if not summary:
        t.lines.pop()


@pytest.fixture
def long(machine: Machine) -> Session:
    """A session whose context has grown."""
    made = machine.session()
    made.start()
    made.transcript.prompt("Build it.")
    replied(made, 120_000)
    return made


def test_what_later_requests_did_not_carry(long: Session) -> None:
    compacted(long, 120_000)
    for size in (30_000, 31_000, 150_000):
        replied(long, size)
    long.transcript.compact("The host compacted by itself.")
    replied(long, 40_000)
    long.write()
    with long.machine.store() as store:
        (one,) = saved(store, store.project_of(long.id))
    assert (one.session, one.before, one.after, one.requests) == (long.id, 120_000, 30_000, 3)
    assert one.saved == 270_000


def test_each_compaction_counts_up_to_the_next(long: Session) -> None:
    compacted(long, 120_000)
    replied(long, 100_000)
    compacted(long, 100_000)
    replied(long, 40_000)
    replied(long, 50_000)
    long.write()
    with long.machine.store() as store:
        assert [one.saved for one in saved(store, store.project_of(long.id))] == [20_000, 120_000]


def test_one_right_after_a_compaction_of_the_host_s_counts(long: Session) -> None:
    long.transcript.compact("The host compacted by itself.")
    long.transcript.at += 5
    long.transcript.reply("On.", usage=65_000)
    compacted(long, 65_000)
    replied(long, 12_000)
    long.write()
    with long.machine.store() as store:
        project = store.project_of(long.id)
        (one,) = saved(store, project)
        assert (one.before, one.after) == (65_000, 12_000)
        entry = find(store, str(long.machine.home), project, long.id)
    assert entry and [done.by for done in entry.compactions] == ["host", "keeper"]
    assert "by Memory Keeper, without a model (auto): 65,000 tokens before, 12,000 after" in show(entry)


def test_an_answer_that_the_host_did_not_take_saved_nothing(long: Session) -> None:
    compacted(long, 120_000, "The host compacted by itself.")
    replied(long, 30_000)
    long.write()
    with long.machine.store() as store:
        assert saved(store, store.project_of(long.id)) == []


def test_one_that_no_request_has_followed_is_not_measured(long: Session) -> None:
    compacted(long, 120_000)
    long.write()
    with long.machine.store() as store:
        assert saved(store, store.project_of(long.id)) == []


def test_the_archive_says_the_same(long: Session) -> None:
    compacted(long, 120_000)
    replied(long, 30_000)
    compacted(long, 110_000)
    replied(long, 20_000)
    long.write()
    with long.machine.store() as store:
        project = store.project_of(long.id)
        entry = find(store, str(long.machine.home), project, long.id)
        assert entry
        assert [(one.at, one.before, one.after) for one in entry.compactions] == [
            (one.at, one.before, one.after) for one in saved(store, project)
        ]
        assert [one.after for one in entry.compactions] == [30_000, 20_000]


def test_the_report_of_a_long_project_says_the_same(long: Session) -> None:
    for _ in range(410):
        compacted(long, 120_000)
        replied(long, 119_000)
    long.write()
    with long.machine.store() as store:
        project = store.project_of(long.id)
        reported = find_compactions(Sessions(store, project), read_prices(str(long.machine.home)), 0.0, EVER)
        assert sum(one.saved for one in saved(store, project)) == sum(one.saved for one in reported) == 410_000


def test_status_says_it(long: Session, capsys: pytest.CaptureFixture[str]) -> None:
    compacted(long, 120_000)
    replied(long, 30_000)
    replied(long, 31_000)
    long.write()
    long.machine.catch_up()
    words = ["status", "--home", str(long.machine.home), "--project", str(long.project)]
    with pytest.raises(SystemExit, match="0"):
        main(words)
    said = " ".join(capsys.readouterr().out.split())
    assert "compacted 1 time without a model, last from 120,000 to 30,000 tokens;" in said
    assert "2 requests since then carried 180,000 tokens less" in said
    with pytest.raises(SystemExit, match="0"):
        main([*words, "--json"])
    (one,) = json.loads(capsys.readouterr().out)["replaced"]
    assert (one["before"], one["after"], one["requests"], one["tokens"]) == (120_000, 30_000, 2, 180_000)
