"""`summarize`: notes now, whether due or not, and other wordings of them by whoever is asked."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory_keeper import wire
from memory_keeper.jobs.allowance import attempts
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note, origin
from memory_keeper.notes.kept_note import measure
from memory_keeper.store.events import covered_events, model_calls
from memory_keeper.store.home import Lock
from tests.command import Done, typed
from tests.machine import START, Machine
from tests.notes.summarizers.service import Service, answering, said_by_openai
from tests.rows import rows

GOOD = "The retry in src/retry.py makes 5 attempts because the server is slow."
Json = dict[str, Any]


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    made.act = answering(said_by_openai(GOOD))
    yield made
    made.close()


@pytest.fixture
def machine(machine: Machine) -> Machine:
    """A machine with one session that is still running."""
    work(machine)
    return machine


def work(machine: Machine) -> None:
    session = machine.session()
    session.start()
    session.turn(
        "Make the retry in src/retry.py do 5 attempts. The server is slow.",
        "The retry in src/retry.py now makes 5 attempts, because the server is slow.",
    )
    machine.settle()
    machine.catch_up()


def summarize(
    machine: Machine, *words: str, said: str = "", code: int = 0, environ: dict[str, str] | None = None
) -> Done:
    done = typed(machine.project, "summarize", *words, given=said, **(environ or {}))
    assert done.returncode == code, done.stderr
    return done


def asking(service: Service, **more: str) -> dict[str, str]:
    chosen = {"URL": service.url, "MODEL": "m", **more}
    return {f"MEMORY_KEEPER_SUMMARIZE_{name}": value for name, value in chosen.items()}


def document(done: Done) -> Json:
    said = json.loads(done.stdout)
    assert isinstance(said, dict)
    return said


def notes(machine: Machine, level: int = 1) -> list[Note]:
    """The notes of the project, in force."""
    with Keeper(str(machine.home)) as keeper:
        return [note for note in keeper.store.notes(keeper.project(str(machine.project)), level) if note.text]


# --- by rule ---------------------------------------------------------------------------------------------------------


def test_what_is_not_due_yet_is_noted_too(machine: Machine) -> None:
    assert notes(machine) == []
    said = summarize(machine).stdout
    assert said == "1 note made.\nNothing was asked of a model.\n"
    (note,) = notes(machine)
    assert "src/retry.py" in note.text and wire.loads(note.extra)["by"] == "extractive"
    assert (machine.project / ".claude/memory/memory.md").exists()
    assert summarize(machine).stdout.startswith("0 notes made.")
    assert notes(machine) == [note]


def test_json(machine: Machine) -> None:
    said = document(summarize(machine, "--json"))
    (note,) = notes(machine)
    assert said == {
        "made": [{"id": note.id, "level": 1, "session": note.session, "tokens": note.tokens}],
        "worded": [],
        "asked": 0,
        "tokens_in": 0,
        "tokens_out": 0,
        "cost": None,
    }


def test_nothing_kept_is_not_set_up(tmp_path: Path, machine: Machine) -> None:
    assert "Nothing is kept" in summarize(machine, "--home", str(tmp_path / "none"), code=3).stderr
    assert not (tmp_path / "none").exists()


def test_another_process_that_writes_notes_is_waited_for(machine: Machine) -> None:
    with Lock(str(machine.home), 1.0, "distil"):
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(START), "summarize"],
            cwd=machine.project,
            stdout=subprocess.PIPE,
            text=True,
        )
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1)
    assert process.communicate(timeout=60)[0].startswith("1 note made.")


# --- by a model ------------------------------------------------------------------------------------------------------


def test_the_settings_say_who_words_new_notes(machine: Machine, service: Service) -> None:
    done = summarize(machine, environ=asking(service, LEVEL1="openai"))
    (note,) = notes(machine)
    assert done.stdout == (
        f"1 note made.\n{note.replaces} is worded by openai (claude-x).\n"
        "A model was asked 1 time: 100 tokens in, 20 out.\n"
    )
    assert note.text == GOOD
    page = (machine.project / ".claude/memory/memory.md").read_text()
    assert GOOD in page


def test_with_words_new_ones_and_again_those_that_exist(machine: Machine, service: Service) -> None:
    body = said_by_openai(GOOD)
    service.act = answering({**body, "usage": {**body["usage"], "cost": 0.0125}})
    summarize(machine)
    assert "0 notes made" in summarize(machine, "--with", "openai", environ=asking(service)).stdout
    assert service.asked == []
    said = document(summarize(machine, "--with", "openai", "--again", "--json", environ=asking(service)))
    (note,) = notes(machine)
    assert (said["asked"], said["tokens_in"], said["tokens_out"], said["cost"]) == (1, 100, 20, 0.0125)
    assert said["worded"][0]["id"] == note.id and said["worded"][0]["ok"]
    assert "$0.0125" in summarize(machine, "--with", "openai", "--note", note.id, environ=asking(service)).stdout
    work(machine)
    assert "worded by openai" in summarize(machine, "--with", "openai", environ=asking(service)).stdout
    assert len(service.asked) == 3


def test_limit_and_level(machine: Machine, service: Service) -> None:
    work(machine)
    summarize(machine)
    chosen = asking(service)
    assert (
        len(
            document(summarize(machine, "--with", "openai", "--again", "--limit", "1", "--json", environ=chosen))[
                "worded"
            ]
        )
        == 1
    )
    assert summarize(machine, "--with", "openai", "--again", "--level", "2", environ=chosen).stdout.count("worded") == 0
    assert len(service.asked) == 1


def test_again_without_a_model_goes_back_to_the_rules(machine: Machine, service: Service) -> None:
    summarize(machine, "--with", "openai", environ=asking(service))
    (note,) = notes(machine)
    assert note.text == GOOD
    assert "Nothing was asked of a model." in summarize(machine, "--again", "--with", "extractive").stdout
    (now,) = notes(machine)
    assert wire.loads(now.extra)["by"] == "extractive" and now.text != GOOD


@rows("answer", "status", "code", "why")
def test_a_failure_is_one_line_and_changes_nothing(
    machine: Machine, service: Service, answer: str, status: int, code: int, why: str
) -> None:
    summarize(machine)
    before = notes(machine)
    service.act = answering(said_by_openai(answer), status)
    done = summarize(machine, "--with", "openai", "--again", code=code, environ=asking(service))
    first, *rest = done.stderr.splitlines()
    assert first.startswith(f"memory-keeper: {before[0].id} stays as it was: ") and why in first
    assert all(line.startswith("  hint: ") for line in rest)
    assert notes(machine) == before


def test_what_was_made_and_what_was_not_worded_is_partly_done(machine: Machine, service: Service) -> None:
    service.act = answering(said_by_openai("No."))
    done = summarize(machine, "--with", "openai", "--json", code=5, environ=asking(service))
    said = document(done)
    assert len(said["made"]) == 1 and not said["worded"][0]["ok"] and "names" not in said["worded"][0]["why"]


def test_a_service_that_is_not_there_is_asked_once(machine: Machine, service: Service) -> None:
    work(machine)
    summarize(machine)
    service.act = answering({}, 503)
    summarize(machine, "--with", "openai", "--again", code=4, environ=asking(service))
    assert len(service.asked) == 1


def test_without_a_key_it_says_what_to_do(machine: Machine) -> None:
    summarize(machine)
    done = summarize(machine, "--with", "anthropic", "--again", code=3, environ={"ANTHROPIC_API_KEY": ""})
    assert "ANTHROPIC_API_KEY" in done.stderr


# --- by two ----------------------------------------------------------------------------------------------------------


def kept(machine: Machine) -> tuple[list[Note], list[str], int]:
    """What is kept of the project's notes, all wordings of them and what they cover; how often a model was asked."""
    with Keeper(str(machine.home)) as keeper:
        firsts = keeper.store.notes(keeper.project(str(machine.project)))
        events = [
            event.id for note in firsts for event in covered_events(keeper.store, note.id) if event.kind != "spent"
        ]
        wordings = [wording for note in firsts for wording in keeper.store.wordings(origin(note))]
        return wordings, events, len(attempts(model_calls(keeper.store)))


def test_the_same_note_by_two_with_their_scores_and_neither_is_kept(machine: Machine, service: Service) -> None:
    body = said_by_openai(GOOD)
    service.act = answering({**body, "usage": {**body["usage"], "cost": 0.0125}})
    summarize(machine)
    before = kept(machine)
    (note,) = notes(machine)
    page = (machine.project / ".claude/memory/memory.md").read_bytes()
    said = summarize(machine, "--compare", "extractive,openai", environ=asking(service)).stdout
    assert said.startswith(f"Note {note.id}, level 1. Neither of these is kept.\n\nextractive\n  ")
    assert "\nopenai (claude-x)\n  " + GOOD + "\n\n" in said
    scores = [line.split(None, 1) for line in said.splitlines() if line.startswith("  tokens")]
    assert [tokens for _, tokens in scores] == [str(note.tokens), str(measure(GOOD))]
    assert said.count("  facts kept        ") == said.count("  would be taken    yes\n") == 2
    assert said.count("  ungrounded names  0\n") == 2
    assert "  asked             no model\n" in said
    assert said.endswith("  asked             100 tokens in, 20 out, $0.0125\n")
    assert kept(machine) == (*before[:2], before[2] + 1)
    assert (machine.project / ".claude/memory/memory.md").read_bytes() == page


def test_a_comparison_as_json_and_of_the_note_that_is_named(machine: Machine, service: Service) -> None:
    summarize(machine)
    (note,) = notes(machine)
    work(machine)
    summarize(machine)
    line = ("--compare", "openai, extractive", "--note", note.id, "--json")
    said = document(summarize(machine, *line, environ=asking(service)))
    assert (said["note"], said["level"]) == (note.id, 1)
    model, rule = said["compared"]
    facts = model["kept"] + model["lost"]
    assert facts == rule["kept"] + rule["lost"] >= model["kept"] > 0
    assert model == {
        "by": "openai",
        "text": GOOD,
        "tokens": measure(GOOD),
        "kept": model["kept"],
        "lost": facts - model["kept"],
        "ungrounded": [],
        "citations": model["citations"],
        "taken": True,
        "why": "",
        "tokens_in": 100,
        "tokens_out": 20,
        "cost": None,
    }
    assert list(rule) == list(model) and model["citations"] > 0 < rule["citations"]
    assert (rule["by"], rule["text"], rule["taken"], rule["tokens_in"]) == ("extractive", note.text, True, 0)


@pytest.mark.parametrize(
    ("answer", "shown", "names", "why"),
    [
        ("The retry in src/other.py makes 5 attempts.", "src/other.py", ["src/other.py"], "it names src/other.py"),
        ("I cannot do that.", "I cannot do that.", [], "it is no summary"),
        ("The key is sk-ant-api03-" + "a1B2" * 23 + "-AA.", "<REDACTED:", None, "there is a secret in it"),
    ],
)
def test_an_answer_that_would_not_be_taken_is_shown_with_the_reason(
    machine: Machine, service: Service, answer: str, shown: str, names: list[str] | None, why: str
) -> None:
    summarize(machine)
    before = kept(machine)
    service.act = answering(said_by_openai(answer))
    done = summarize(machine, "--compare", "extractive,openai", "--json", environ=asking(service))
    assert "a1B2" not in done.stdout
    _, model = document(done)["compared"]
    assert (model["taken"], model["citations"]) == (False, 0) and why in model["why"]
    assert shown in model["text"] and model["tokens"] > 0
    assert names is None or model["ungrounded"] == names
    assert (
        f"would be taken    no: {why}"
        in summarize(machine, "--compare", "extractive,openai", environ=asking(service)).stdout
    )
    assert kept(machine) == (*before[:2], before[2] + 2)


def test_one_that_cannot_be_asked_leaves_the_other_to_be_shown(machine: Machine, service: Service) -> None:
    summarize(machine)
    nobody = {**asking(service), "MEMORY_KEEPER_SUMMARIZE_URL": "", "ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": ""}
    done = summarize(machine, "--compare", "anthropic,extractive", "--json", code=5, environ=nobody)
    assert done.stderr.splitlines()[0].startswith("memory-keeper: anthropic gave no answer: No key for ")
    assert "  hint: set ANTHROPIC_API_KEY" in done.stderr
    model, rule = document(done)["compared"]
    assert (model["text"], model["kept"], model["lost"], model["taken"]) == ("", None, None, False) and model["why"]
    assert rule["taken"] and rule["text"]
    shown = summarize(machine, "--compare", "anthropic,extractive", code=5, environ=nobody).stdout
    assert "  no answer: No key for " in shown and rule["text"].splitlines()[0] in shown
    service.act = answering({}, 503)
    done = summarize(machine, "--compare", "extractive,openai", code=5, environ=asking(service))
    assert "openai gave no answer: " in done.stderr and "answered 503" in done.stderr


def test_where_neither_can_be_asked_it_fails_as_the_first_did(machine: Machine, service: Service) -> None:
    summarize(machine)
    service.act = answering({}, 503)
    done = summarize(machine, "--compare", "openai,anthropic", code=4, environ=asking(service))
    assert [line.split(" gave")[0] for line in done.stderr.splitlines() if "gave" in line] == [
        "memory-keeper: openai",
        "memory-keeper: anthropic",
    ]


@rows("words", "says")
def test_what_cannot_be_compared_is_said_before_anybody_is_asked(machine: Machine, words: list[str], says: str) -> None:
    assert says in summarize(machine, "--compare", *words, code=2).stderr


def test_where_there_is_no_note_none_is_made(machine: Machine) -> None:
    done = summarize(machine, "--compare", "extractive,openai", code=3)
    assert "no such note yet" in done.stderr and "`memory-keeper summarize`" in done.stderr
    assert notes(machine) == []
    assert "No note" in summarize(machine, "--compare", "extractive,openai", "--note", "note-none", code=1).stderr


# --- by an agent -----------------------------------------------------------------------------------------------------


def test_an_agent_is_given_a_file_and_hands_its_answer_in(machine: Machine) -> None:
    said = document(summarize(machine, "--with", "agent", "--json"))
    path = Path(said["path"])
    assert path == machine.project / ".claude/memory/delta_temp.txt"
    text = path.read_text()
    assert "never instructions" in text and "| prompt: Make the retry in src/retry.py" in text
    assert (machine.project / ".claude/memory/.gitignore").exists()
    (note,) = notes(machine)
    assert note.id == said["note"]

    done = summarize(machine, "--with", "agent", "--note", note.id, said=f"- {GOOD}\n")
    assert f"{note.id} is worded by agent." in done.stdout
    (now,) = notes(machine)
    assert (now.text, now.replaces, now.who) == (GOOD, note.id, "")
    assert wire.loads(now.extra)["by"] == "agent"
    assert not path.exists()
    assert "No note" in summarize(machine, "--with", "agent", code=3).stderr
    assert note.id in summarize(machine, "--with", "agent", "--again").stdout


def test_an_agent_is_believed_no_more_than_anybody(machine: Machine) -> None:
    summarize(machine, "--with", "agent")
    (note,) = notes(machine)
    for answer in ("I cannot.", "It is in other.py.", "ERROR: delta_temp.txt not found or empty", '{"a": 1}'):
        done = summarize(machine, "--with", "agent", "--note", note.id, said=answer, code=1)
        assert "stays as it was" in done.stderr
    assert notes(machine) == [note]


def test_a_note_that_is_not_there_or_the_users(machine: Machine) -> None:
    summarize(machine)
    (note,) = notes(machine)
    assert "No note" in summarize(machine, "--with", "agent", "--note", "note-none", said=GOOD, code=1).stderr
    with Keeper(str(machine.home)) as keeper, Lock(keeper.home, 5.0):
        keeper.writer.add(note._replace(id="note-mine", text="Mine.", replaces=note.id, who="user"))
    assert "yourself" in summarize(machine, "--with", "agent", "--note", note.id, said=GOOD, code=1).stderr
    assert "0 notes made" in summarize(machine, "--again", "--with", "extractive").stdout
    assert [one.text for one in notes(machine)] == ["Mine."]


def test_a_link_in_the_project_leads_nowhere(machine: Machine) -> None:
    summarize(machine)
    memory = machine.project / ".claude/memory"
    for path in sorted(memory.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    memory.rmdir()
    (machine.root / "elsewhere").mkdir()
    memory.symlink_to(machine.root / "elsewhere")
    assert "cannot be written" in summarize(machine, "--with", "agent", code=1).stderr
    assert list((machine.root / "elsewhere").iterdir()) == []


def test_nothing_is_handed_out_in_the_hosts_own_folder(machine: Machine) -> None:
    own = {"CLAUDE_CONFIG_DIR": str(machine.project / ".claude")}
    assert "Claude Code's own folder" in summarize(machine, "--with", "agent", code=1, environ=own).stderr
    assert not (machine.project / ".claude/memory/delta_temp.txt").exists()
