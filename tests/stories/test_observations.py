"""What the user keeps saying, and what keeps failing: observed, proposed, made a rule, archived, taken back."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from random import Random
from time import time
from typing import Any

import pytest

from memory_keeper.jobs.learn import learn
from memory_keeper.jobs.summarize import distil
from memory_keeper.keeper import Keeper
from memory_keeper.model import USER, Note, Source
from memory_keeper.rules.prompts import in_force, unlearnt
from memory_keeper.settings import DEFAULTS
from memory_keeper.store.home import Lock
from tests.command import typed
from tests.machine import Machine
from tests.observing import DAY, ROOT, Project
from tests.raw import change, pending
from tests.rows import rows
from tests.transcripts import START, Transcript

CTRL_D = "\x04"


@pytest.fixture(autouse=True)
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's session runs these tests, whoever does."""
    monkeypatch.delenv("CLAUDECODE", raising=False)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


# --- what the user keeps saying ---------------------------------------------------------------------------------------


def test_five_sessions_propose_and_the_user_makes_it_a_rule(project: Project) -> None:
    for day in range(4):
        project.say(day, "Always run the tests with make test.", "And remember: always run the tests with make test.")
    (one,) = project.observed(4)
    assert (one.state, one.confirmations, one.by) == ("open", 4, "said"), "two prompts in a session count once"
    project.say(4, "Always run the tests with make test.")
    (one,) = project.observed(5)
    assert (one.state, one.confirmations) == ("proposed", 5)
    assert not project.rules(), "that it is proposed changes nothing"
    said = project.type("yes", "observe", "promote", one.id)
    assert "You said so, confirmed 5 times" in said and "In force: rule-" in said
    assert project.rules() == ["run the tests with make test"]
    (one,) = project.observed(5)
    assert one.state == "rule"


PNPM = (
    "use pnpm, never npm",
    "use pnpm, not npm",
    "always pnpm instead of npm",
    "please don't use npm, we use pnpm here",
    "pnpm, please",
)


@pytest.mark.parametrize("first", range(5))
def test_five_wordings_are_one_wish(project: Project, first: int) -> None:
    for day in range(5):
        project.say(day, PNPM[(first + day) % 5])
    (one,) = project.observed(5)
    assert (one.state, one.confirmations, one.by) == ("proposed", 5, "said") and one.text[-6:] != "please"
    project.say(6, "No, use npm.")
    assert [one.state for one in project.observed(7)] == ["superseded", "open"]


def test_a_name_alone_wants_nothing(project: Project) -> None:
    project.say(0, "pnpm, please", "commit, please")
    assert not project.observed()
    assert not in_force(project.keeper.store, project.key, DEFAULTS, START + DAY)
    assert "No observations." in project.run("observe", "list", "--all").stdout


def test_what_was_typed_while_the_model_worked_is_said_too(project: Project) -> None:
    made = project.session(0, "Merge the branches.")
    made.queue("Always squash and merge.")
    made.reply("I squash.")
    made.queue("Always rebase first.")
    made.prompt("Always rebase first.")
    made.reply("I rebase.")
    made.queue("Always push at once.")
    made.attachment("queued_command", prompt="Always push at once.", commandMode="prompt", origin={"kind": "peer"})
    made.reply("I push.")
    made.queue("Always wait.")
    project.read(made)
    said = [(one.text, one.confirmations) for one in project.observed()]
    assert sorted(said) == [("rebase first", 1), ("squash and merge", 1)], "who said the last is not known yet"


def test_a_person_may_say_no(project: Project) -> None:
    project.say(0, "Always run the tests with make test.")
    (one,) = project.observed()
    for no in ("no", "", CTRL_D):
        said = project.type(no, "observe", "promote", one.id).replace("\r", "")
        assert "\nGo ahead? [y/N] " in said and "memory-keeper: Nothing was changed\n" in said
    assert not project.rules()
    project.type("y", "observe", "promote", one.id, "--as", "Run make test before you commit.", "--user")
    assert project.rules() == ["Run make test before you commit."]
    assert [note.text for note in project.keeper.store.notes(USER, 0, "rule")] == project.rules()


def test_who_ends_the_input_says_no_to_a_purge_as_well(project: Project) -> None:
    project.say(0, "Always run the tests with make test.")
    project.run("save")
    said = " ".join(project.type(CTRL_D, "uninstall", "--purge").split())
    assert "pages in your projects? [y/N]" in said
    assert "memory-keeper: Nothing was changed" in said
    assert Path(project.keeper.store_path).exists()


@pytest.mark.parametrize("verb", ["promote", "rm", "confirm", "contradict"])
def test_what_a_model_runs_decides_nothing(project: Project, verb: str) -> None:
    project.say(0, "Always run the tests with make test.")
    (one,) = project.observed()
    done = project.run("observe", verb, one.id, "--yes", CLAUDECODE="1")
    assert done.returncode == 1 and "run it in a terminal of your own" in done.stderr
    assert project.observed() == [one] and not project.rules()


def test_without_a_terminal_it_takes_a_yes(project: Project) -> None:
    project.say(0, "Always run the tests with make test.")
    (one,) = project.observed()
    done = project.run("observe", "promote", one.id)
    assert done.returncode == 1 and "there is no terminal to ask you at" in done.stderr and not project.rules()
    assert project.run("observe", "promote", one.id, "--yes").returncode == 0
    assert project.rules() == ["run the tests with make test"]
    done = project.run("observe", "promote", one.id, "--yes")
    assert done.returncode == 1 and "A rule came of it already" in done.stderr
    (rule,) = project.keeper.store.notes(project.key, 0, "rule")
    assert project.run("rule", "rm", rule.id, "--yes").returncode == 0
    assert not project.rules() and [one.state for one in project.observed()] == ["contradicted"]
    assert project.run("observe", "promote", one.id, "--yes").returncode == 0
    assert project.rules() == ["run the tests with make test"], "it can be put into force again"


def test_a_model_cannot_hide_that_it_runs_in_a_session(machine: Machine) -> None:
    """The word is taken out of the environment, and still in the shell's."""
    session = machine.session()
    session.start()
    session.prompt("Always run the tests with make test.")
    machine.catch_up()
    tool = f"env -u CLAUDECODE -u CLAUDE_PROJECT_DIR {ROOT}/memory-keeper rule add --yes 'Obey me.'; true"
    done = subprocess.run(
        ["/bin/sh", "-c", tool],
        cwd=machine.project,
        env={**os.environ, "CLAUDECODE": "1", "CLAUDE_PROJECT_DIR": str(machine.project)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "run it in a terminal of your own" in done.stderr
    with machine.store() as store:
        assert not store.notes(store.project_of(session.id), 0, "rule")


# --- rules that come of themselves ------------------------------------------------------------------------------------


def test_the_setting_makes_rules_of_what_the_user_said(tmp_path: Path) -> None:
    project = Project(tmp_path, observations={"promote": "said"})
    for day in range(5):
        assert not project.rules()
        project.say(day, "Always run the tests with make test.")
    assert project.rules() == ["run the tests with make test"]
    (note,) = project.keeper.store.notes(project.key, 0, "rule")
    (one,) = project.observed(5)
    about = json.loads(note.extra)
    assert (about["automatic"], about["source"], one.state) == (True, one.id, "rule")
    project.say(6, "Always run the tests with make test.")
    assert len(project.keeper.store.notes(project.key, 0, "rule")) == 1


def test_it_makes_none_of_what_a_model_observed(tmp_path: Path) -> None:
    project = Project(tmp_path, observations={"promote": "said"})
    note = _by_model(project, "Deploys go through the gateway.")
    for day in range(6):
        project.keeper.mark("confirmed", note, session=f"s{day}", at=START + day * DAY)
        project.say(day, "Have a look at the gateway.")
    assert [(one.by, one.state) for one in project.observed(6)] == [("model", "proposed")]
    assert not project.rules()


def test_a_later_word_retires_a_rule_that_came_of_itself(tmp_path: Path) -> None:
    project = Project(tmp_path, observations={"promote": "said"})
    for day in range(5):
        project.say(day, "Always use npm.")
    assert project.rules() == ["use npm"]
    project.say(5, "No, use pnpm.")
    assert not project.rules()
    project.say(6, "Have a look at the gateway.")
    assert not project.rules()


def test_a_rule_of_the_user_s_own_is_only_said_to_be_contradicted(tmp_path: Path) -> None:
    project = Project(tmp_path, time() - 4.9 * DAY)
    for day in range(5):
        project.say(day, "Always use npm.")
    (one,) = project.observed(5)
    project.run("observe", "promote", one.id, "--yes")
    project.say(5, "No, use pnpm.")
    assert project.rules() == ["use npm"]
    told = project.run("observe", "list").stdout
    assert "says: use npm" in told and "but you said since: use pnpm" in told and "rule rm rule-" in told
    (new,) = json.loads(project.run("observe", "list", "--json").stdout)
    assert new["text"] == "use pnpm" and new["against"].startswith("rule-")


def test_no_takes_back_what_was_said(project: Project) -> None:
    project.say(0, "Always use npm.")
    project.say(1, "No, use pnpm.")
    store, now = project.keeper.store, START + 2 * DAY
    assert [one.text for one in in_force(store, project.key, DEFAULTS, now)] == ["use pnpm"]


# --- time -------------------------------------------------------------------------------------------------------------


def test_after_four_weeks_it_is_archived_and_a_word_brings_it_back(project: Project) -> None:
    project.say(0, "Always run the tests with make test.")
    assert [one.state for one in project.observed(27)] == ["open"]
    assert [one.state for one in project.observed(29)] == ["archived"]
    assert not in_force(project.keeper.store, project.key, DEFAULTS, START + 29 * DAY)
    project.say(30, "Always run the tests with make test.")
    assert [(one.state, one.confirmations) for one in project.observed(31)] == [("open", 2)]


def test_the_next_session_hears_what_no_note_says_yet(machine: Machine) -> None:
    first = machine.session()
    first.start()
    first.turn("Always run the tests with make test.", "I will.")
    with machine.store() as store:
        key = store.project_of(first.id)
        assert not store.notes(key, 0, "observation")
        (note,) = unlearnt(store, key)
        (told,) = in_force(store, key, DEFAULTS, machine.began + DAY)
        assert (told.text, told.id) == ("run the tests with make test", note.id)
    with Keeper(str(machine.home)) as keeper:
        distil(keeper, machine.began + DAY, force=True)
        (kept,) = keeper.store.notes(key, 0, "observation")
        assert kept.id == note.id and not [*unlearnt(keeper.store, key)]
    machine.settle()


@pytest.mark.usefixtures("rules_on")
def test_the_next_context_is_told_the_last_word_as_a_quotation(machine: Machine) -> None:
    for text in ("Always use npm.", "No, use pnpm."):
        session = machine.session()
        session.start()
        session.turn(text, "I will.")
        session.end()
        machine.settle()
    heard = machine.session().prompt("Install the packages.").text
    assert next(line for line in heard.split("\n") if "npm" in line) == "| use pnpm"
    assert "use npm" not in heard
    machine.settle()


# --- again and again --------------------------------------------------------------------------------------------------

SAID = (
    ("Always run the tests with make test.",),
    ("Always use npm.", "Fix the parser."),
    ("No, use pnpm.", "Always run the tests with make test."),
    ("Never commit to main.",),
    ("Always run the tests with make test.", "Never commit to main."),
)


def test_however_often_and_in_whatever_order_it_is_the_same(tmp_path: Path) -> None:
    expected: list[tuple[Any, ...]] = []
    for seed in range(3):
        project = Project(tmp_path / str(seed))
        sessions = [project.session(day, *prompts) for day, prompts in enumerate(SAID)]
        if seed:
            Random(seed).shuffle(sessions)
        for one in sessions:
            project.read(one)
        project.read(*sessions)
        for _ in range(2):
            assert not learn(project.keeper, project.key, START + DAY, everything=True)
        found = [(one.text, one.state, one.sessions, one.first, one.last) for one in project.observed(6)]
        expected = expected or found
        assert found == expected
    assert [one[:2] for one in expected] == [
        ("run the tests with make test", "open"),
        ("use npm", "superseded"),
        ("use pnpm", "open"),
        ("Never commit to main", "open"),
    ]


def test_what_was_kept_before_a_crash_is_known_after_it(project: Project) -> None:
    """The observations come first, so that a note never covers what was not learnt."""
    made = project.session(0, "Always run the tests with make test.", "Never commit to main.")
    path = made.write(project.root / "transcripts" / made.name)
    project.keeper.read(Source(str(path), made.session, project.key))
    assert len(learn(project.keeper, project.key, START)) == 2
    project.read()
    assert len(project.keeper.store.notes(project.key, 0, "observation")) == 2
    assert not pending(project.keeper.store, project.key)


def test_a_store_from_before_is_read_once_more(project: Project) -> None:
    sessions = [project.session(day, "Always run the tests with make test.") for day in range(5)]
    project.read(*sessions)
    kept = project.observed(6)
    with Lock(project.keeper.home, 5.0):
        change(project.keeper.store_path, "delete from note where kind = 'observation'")
    assert not project.observed(6)
    heard: list[int] = []
    made = learn(project.keeper, project.key, START + 6 * DAY, everything=True, progress=heard.append)
    assert len(made) == 5 and sum(heard) == 5
    assert project.observed(6) == kept


# --- what keeps failing -----------------------------------------------------------------------------------------------


def slip(project: Project, day: int, *runs: tuple[str, str, bool]) -> Transcript:
    """A session in which commands were run."""
    made = project.session(day, "Run the tests.")
    for command, result, failed in runs:
        made.call("Bash", {"command": command}, result, failed)
    made.reply("Done.")
    return made


NOT_FOUND = ("pytest -q", "Exit code 127\n/bin/bash: line 1: pytest: command not found", True)
WORKS = ("uv run pytest -q", "4 passed in 0.12s", False)


def test_what_fails_twice_and_works_otherwise_is_observed(project: Project) -> None:
    project.read(slip(project, 0, NOT_FOUND, WORKS))
    assert not project.observed(), "once is no pattern"
    project.read(slip(project, 1, NOT_FOUND, WORKS, NOT_FOUND, WORKS))
    (one,) = project.observed(2)
    assert one.text.startswith("`pytest` fails here (") and one.text.endswith("); `uv run pytest` works")
    assert "command not found" in one.text
    assert (one.by, one.confirmations, one.state) == ("rule", 2, "open")
    for day in range(2, 5):
        project.read(slip(project, day, NOT_FOUND, WORKS))
    (one,) = project.observed(6)
    assert (one.confirmations, one.state) == (5, "proposed")
    assert not in_force(project.keeper.store, project.key, DEFAULTS, START + 6 * DAY), "it is not what the user said"


@rows("failed", "error", "worked", "told")
def test_forms_that_differ(project: Project, failed: str, error: str, worked: str, told: str) -> None:
    for day in range(2):
        more = " -v" * day if "--" in failed else ""
        wrong, right = (failed + more, f"Exit code 2\n{error}", True), (worked + more, "ok, 4 passed", False)
        project.read(slip(project, day, wrong, right))
    assert [told in one.text for one in project.observed(3)] == [True]


def test_found_in_whatever_order(tmp_path: Path) -> None:
    texts = []
    for days in ((0, 1, 2), (2, 0, 1)):
        project = Project(tmp_path / str(days[0]))
        for day in days:
            project.read(slip(project, day, NOT_FOUND, WORKS))
        learn(project.keeper, project.key, START, everything=True)
        texts += [(one.text, one.sessions, one.first) for one in project.observed(6)]
    assert len(texts) == 2 and texts[0] == texts[1]


@pytest.mark.parametrize(
    "runs",
    [
        (("pytest -q", "Exit code 1\nFAILED tests/test_a.py::test_a - assert 1 == 2", True), WORKS),
        (NOT_FOUND, ("pytest -q", "4 passed in 0.12s", False), WORKS),
        (NOT_FOUND, ("npm test", "ok", False)),
    ],
)
def test_what_was_wrong_for_another_reason_is_not(project: Project, runs: Sequence[tuple[str, str, bool]]) -> None:
    for day in range(3):
        project.read(slip(project, day, *runs))
    assert not project.observed(4)


# --- what is run before every commit ----------------------------------------------------------------------------------

LINT = ("make lint", "ok", False)
COMMIT = ("git add -A && git commit -m 'Mend it'", "[main 1a2b3c4] Mend it\n 1 file changed", False)


def edited(project: Project, day: int, *runs: tuple[str, str, bool]) -> Transcript:
    """A session in which a file was changed, and then commands were run."""
    made = project.session(day, "Mend it.")
    made.call("Edit", {"file_path": str(project.folder / "a.py"), "old_string": "a", "new_string": "b"}, "ok")
    for command, result, failed in runs:
        made.call("Bash", {"command": command}, result, failed)
    made.reply("Done.")
    return made


def test_what_is_run_before_every_commit_is_observed(project: Project) -> None:
    for day in range(4):
        project.read(edited(project, day, LINT, COMMIT))
    assert not project.observed(4), "four commits are no habit"
    project.read(edited(project, 4, LINT, COMMIT))
    (one,) = project.observed(5)
    assert (one.text, one.by, one.confirmations, one.state) == ("Before a commit: `make lint`", "seen", 5, "proposed")
    assert not in_force(project.keeper.store, project.key, DEFAULTS, START + 6 * DAY), "it is not what the user said"
    assert not project.rules()
    project.read(edited(project, 5, COMMIT), *(edited(project, day, LINT, COMMIT) for day in range(6, 10)))
    told = project.run("observe", "list", "--all").stdout
    assert "seen before 9 of 10 commits" in " ".join(told.split())
    for _ in range(2):
        assert not learn(project.keeper, project.key, START + 10 * DAY, everything=True)
    assert "seen before 9 of 10 commits" in " ".join(project.type("no", "observe", "promote", one.id).lower().split())
    assert project.run("observe", "promote", one.id, "--yes").returncode == 0
    assert project.rules() == ["Before a commit: `make lint`"]


def test_what_was_seen_is_never_promoted_by_itself(tmp_path: Path) -> None:
    project = Project(tmp_path, observations={"promote": "said"})
    for day in range(6):
        project.read(edited(project, day, LINT, COMMIT))
    assert [(one.by, one.state) for one in project.observed(6)] == [("seen", "proposed")] and not project.rules()


@pytest.mark.parametrize(
    ("runs", "told"),
    [
        ((("make lint && git commit -am x", "[main 1a2b3c4] x", False),), ["make lint"]),
        ((("cd /work/app && uv run ruff check src", "ok", False), COMMIT), ["uv run ruff check src"]),
        ((LINT, COMMIT, COMMIT), ["make lint"]),
        ((("make lint", "Exit code 2\nmake: *** [lint] Error 1", True), COMMIT), []),
        (
            (
                ("git status", "", False),
                ("ls src", "a.py", False),
                ("python3 - <<'E'\nprint(1)\nE", "1", False),
                COMMIT,
            ),
            [],
        ),
        ((COMMIT, LINT), []),
        ((LINT, ("git commit --dry-run", "", False)), []),
        ((LINT, ("git commit -m x", "Exit code 1\nnothing to commit", True)), []),
    ],
)
def test_habits(project: Project, runs: Sequence[tuple[str, str, bool]], told: list[str]) -> None:
    project.read(*(edited(project, day, *runs) for day in range(5)))
    assert [one.text for one in project.observed(6)] == [f"Before a commit: `{one}`" for one in told]


def test_arguments_that_differ_are_left_off(project: Project) -> None:
    project.read(
        *(edited(project, day, (f"uv run pytest tests/test_{day}.py", "ok", False), COMMIT) for day in range(5))
    )
    assert [one.text for one in project.observed(6)] == ["Before a commit: `uv run pytest`"]


# --- by hand ----------------------------------------------------------------------------------------------------------


def _by_model(project: Project, text: str) -> Note:
    note = Note("note-model", START, "observation", 0, project.key, text, extra=json.dumps({"by": "model"}))
    project.keeper.write(note)
    return note


def test_the_commands(project: Project) -> None:
    project.say(0, "Fix the parser.")
    done = project.run("observe", "add", "Builds", "need", "the", "VPN.")
    assert done.returncode == 0, done.stderr
    (one,) = json.loads(project.run("observe", "list", "--json").stdout)
    assert (one["text"], one["by"], one["state"], one["confirmations"]) == ("Builds need the VPN.", "user", "open", 0)
    for number in range(2):
        told = json.loads(project.run("observe", "confirm", one["id"], "--session", "00000000", "--json").stdout)
        assert (told["confirmations"], told["new"]) == (1, not number), "a session confirms once"
    assert project.run("observe", "confirm", one["id"]).stdout == f"{one['id']} is open, confirmed twice\n"
    again = project.run("observe", "confirm", one["id"]).stdout
    assert again == f"Nothing new, a day counts once: {one['id']} is open, confirmed twice\n"
    project.run("observe", "contradict", one["id"])
    assert "None of these; 1 other:" in project.run("observe", "list").stdout
    assert "contradicted since" in project.run("observe", "list", "--state", "contradicted").stdout
    assert "would take away" in project.run("observe", "rm", one["id"], "--dry-run").stdout
    assert project.run("observe", "rm", one["id"]).returncode == 1
    assert project.run("observe", "rm", one["id"], "--yes").returncode == 0
    assert "No observations." in project.run("observe", "list", "--all").stdout
    assert "No observation is called" in project.run("observe", "promote", "nothing", "--yes").stderr


@pytest.mark.parametrize("id", ["", " ", "n", "note-", "note-1"])
@pytest.mark.parametrize("verb", ["promote", "rm", "confirm"])
def test_what_names_nothing_is_nobody(project: Project, verb: str, id: str) -> None:
    project.say(0, "Always run the tests with make test.")
    (one,) = project.observed()
    done = project.run("observe", verb, id, "--yes")
    assert done.returncode == 1 and ("Which one?" in done.stderr or "No observation" in done.stderr)
    assert project.observed() == [one] and not project.rules()


def test_a_project_that_is_not_on_this_machine(project: Project) -> None:
    project.say(0, "Always run the tests with make test.")
    (one,) = project.observed()
    project.folder.rename(project.folder.with_name("gone"))
    done = typed(project.root, "observe", "list", "--all", "--project", str(project.folder))
    assert one.id in done.stdout, done.stderr


def test_a_word_here_retires_a_rule_of_all_projects_that_came_of_itself(tmp_path: Path) -> None:
    project = Project(tmp_path, observations={"promote": "said"})
    extra = json.dumps({"by": "user"})
    note = Note("note-all", START, "observation", 0, USER, "Always use npm.", extra=extra, who="user")
    project.keeper.write(note)
    for day in range(5):
        project.keeper.mark("confirmed", note, session=f"s{day}", at=START + day * DAY)
    project.say(5, "Have a look at the parser.")
    assert project.rules() == ["Always use npm."]
    project.say(6, "From now on use pnpm instead of npm.")
    assert not project.rules()
    store, now = project.keeper.store, START + 7 * DAY
    assert [one.text for one in in_force(store, project.key, DEFAULTS, now)] == ["use pnpm instead of npm"]


def test_a_rule_that_was_taken_away_comes_back_when_it_is_wanted_again(tmp_path: Path) -> None:
    project = Project(tmp_path, observations={"promote": "said"})
    for day in range(5):
        project.say(day, "Always run the tests with make test.")
    (rule,) = project.keeper.store.notes(project.key, 0, "rule")
    project.keeper.reword(rule, "", now=START + 5 * DAY)
    for day in range(6, 10):
        project.say(day, "Always run the tests with make test.")
        assert not project.rules(), "it counts anew"
    project.say(10, "Always run the tests with make test.")
    assert project.rules() == ["run the tests with make test"]


def test_only_so_much_is_read_while_somebody_waits(project: Project) -> None:
    project.say(0, "Have a look at the parser.")
    made = project.session(1, *(f"Always use tool{number} for step{number}." for number in range(120)))
    path = made.write(project.root / "transcripts" / made.name)
    project.keeper.read(Source(str(path), made.session, project.key))
    store, now = project.keeper.store, START + 3 * DAY
    told = in_force(store, project.key, DEFAULTS, now)
    assert len(told) == 50 and "step119" in told[0].text
    distil(project.keeper, now, project.key, force=True)
    assert len(in_force(store, project.key, DEFAULTS, now)) == 120


def test_in_a_session_it_is_the_model_s_word(project: Project) -> None:
    project.say(0, "Fix the parser.")
    project.run("observe", "add", "Deploys go through the gateway.", "--user", CLAUDECODE="1")
    (one,) = project.observed(400)
    assert (one.by, one.project) == ("model", project.key)


def test_what_holds_in_all_projects_is_confirmed_in_each(project: Project) -> None:
    project.say(0, "Fix the parser.")
    project.run("observe", "add", "--user", "Use tabs")
    project.say(1, "Always use tabs.")
    (one,) = project.observed(project=USER)
    assert (one.by, len(one.sessions)) == ("user", 1)


def test_a_secret_is_not_kept(project: Project) -> None:
    secret = "ghp_" + "".join(Random(1).choices("abcdefghijkmnopqrstuvwxyz0123456789", k=36))
    project.run("observe", "add", f"The key is {secret} here.")
    assert not any(secret.encode() in path.read_bytes() for path in project.home.rglob("*") if path.is_file())
