"""How a command was run here: its forms, how often they worked, and what worked instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_keeper.cli.main import main
from memory_keeper.model import Scope
from memory_keeper.search.how import how, normal_form
from tests.search.workshop import Work, Workshop


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def runs_tests(session: Work) -> Work:
    session.bash("cd server && pytest -q 2>&1 | tail -3", "3 passed in 0.1s")
    session.bash("pytest -q tests/test_a.py", "Exit code 1\nE   ValueError: bad price\n1 failed", failed=True)
    session.bash("pytest -q", "4 passed in 0.1s")
    session.bash("pytest -q", "Exit code 2\nERROR tests/test_b.py - ImportError: no tax", failed=True)
    session.bash("grep pytest pyproject.toml", "pytest = 8")
    return session


def test_forms_are_counted_with_what_became_of_them(shop: Workshop) -> None:
    found = how(shop.keep(runs_tests(shop.session())), "pytest", shop.scope())
    assert (found.times, found.ok, found.failed) == (4, 2, 2)
    first, second = found.forms
    assert (first.form, first.times, first.ok, first.failed, first.exits) == ("pytest -q", 3, 2, 1, ("2",))
    assert first.worked == "pytest -q"
    assert (second.form, second.worked, second.exits) == ("pytest -q tests/test_a.py", "", ("1",))
    assert {error.error for error in found.errors} >= {"ValueError: bad price"}


def test_the_form_that_worked_is_told_as_it_was_typed(shop: Workshop) -> None:
    session = shop.session()
    session.bash("cd server && FOO=1 pytest -q 2>&1 | tail -3", "3 passed in 0.1s")
    (form,) = how(shop.keep(session), "pytest", shop.scope()).forms
    assert form.worked == "cd server && FOO=1 pytest -q 2>&1 | tail -3"


def test_a_pipe_that_hides_a_failure_does_not_make_it_a_success(shop: Workshop) -> None:
    session = shop.session()
    session.bash("pytest -q | tail -3", "FAILED tests/test_a.py::test_x - assert 1 == 2\n1 failed, 3 passed")
    found = how(shop.keep(session), "pytest", shop.scope())
    assert (found.ok, found.failed) == (0, 1)


def test_the_first_words_tell_commands_apart(shop: Workshop) -> None:
    session = shop.session()
    session.bash("docker compose up -d", "Started")
    session.bash("docker build -t shop .", "built")
    session.bash("docker compose -f prod.yml up", "Started")
    store = shop.keep(session)
    assert how(store, "docker compose", shop.scope()).times == 2
    assert how(store, "docker", shop.scope()).times == 3
    assert how(store, "compose", shop.scope()).times == 0


def test_what_worked_instead(shop: Workshop) -> None:
    session = shop.session()
    session.bash("terraform plan --vars x", "Error: unknown flag: --vars", failed=True)
    session.bash("terraform plan -var-file=x", "Plan: 1 to add")
    session.bash("terraform apply", "Error: Invalid credentials for backend", failed=True)
    (one,) = how(shop.keep(session), "terraform", shop.scope()).instead
    assert one.failed.text == "terraform plan --vars x"
    assert one.error == "Error: unknown flag: --vars"
    assert one.worked.text == "terraform plan -var-file=x"


def test_a_tool_that_is_no_shell(shop: Workshop) -> None:
    session = shop.session()
    session.edit("a.py", "x", "y")
    session.edit("b.py", "x", "y", failed=True)
    found = how(shop.keep(session), "Edit", shop.scope())
    assert (found.times, found.ok, found.failed) == (2, 1, 1)
    assert found.errors[0].error == "String to replace not found"


def test_what_the_user_refused_was_not_run(shop: Workshop) -> None:
    session = shop.session()
    session.bash("terraform destroy", "The user doesn't want to proceed with this tool use.", failed=True)
    assert how(shop.keep(session), "terraform", shop.scope()).times == 0


def test_another_project_is_asked_only_on_request(shop: Workshop, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    store = shop.keep(runs_tests(shop.session(other)), shop.session())
    assert how(store, "pytest", shop.scope()).times == 0
    assert how(store, "pytest", Scope()).times == 4


def test_how_prints_forms_errors_and_what_worked_instead(shop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    session = runs_tests(shop.session())
    session.bash("pytest --qq", "ERROR: unrecognized arguments: --qq", failed=True)
    session.bash("pytest -qq", "3 passed")
    shop.keep(session)
    said = shop.told(capsys, "how", "pytest")
    assert "pytest  run 6 times: 3 worked, 3 failed" in said
    assert "what failed" in said and "unrecognized arguments" in said
    assert "what worked instead" in said
    assert shop.ask(capsys, "how", "pytest", "--limit", "1")["forms"][0]["times"] == 3


def test_how_finds_nothing_and_says_so(shop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    shop.keep(runs_tests(shop.session()))
    assert shop.told(capsys, "how", "kubectl") == "nothing found\n"
    with pytest.raises(SystemExit):
        main(["how", "kubectl", "--home", str(shop.home), "--project", str(shop.root)])
    assert "hint: it takes a program" in capsys.readouterr().err
    for odd in ("'; drop table event;--", "%", "\\", "\x00", " ", "a(b"):
        assert shop.ask(capsys, "how", odd)["times"] == 0


def test_a_normal_form_has_no_numbers_strings_and_roots() -> None:
    assert normal_form("gh pr view 12345 --json 'title, body, comments'") == "gh pr view # --json …"
    assert normal_form("pytest /home/a/shop/tests/x.py", ["/home/a/shop"]) == "pytest tests/x.py"


def test_options_are_words_after_the_first(shop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    session = shop.session()
    session.bash("git push --force origin main", "forced update")
    session.bash("git push origin main", "Everything up-to-date")
    session.bash("git push --all", "done")
    shop.keep(session)
    assert shop.ask(capsys, "how", "git", "push")["times"] == 3
    assert shop.ask(capsys, "how", "git", "push", "--force")["times"] == 1
    assert shop.ask(capsys, "how", "git", "push", "--force", "origin")["times"] == 1
    assert shop.ask(capsys, "how", "git", "push", "--all")["forms"][0]["form"] == "git push --all"


def test_a_tool_is_known_however_it_is_written(shop: Workshop) -> None:
    session = runs_tests(shop.session())
    session.edit("a.py", "x", "y")
    session.bash("edit notes.txt", "done")
    store = shop.keep(session)
    assert how(store, "Edit", shop.scope()).forms[0].form == "Edit"
    assert how(store, "edit", shop.scope()).forms[0].form == "edit notes.txt"  # a program comes first
    found = how(store, "EDIT", shop.scope())
    assert (found.name, found.forms[0].form) == ("Edit", "Edit")


def test_the_shell_is_told_by_its_programs(shop: Workshop) -> None:
    session = runs_tests(shop.session())
    session.bash("npm run build", "built")
    store = shop.keep(session)
    for name in ("Bash", "bash"):
        found = how(store, name, shop.scope())
        assert (found.times, found.failed) == (6, 2)
        assert [(form.form, form.times) for form in found.forms] == [("pytest", 4), ("npm run build", 1), ("grep", 1)]


def test_a_module_is_found_by_itself_and_by_what_runs_it(shop: Workshop) -> None:
    session = shop.session()
    session.bash("python3 -m shop.report --day 1", "printed")
    store = shop.keep(session)
    for name in ("shop.report", "python3 shop.report", "python3 -m shop.report", "python3"):
        assert how(store, name, shop.scope()).times == 1, name


def test_that_other_projects_know_it_is_said(
    shop: Workshop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    shop.keep(runs_tests(shop.session(other)), shop.session())
    said = shop.told(capsys, "how", "pytest")
    assert said == "nothing found in this project, but 4 times in others: --all-projects shows them\n"
    assert "run 4 times" in shop.told(capsys, "how", "pytest", "--all-projects")


def test_the_newest_runs_are_looked_at(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory_keeper.search.how.RUNS", 2)
    found = how(shop.keep(runs_tests(shop.session())), "pytest", shop.scope())
    assert (found.times, found.ok, found.failed) == (2, 1, 1)


def test_what_is_ours_comes_after_two_dashes(shop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    session = shop.session()
    session.bash("gh pr list --json title", "[]")
    session.bash("gh pr list", "none")
    shop.keep(session)
    with pytest.raises(SystemExit):
        main(["how", "--home", str(shop.home), "--project", str(shop.root), "gh", "pr", "--", "--json"])
    assert "gh pr --json  run once" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["note", "--home", str(shop.home), "add", "Ports", "--begin", "at", "7000"])
    assert "unrecognized arguments: --begin" in (said := capsys.readouterr().err) and "after -- they are words" in said
