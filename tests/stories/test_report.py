"""What a month took: from the transcripts to the table, the report and the page."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_keeper.cli.main import main
from tests.briefs.report.month import OTHER
from tests.briefs.report.month import office as office
from tests.briefs.report.month import utc as utc
from tests.workplace import Workplace

Ask = Callable[..., str]


@pytest.fixture
def ask(office: Workplace, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Run a command in the project, and give what it prints."""

    def run(*words: str, code: int = 0) -> str:
        with pytest.raises(SystemExit) as left:
            main([*words, "--home", str(office.home), "--project", str(office.folder("app"))])
        said = capsys.readouterr()
        assert left.value.code == code, said.err
        return said.out if not code else said.err

    return run


def test_tokens_by_day(ask: Ask) -> None:
    said = ask("usage", "--since", "2026-04-01", "--until", "2026-05-01").splitlines()
    assert said[0].split() == [
        "day",
        "requests",
        "input",
        "cache",
        "read",
        "cache",
        "write",
        "output",
        "cached",
        "cost",
    ]
    assert said[1].split() == ["2026-04-01", "1", "20", "2,000", "300", "40", "86%", "<$0.01"]
    assert said[-3].split() == ["total", "10", "398", "367,538", "68,435", "2,778", "84%", "$0.42", "and", "more"]
    assert said[-2:] == [
        "cost: estimate, prices of 2026-11-13",
        "31,067 tokens are of models without a price, and are not in it",
    ]


def test_tokens_by_week_and_month(ask: Ask) -> None:
    for by, names in (("week", ["2026-W14", "2026-W15"]), ("month", ["2026-03", "2026-04"])):
        rows = json.loads(ask("usage", "--by", by, "--json"))["rows"]
        assert [row["name"] for row in rows] == names


@pytest.mark.parametrize("by", ["day", "week", "month", "session", "model", "project", "tool"])
def test_every_way_to_sum_has_the_same_total(ask: Ask, by: str) -> None:
    said = json.loads(ask("usage", "--by", by, "--json"))
    assert {"project", "since", "until", "by", "total", "prices"} < said.keys()
    total = said["total"]
    more = (1, 10) if by == "project" else (0, 0)  # of the other project
    assert (total["requests"], total["tokens"]) == (11 + more[0], 439_149 + 1_240 + more[1])
    for row in said.get("rows", ()):
        assert row.keys() == total.keys()
        assert row["tokens"] == row["input"] + row["cache_read"] + row["cache_write"] + row["output"]
    for field in ("requests", "input", "cache_read", "cache_write", "output", "unpriced"):
        assert sum(row[field] for row in said.get("rows", [total])) == total[field]
    assert said["prices"]["label"] == "estimate, prices of 2026-11-13"
    if by == "tool":
        assert said["estimated"] is True
        assert [(one["what"], one["times"]) for one in said["tools"]] == [("Read", 1), ("Bash", 1)]


def test_a_model_without_a_price_has_no_cost(ask: Ask) -> None:
    rows = {row["name"]: row for row in json.loads(ask("usage", "--by", "model", "--json"))["rows"]}
    assert rows[OTHER]["cost"] is None
    assert "no price" in next(line for line in ask("usage", "--by", "model").splitlines() if line.startswith(OTHER))


def test_other_projects_only_on_request(ask: Ask) -> None:
    here, everywhere = (json.loads(ask("usage", "--json", *more)) for more in ((), ("--all-projects",)))
    assert everywhere["total"]["requests"] - here["total"]["requests"] == 1
    said = ask("usage", "--by", "project")
    assert "other | <b>project</b>" in said and "dir:" not in said, "all of them, by their folders"


def test_a_copy_of_what_is_kept_costs_nothing_more(ask: Ask, office: Workplace, tmp_path: Path) -> None:
    """A response counts once, whoever's copy it is in, and so do compactions and calls; what only a copy has is new."""

    def figures() -> dict[str, Any]:
        month: dict[str, Any] = json.loads(ask("report", "--month", "2026-04", "--all-projects", "--json"))
        ways = ("day", "session", "model", "project", "tool")
        spent = {by: json.loads(ask("usage", "--by", by, "--all-projects", "--json")) for by in ways}
        return {**month, "names": {}, **{by: {**one, "prices": {}} for by, one in spent.items()}}

    before = figures()
    copy = tmp_path / "copy"
    shutil.copytree(office.root / "transcripts", copy)
    assert json.loads(ask("import", "transcripts", str(copy), "--json"))["apart"] == 2
    assert figures() == before
    ask("import", "accept", str(copy), "--yes")
    assert figures() == before
    longer = copy / "app" / office.sessions[1].transcript.name
    row = json.loads(longer.read_text().splitlines()[-1])
    row["uuid"], row["message"]["id"] = "0a0b0c0d-0000-4000-8000-000000000001", "msg_another"
    (tmp_path / "on").mkdir()
    (tmp_path / "on" / longer.name).write_text(longer.read_text() + json.dumps(row) + "\n")
    ask("import", "transcripts", str(tmp_path / "on"))
    assert figures()["total"]["requests"] == before["total"]["requests"] + 1


def test_prices_of_ones_own(ask: Ask, office: Workplace, capsys: pytest.CaptureFixture[str]) -> None:
    mine = {"as_of": "2026-12-01", "models": {OTHER: {"input": 1, "output": 1, "cache_read": 1, "cache_write": 1}}}
    (office.home / "prices.json").write_text(json.dumps(mine))
    said = json.loads(ask("usage", "--by", "model", "--json"))
    assert {row["name"]: row["cost"] for row in said["rows"]}[OTHER] == "0.031067"
    assert said["prices"]["file"] == f"{office.home}/prices.json"
    (office.home / "prices.json").write_text("{")
    assert "estimate, prices of 2026-11-13" in ask("usage")
    assert json.loads(ask("usage", "--json"))["prices"]["problem"].startswith(
        f"{office.home}/prices.json cannot be used"
    )
    with pytest.raises(SystemExit):
        main(["usage", "--home", str(office.home), "--project", str(office.folder("app"))])
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"memory-keeper: {office.home}/prices.json cannot be used")


def test_a_day_is_meant_with_all_of_it(ask: Ask) -> None:
    said = json.loads(ask("usage", "--since", "2026-04-01", "--until", "2026-04-01", "--json"))
    assert [(row["name"], row["requests"]) for row in said["rows"]] == [("2026-04-01", 1)]


def test_nothing_of_this_project(office: Workplace, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["usage", "--home", str(office.home), "--project", str(office.folder("empty"))])
    assert capsys.readouterr().out == "nothing is kept of this project; --all-projects looks in the others too\n"


def test_nothing_of_that_time(ask: Ask) -> None:
    there = "; there is something of 2026-03, 2026-04; --all-projects looks in the others too\n"
    assert ask("usage", "--since", "2027-01-01") == f"nothing is kept of that time{there}"
    assert ask("report", "--month", "2027-01") == f"nothing is kept of January 2027{there}"
    assert json.loads(ask("report", "--month", "2027-01", "--json"))["total"]["requests"] == 0


@pytest.mark.parametrize("command", ["usage", "report"])
def test_an_empty_store_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    with pytest.raises(SystemExit) as left:
        main([command, "--home", str(tmp_path / "nothing"), "--project", str(tmp_path)])
    assert left.value.code == 3
    assert "hint:" in capsys.readouterr().err


def test_what_nobody_has_read_yet_counts(ask: Ask, office: Workplace) -> None:
    session = office.sessions[0]
    for more in ((), ("--all-projects",)):
        before = json.loads(ask("usage", "--json", *more))["total"]["requests"]
        session.transcript.reply("One more.")
        session.transcript.append_to(session.path)
        assert json.loads(ask("usage", "--json", *more))["total"]["requests"] == before + 1


def test_a_month_in_every_form(ask: Ask, tmp_path: Path) -> None:
    assert ask("report", "--month", "2026-04").startswith(
        "## Monthly Report - April 2026\n\n**Sessions processed:** 3\n"
    )
    said: Any = json.loads(ask("report", "--month", "2026-04", "--format", "json"))
    assert said["total"]["tokens"] == 439_149
    assert said == json.loads(ask("report", "--month", "2026-04", "--json"))
    page = tmp_path / "report.html"
    assert ask("report", "--month", "2026-04", "--format", "html", "--out", str(page)) == f"written to {page}\n"
    assert page.read_text().startswith("<!doctype html>")
    page.write_text("mine")
    assert "is there already" in ask("report", "--month", "2026-04", "--out", str(page), code=1)
    assert page.read_text() == "mine"
    assert ask("report", "--month", "2026-04", "--out", str(page), "--force") == f"written to {page}\n"
    everywhere = ask("report", "--month", "2026-04", "--all-projects")
    assert "### By project" in everywhere
    assert "other \\| ‹b›project‹/b› | 1 | 1 | 2 | 3 | 4 |" in everywhere


def test_one_session(ask: Ask, office: Workplace) -> None:
    session = office.sessions[1].id
    assert ask("report", "--session", session[:8]).startswith(f"Session ID: {session}\n")
    assert json.loads(ask("report", "--session", session, "--json"))["peak"] == 90_000


def test_only_what_is_there_is_ticked_off(ask: Ask, office: Workplace) -> None:
    def ticks(session: str) -> list[str]:
        return ask("report", "--session", session).partition("Artifacts:\n")[2].splitlines()

    never, _, theirs = (session.id for session in office.sessions[:3])
    assert ticks(never)[1:] == ["  ✗ Summary generated", "  ✗ memory.md updated", "  ✗ Context cleaned"]
    assert ticks(theirs)[1:] == [
        "  ✓ Summary generated (58 tokens, by Claude Code)",
        "  ✗ memory.md updated",
        "  ✓ Context cleaned (by Claude Code)",
    ]
    ask("save")
    assert ticks(theirs)[2] == "  ✓ memory.md updated"
    head = ask("report", "--session", theirs)
    assert f"Began:              2026-04-10 00:00, in {office.folder('app')}\n" in head


@pytest.mark.parametrize("month", ["2026-13", "2026-4", "April", "2026-00", "99999-1", ""])
def test_what_is_no_month_is_refused(ask: Ask, month: str) -> None:
    assert "is not a month such as" in ask("report", "--month", month, code=2)


def test_a_session_has_no_page(ask: Ask) -> None:
    assert "--session takes no --month" in ask("report", "--session", "1", "--format", "html", code=1)


def test_a_file_that_cannot_be_written_is_named(ask: Ask, tmp_path: Path) -> None:
    assert f"{tmp_path}/no/such: No such file" in ask(
        "report", "--month", "2026-04", "--out", f"{tmp_path}/no/such", code=1
    )
