"""What a person wants forgotten is in no byte of anything that we keep, and the host's transcript does not bring it
back; all the rest stays."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from time import time
from typing import Any

import pytest

from memory_keeper.jobs import forget as job
from memory_keeper.jobs.forget import What
from memory_keeper.keeper import Keeper
from memory_keeper.store import open_mirror
from tests.command import memory_keeper, typed
from tests.machine import Machine, Session
from tests.raw import change

SECRET = "plover-xyzzy-42"
STAYS = "thunderbird-7"
Asked = Callable[..., Any]


def traces(machine: Machine, text: str = SECRET) -> list[str]:
    """The files of the home and of the project that have a text, archives unpacked."""
    found = []
    for path in [*machine.files(), *machine.files(machine.project)]:
        data = path.read_bytes()
        data += gzip.decompress(data) if path.suffix == ".gz" else b""
        if text.encode() in data or text.partition("-")[0].encode() in data:
            found.append(str(path.relative_to(machine.root)))
    return found


def mirror(machine: Machine, session: Session) -> None:
    """Keep a session's lines as a bot does that resumes from them, a subagent's too."""
    kept = open_mirror(str(machine.home / "sessions.db"))
    for part in ("", "subagents/agent-a1"):
        kept.append("-app", session.id, part, session.transcript.lines, lambda known: {"first": SECRET})


def told(machine: Machine) -> tuple[Session, Session]:
    """A session that says it everywhere, and another that goes on from there."""
    first, second = machine.session(), machine.session()
    first.start()
    first.prompt(f"We decided that the queue is called {SECRET}, not {STAYS}. Always use that name in the worker.")
    first.call("Write", {"file_path": f"/app/{SECRET}.py", "content": f"NAME = '{SECRET}'"}, f"wrote {SECRET}")
    first.call("Bash", {"command": "make test"}, f"Error: {SECRET} is not defined", failed=True)
    first.reply(f"I named the queue {SECRET}, because the broker asks for it. Next: rename the worker to {SECRET}.")
    first.prompt(f"Please write down {SECRET} in the docs too.")
    first.end()
    machine.catch_up()
    memory_keeper(machine, "save")
    second.start()
    second.turn("Where were we?", f"The other session left: the worker is to be renamed. {STAYS} is the old name.")
    memory_keeper(machine, "save")
    mirror(machine, first)
    assert {"store.db", "archive", "sessions.db"} <= {Path(one).parts[1] for one in traces(machine) if "keeper" in one}
    assert any("memory.md" in one for one in traces(machine))
    return first, second


def test_a_session_is_forgotten(machine: Machine, asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(machine.project)
    first, second = told(machine)
    would = asked("forget", "--session", first.id[:8], "--dry-run")["would_forget"]
    assert would["events"] > 5
    assert would["transcripts"] == [str(first.path)]
    refused = typed(machine.project, "forget", "--session", first.id)
    assert refused.returncode == 1
    assert traces(machine)
    memory_keeper(machine, "forget", "--session", first.id, "--yes")
    assert traces(machine) == []
    assert traces(machine, STAYS)
    second.prompt("Go on then.")
    memory_keeper(machine, "import", "transcripts", str(machine.transcripts))
    memory_keeper(machine, "save")
    machine.session().start()
    assert traces(machine) == []
    with machine.store() as store:
        assert [one.id for one in store.sessions() if one.id == first.id] == []
        assert store.problems() == []
    first.transcript.at = time()
    first.start("resume")
    first.turn(f"Now the exchange is called {STAYS}.", "Done, and the tests pass.")
    assert traces(machine) == []
    with machine.store() as store:
        assert "exchange" in store.latest(store.projects()[0], "prompt", 1, (first.id,))[0].text


def test_a_text_is_masked_everywhere(machine: Machine, asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    """One leaked secret does not take what was said around it."""
    monkeypatch.chdir(machine.project)
    _, second = told(machine)
    memory_keeper(machine, "export", "--format", "jsonl")
    memory_keeper(machine, "note", "add", "fact", f"Ask Ann about {SECRET}.")
    with machine.store() as store:
        before = store.counts()["events"]
    assert asked("forget", "--text", SECRET, "--yes")["left"] == []
    assert traces(machine) == []
    with machine.store() as store:
        assert store.counts()["events"] == before
        assert store.problems() == []
    (machine.home / "store.db").unlink()
    typed(machine.project, "doctor", "--fix")
    memory_keeper(machine, "import", "transcripts", str(machine.transcripts))
    second.turn(f"It was called {SECRET}, wasn't it?", "Yes.")
    second.end()
    memory_keeper(machine, "save")
    assert [one for one in traces(machine) if not one.endswith(".spool")] == []
    assert asked("search", "broker asks for it")


def test_what_turns_out_to_be_a_secret_is_taken_out_of_every_copy(
    machine: Machine, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(machine.project)
    first, _ = told(machine)
    memory_keeper(machine, "backup")
    env = machine.project / ".env"
    env.write_text(f"QUEUE_PASSWORD={SECRET}\n")
    assert "hold what is known as a secret by now" in typed(machine.project, "doctor", "--secrets").stdout
    assert asked("forget", "--secrets", "--dry-run")["would_forget"]["masked"] > 5
    memory_keeper(machine, "forget", "--secrets", "--yes")
    assert traces(machine) == [str(env.relative_to(machine.root))]
    assert traces(machine, STAYS)
    memory_keeper(machine, "import", "transcripts", str(first.path))
    machine.session().start()
    assert traces(machine) == [str(env.relative_to(machine.root))]
    assert "none that is known stands in what is kept" in typed(machine.project, "doctor", "--secrets").stdout
    assert "nothing of that is kept" in memory_keeper(machine, "forget", "--secrets", "--yes").lower()


def test_what_only_a_bot_keeps_is_forgotten_too(
    machine: Machine, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its transcripts are kept whole, so they have what the store never had."""
    monkeypatch.chdir(machine.project)
    one = machine.session()
    one.start()
    one.turn("Hello.", "Hello!")
    memory_keeper(machine, "save")
    one.transcript.prompt(f"The password is {SECRET}, and {STAYS} is the user.")
    mirror(machine, one)
    assert traces(machine) == ["keeper/sessions.db"]
    assert asked("forget", "--text", SECRET, "--dry-run")["would_forget"]["masked"] == 2
    memory_keeper(machine, "forget", "--text", SECRET, "--yes")
    assert traces(machine) == []
    assert traces(machine, STAYS) == ["keeper/sessions.db"]
    change(machine.home / "sessions.db", "update line set text = '{\"" + SECRET + "' where seq = 1")
    memory_keeper(machine, "forget", "--text", SECRET, "--yes")
    assert traces(machine) == []
    for place in (0, 5_000):  # what nobody can read is no file to resume from
        mirror(machine, one)
        data = (machine.home / "sessions.db").read_bytes()
        damage = f"no page, and {SECRET} in it ".encode() * 400
        (machine.home / "sessions.db").write_bytes(data[:place] + damage)
        memory_keeper(machine, "forget", "--text", SECRET, "--yes")
        assert traces(machine) == [] and not (machine.home / "sessions.db").exists()


@pytest.mark.parametrize("which", ["event", "file", "time"])
def test_a_part_of_a_session_is_forgotten(
    which: str, machine: Machine, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(machine.project)
    one = machine.session()
    one.start()
    one.turn(f"First make the parser strict, as in {STAYS}.", "It refuses more now.")
    path = "/app/plover.py"
    if which == "file":
        one.call("Write", {"file_path": path, "content": f"A = '{SECRET}'"}, f"wrote {SECRET}")
    else:
        one.prompt(f"The launch code is {SECRET}, keep it to yourself, will you?")
    memory_keeper(machine, "save")
    assert traces(machine)
    found = [hit for hit in asked("search", SECRET) if hit["level"] == 0 and hit["kind"] != "handoff"]
    said = {"event": [found[0]["id"]], "file": ["--file", path], "time": []}[which]
    if which == "time":
        with machine.store() as store:
            moment = min(store.event(hit["id"]).at for hit in found)  # type: ignore[union-attr]
        with Keeper(str(machine.home)) as keeper:
            what, _ = job.plan(keeper, What(keeper.project(str(machine.project)), since=moment))
            job.forget(keeper, what)
    else:
        memory_keeper(machine, "forget", *said, "--yes")
    memory_keeper(machine, "import", "transcripts", str(machine.transcripts))
    memory_keeper(machine, "save")
    assert traces(machine) == []
    assert traces(machine, STAYS)


def test_a_project_is_forgotten(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(machine.project)
    told(machine)
    other = machine.session(machine.folder("work/other"))
    other.start()
    other.turn("Name the goose.", "It is called Waldorf now.")
    memory_keeper(machine, "note", "add", "fact", f"Ask Ann about {SECRET}.")
    memory_keeper(machine, "forget", "--everything", "--yes")
    memory_keeper(machine, "import", "transcripts", str(machine.transcripts))
    assert traces(machine) == []
    with machine.store() as store:
        assert [one.id for one in store.sessions()] == [other.id]


@pytest.mark.parametrize("where", ["choose", "_rewrite_archives", "_drop_archives", "_clean_home", "_clean_pages"])
def test_killed_on_the_way_the_next_goes_on(where: str, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """With two servers' connections open, and a process that dies at each step."""
    monkeypatch.chdir(machine.project)
    first, second = told(machine)
    real, calls = getattr(job, where), []

    def die(*given: Any) -> Any:
        calls.append(1)
        done = real(*given)
        if len(calls) > (where == "choose"):
            raise KeyboardInterrupt
        return done

    with Keeper(str(machine.home)) as one, Keeper(str(machine.home)) as two:
        for server in (one, two):
            server.catch_up()
            assert server.store.projects()
        with monkeypatch.context() as dying:
            dying.setattr(job, where, die)
            assert typed(machine.project, "forget", "--session", first.id, "--yes").returncode
        assert (machine.home / "forget.json").exists()
        two.catch_up()
        second.turn("And now?", "All is renamed.")  # a hook's writer does what is due
        second.end()
        assert not (machine.home / "forget.json").exists()
        assert traces(machine) == []
        assert one.store.sessions(), [*machine.home.iterdir()]
        one.catch_up()
    assert traces(machine) == []
