"""What fixed an error before: only where a later success of the same command says so."""

from __future__ import annotations

import io
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.model import Scope
from memory_keeper.search.fixes import Fix, answer, hint
from memory_keeper.store.sqlite import SqliteStore
from tests.search.workshop import Work, Workshop

MISSING = "Traceback (most recent call last):\n  File \"a.py\", line {}\nModuleNotFoundError: No module named 'yaml'"
UNDEFINED = "# shop\nsrc/cart.go:{}:3: undefined: discount"


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def fixes(store: SqliteStore, error: str, scope: Scope, limit: int = 3) -> list[Fix]:
    return answer(store, error, scope, limit).fixes


def by_an_edit(session: Work) -> Work:
    """The compiler complains, a file is mended, the compiler is content."""
    session.prompt("Build it.")
    session.bash("go build ./...", UNDEFINED.format(12), failed=True)
    session.say("The problem is that discount was renamed.")
    session.edit("src/cart.go", "discount(x)", "rebate(x)")
    session.bash("go build ./...", "")
    return session


def by_a_command(session: Work) -> Work:
    session.prompt("Run it.")
    session.bash("python a.py", MISSING.format(3), failed=True)
    session.bash("pip install pyyaml", "Successfully installed pyyaml-6.0")
    session.bash("python a.py", "done")
    return session


def test_the_edit_before_the_next_success_is_the_fix(shop: Workshop) -> None:
    store = shop.keep(by_an_edit(shop.session()))
    (fix,) = fixes(store, UNDEFINED.format(99), shop.scope())
    assert fix.signature == "undefined: discount"
    assert fix.command == "go build ./..."
    assert fix.files == (f"{shop.root}/src/cart.go",)
    assert [step.text for step in fix.how] == [
        "edited src/cart.go: `discount(x)` -> `rebate(x)`",
        'said: "The problem is that discount was renamed."',
    ]
    assert fix.confidence >= 0.7
    for id in (fix.failed, fix.solved, *(step.id for step in fix.how)):
        assert store.event(id)


def test_a_command_may_be_the_fix(shop: Workshop) -> None:
    store = shop.keep(by_a_command(shop.session()))
    (fix,) = fixes(store, MISSING.format(700), shop.scope())
    assert fix.how[0].text == "ran `pip install pyyaml`"


def test_another_form_of_the_command_may_be_the_fix(shop: Workshop) -> None:
    session = shop.session()
    session.bash("git show abc --no-stat", "Exit code 128\nfatal: unrecognized argument: --no-stat", failed=True)
    session.bash("git show abc", "commit abc")
    (fix,) = fixes(shop.keep(session), "fatal: unrecognized argument: --no-stat", shop.scope())
    assert fix.how[0].text == "ran `git show abc` instead of `git show abc --no-stat`"


def test_another_name_of_the_program_may_be_the_fix(shop: Workshop) -> None:
    session = shop.session()
    session.bash("python manage.py migrate", "bash: python: command not found", failed=True)
    session.bash("python3 manage.py migrate", "OK")
    (fix,) = fixes(shop.keep(session), "bash: python: command not found", shop.scope())
    assert fix.how[0].text == "ran `python3 manage.py migrate` instead of `python manage.py migrate`"


def test_what_did_not_help_is_not_the_fix(shop: Workshop) -> None:
    """The error was seen again after the first edit: only what came after that counts."""
    session = shop.session()
    session.bash("go build ./...", UNDEFINED.format(1), failed=True)
    session.edit("src/other.go", "discount", "discounts")
    session.bash("go build ./...", UNDEFINED.format(2), failed=True)
    session.edit("src/cart.go", "discount(x)", "rebate(x)")
    session.bash("go build ./... 2>&1 | tail -5", "")
    (fix,) = fixes(shop.keep(session), UNDEFINED.format(3), shop.scope())
    assert [step.text.partition(":")[0] for step in fix.how] == ["edited src/cart.go"]


def test_what_followed_once_the_error_had_given_way_to_another_is_not_the_fix(shop: Workshop) -> None:
    session = shop.session()
    session.bash("go build ./...", UNDEFINED.format(1), failed=True)
    session.edit("src/cart.go", "discount(x)", "rebate(x)")
    session.bash("go build ./...", "src/main.go:3:1: missing return", failed=True)
    session.edit("src/main.go", "}", "return nil }")
    session.bash("go build ./...", "")
    store = shop.keep(session)
    (fix,) = fixes(store, UNDEFINED.format(3), shop.scope())
    assert [step.text.partition(":")[0] for step in fix.how] == ["edited src/cart.go"]
    (other,) = fixes(store, "src/main.go:9:1: missing return", shop.scope())
    assert [step.text.partition(":")[0] for step in other.how] == ["edited src/main.go"]


def test_what_was_taken_back_is_not_the_fix(shop: Workshop) -> None:
    session = shop.session()
    session.bash("go build ./...", UNDEFINED.format(1), failed=True)
    session.edit("src/cart.go", "discount(x)", "rebate(x)")
    session.edit("src/cart.go", "rebate(x)", "discount(x)")
    session.edit("src/price.go", "func rebate", "func discount")
    session.bash("go build ./...", "")
    (fix,) = fixes(shop.keep(session), UNDEFINED.format(3), shop.scope())
    assert [step.text.partition(":")[0] for step in fix.how] == ["edited src/price.go"]


def test_an_edit_elsewhere_in_the_same_stretch_is_left_out(shop: Workshop) -> None:
    session = shop.session()
    session.bash("go build ./...", UNDEFINED.format(1), failed=True)
    session.edit("README.md", "old words", "new words")
    session.edit("src/cart.go", "discount(x)", "rebate(x)")
    session.bash("go build ./...", "")
    (fix,) = fixes(shop.keep(session), UNDEFINED.format(3), shop.scope())
    assert [step.text.partition(":")[0] for step in fix.how] == ["edited src/cart.go"]


# --- weak evidence ----------------------------------------------------------------------------------------------------


def never_solved(session: Work) -> None:
    session.bash("go build ./...", UNDEFINED.format(1), failed=True)
    session.edit("src/cart.go", "discount(x)", "rebate(x)")


def by_another_program(session: Work) -> None:
    never_solved(session)
    session.bash("npm test", "3 passed")


def of_another_target(session: Work) -> None:
    session.bash("go test ./cart", "--- FAIL: TestCart (0.1s)\nFAIL", failed=True)
    session.bash("go test ./price", "ok  \tshop/price\t0.1s")


def behind_a_pipe(session: Work) -> None:
    never_solved(session)
    session.bash("go build ./... 2>&1 | head -5", "src/cart.go:4:1: missing return")


def after_many_edits(session: Work) -> None:
    never_solved(session)
    for number in range(30):
        session.edit(f"src/part{number}.go", f"a{number}", f"b{number}")
    session.bash("go build ./...", "")


def of_looking_around(session: Work) -> None:
    session.bash("ls src/discount", "ls: cannot access 'src/discount': No such file or directory", failed=True)
    session.bash("mkdir src/discount", "")
    session.bash("ls src/discount", "")


def by_running_it_again(session: Work) -> None:
    session.bash("go build ./...", UNDEFINED.format(1), failed=True)
    session.bash("go build ./...", "")


@pytest.mark.parametrize(
    ("story", "error"),
    [
        (never_solved, UNDEFINED),
        (by_another_program, UNDEFINED),
        (of_another_target, "--- FAIL: TestCart (0.{}s)"),
        (behind_a_pipe, UNDEFINED),
        (after_many_edits, UNDEFINED),
        (of_looking_around, "ls: cannot access 'src/discount': No such file or directory"),
        (by_running_it_again, UNDEFINED),
    ],
)
def test_weak_evidence_says_nothing_but_that_it_was_seen(shop: Workshop, story: object, error: str) -> None:
    session = shop.session()
    assert callable(story)
    story(session)
    found = answer(shop.keep(session), error.format(9), shop.scope())
    assert found.fixes == []
    assert found.seen == 1


def test_what_a_command_only_prints_was_not_seen(shop: Workshop) -> None:
    session = shop.session()
    session.bash("cat build.log", UNDEFINED.format(1))
    session.read_file("build.log", UNDEFINED.format(1))
    assert answer(shop.keep(session), UNDEFINED.format(9), shop.scope()).seen == 0


def test_what_the_user_refused_was_not_seen(shop: Workshop) -> None:
    session = shop.session()
    session.bash("rm -rf x", "The user doesn't want to proceed with this tool use. undefined: discount", failed=True)
    assert answer(shop.keep(session), UNDEFINED.format(9), shop.scope()).seen == 0


def test_a_failure_behind_a_pipe_counts(shop: Workshop) -> None:
    session = shop.session()
    session.bash("go build ./... 2>&1 | tail -5", UNDEFINED.format(1))
    session.edit("src/cart.go", "discount(x)", "rebate(x)")
    session.bash("go build ./... 2>&1 | tail -5", "")
    (fix,) = fixes(shop.keep(session), UNDEFINED.format(9), shop.scope())
    assert fix.how[0].text.startswith("edited src/cart.go")


# --- where it looks ---------------------------------------------------------------------------------------------------


def test_another_project_is_asked_only_on_request(shop: Workshop, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    store = shop.keep(by_an_edit(shop.session(other)), shop.session())
    assert answer(store, UNDEFINED.format(1), shop.scope()).seen == 0
    assert len(fixes(store, UNDEFINED.format(1), Scope())) == 1


def test_every_session_has_one_fix_and_the_surest_comes_first(shop: Workshop) -> None:
    poor = shop.session()
    poor.bash("go build ./...", UNDEFINED.format(1), failed=True)
    poor.edit("src/price.go", "x", "y")
    poor.bash("go build ./...", "")
    store = shop.keep(by_an_edit(shop.session()), poor, by_an_edit(by_an_edit(shop.session())))
    found = fixes(store, UNDEFINED.format(1), shop.scope())
    assert len(found) == 3
    assert [fix.session[-1] for fix in found] == ["3", "2", "1"]
    assert found[0].confidence > found[2].confidence
    assert len(fixes(store, UNDEFINED.format(1), shop.scope(), limit=1)) == 1


def test_a_part_of_the_error_is_enough_to_ask(shop: Workshop) -> None:
    store = shop.keep(by_a_command(shop.session()))
    (fix,) = fixes(store, "No module named yaml", shop.scope())
    assert fix.signature == "ModuleNotFoundError: No module named 'yaml'"
    assert fixes(store, "yaml", shop.scope()) == []


# --- unasked ----------------------------------------------------------------------------------------------------------


def test_a_hint_comes_from_another_session_only(shop: Workshop) -> None:
    session = by_an_edit(shop.session())
    store = shop.keep(session)
    found = hint(store, UNDEFINED.format(77), shop.scope(), "another")
    assert found and found.session == session.session
    assert hint(store, UNDEFINED.format(77), shop.scope(), session.session) is None


def test_a_hint_is_sure_and_exact(shop: Workshop) -> None:
    poor = shop.session()
    poor.bash("go build ./...", UNDEFINED.format(1), failed=True)
    poor.edit("src/price.go", "x", "y")
    poor.bash("go build ./...", "")
    store = shop.keep(poor)
    assert fixes(store, UNDEFINED.format(2), shop.scope())
    assert hint(store, UNDEFINED.format(2), shop.scope()) is None
    assert hint(store, "undefined: other", shop.scope()) is None
    assert hint(store, "", shop.scope()) is None
    assert hint(store, "14 passed", shop.scope()) is None


def test_what_the_host_explains_itself_is_no_hint(shop: Workshop) -> None:
    error = "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>"
    session = shop.session()
    given = {"file_path": f"{shop.root}/a.py", "old_string": "a", "new_string": "b"}
    session.call("Edit", given, error, True)
    session.read_file("a.py", "a")
    session.call("Edit", given, "Done.")
    store = shop.keep(session)
    assert hint(store, error, shop.scope()) is None
    assert answer(store, error, shop.scope()).seen == 1


# --- the command ------------------------------------------------------------------------------------------------------


def test_fix_tells_what_was_done(shop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    shop.keep(by_an_edit(shop.session()))
    said = shop.told(capsys, "fix", "undefined: discount")
    assert "seen once" in said
    assert "edited src/cart.go: `discount(x)` -> `rebate(x)`" in said
    assert "then it worked" in said


def test_fix_reads_a_whole_output_from_stdin(
    shop: Workshop, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.keep(by_a_command(shop.session()))
    monkeypatch.setattr("sys.stdin", io.StringIO("noise\n" * 900 + MISSING.format(5)))
    found = shop.ask(capsys, "fix", "-")
    assert found["signature"] == "ModuleNotFoundError: No module named 'yaml'"
    assert found["fixes"][0]["how"][0]["text"] == "ran `pip install pyyaml`"


def test_fix_says_when_it_was_seen_and_never_solved(shop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    sessions = [shop.session() for _ in range(3)]
    for session in sessions:
        never_solved(session)
    shop.keep(*sessions)
    assert "seen 3 times" in shop.told(capsys, "fix", "undefined: discount")
    assert "not solved here" in shop.told(capsys, "fix", "undefined: discount")


def test_fix_finds_nothing_and_says_so(shop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    shop.keep(by_an_edit(shop.session()))
    assert shop.told(capsys, "fix", "undefined: nothing of the sort") == "nothing found\n"
    assert shop.ask(capsys, "fix", "hm")["fixes"] == []


def test_what_is_told_shows_no_escape_sequences(shop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    session = shop.session()
    session.bash("go build ./...", f"\x1b[31m{UNDEFINED.format(1)}\x1b[0m", failed=True)
    session.edit("src/cart.go", "discount(x)", "\x1b]0;title\x07\u202erebate(x)")
    session.bash("go build ./...", "")
    shop.keep(session)
    said = shop.told(capsys, "fix", "undefined: discount")
    assert "rebate(x)" in said
    assert not {"\x1b", "\x07", "\u202e"} & set(said)


def test_any_text_may_be_asked_for(shop: Workshop) -> None:
    kept = shop.keep(by_an_edit(shop.session()), by_a_command(shop.session()))

    @given(st.text(max_size=200))
    def ask(text: str) -> None:
        for asked in (text, f"Error: {text}", f"ModuleNotFoundError: {text}"):
            assert all(fix.confidence > 0 for fix in fixes(kept, asked, Scope()))
            hint(kept, asked, Scope())

    ask()


def test_a_name_is_enough_of_a_dotted_one(shop: Workshop) -> None:
    said = "src/cart.go:{}:2: missing cases in switch of type shop.Kind: shop.KindA (exhaustive)"
    session = shop.session()
    session.bash("golangci-lint run", said.format(7), failed=True)
    session.edit("src/cart.go", "default:", "case shop.KindA:")
    session.bash("golangci-lint run", "0 issues.")
    store = shop.keep(session)
    for asked in ("missing cases in switch of type Kind", "missing cases in switch of type shop.Kind", said.format(1)):
        assert len(fixes(store, asked, shop.scope())) == 1, asked
    assert fixes(store, "missing cases in switch of type Sort", shop.scope()) == []


def test_the_heading_is_the_line_that_was_asked_about(shop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    session = shop.session()
    session.bash("make id", "error: id must be 12 lowercase letters", failed=True)
    session.edit("id.py", "A" * 12, "a" * 12)
    session.bash("make id", "done")
    shop.keep(session)
    said = shop.told(capsys, "fix", "$ make id\nerror: id must be 40 lowercase letters")
    assert said.startswith("error: id must be 40 lowercase letters\nseen once")


def test_a_module_is_told_with_what_runs_it(shop: Workshop) -> None:
    session = shop.session()
    session.bash("FOO=1 timeout 9 python3 -m shop.report", "KeyError: 'total_price'", failed=True)
    session.edit("shop/report.py", "total_price", "total")
    session.bash("python3 -m shop.report", "done")
    (fix,) = fixes(shop.keep(session), "KeyError: 'total_price'", shop.scope())
    assert fix.command == "python3 -m shop.report"


def test_what_an_error_says_may_begin_with_a_dash(shop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    session = shop.session()
    session.bash("tool build --alle", "error: unknown option --alle for build", failed=True)
    session.bash("tool build --all", "done")
    shop.keep(session)
    assert "--all" in shop.told(capsys, "fix", "error:", "unknown", "option", "--alle", "for", "build")


def test_that_other_projects_know_it_is_said(
    shop: Workshop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    shop.keep(by_an_edit(shop.session(other)), shop.session())
    said = shop.told(capsys, "fix", UNDEFINED.format(1))
    assert said == "nothing found in this project, but once in others: --all-projects shows them\n"


def test_a_store_of_an_earlier_version_gets_its_index(shop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    shop.keep(by_an_edit(shop.session())).close()
    with sqlite3.connect(shop.home / "store.db") as db:
        tables = db.execute("select name from sqlite_master where sql like 'create virtual table%'").fetchall()
        for (name,) in tables:
            db.execute(f"drop table {name}")
        db.execute("pragma user_version = 2")
    db.close()
    assert tables
    assert "edited src/cart.go" in shop.told(capsys, "fix", UNDEFINED.format(1))
