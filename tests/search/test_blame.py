"""Which prompts touched a file, what was said of it, and what was taken back."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from memory_keeper import wire
from memory_keeper.extract.facts import Fact, dump
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note, Scope
from memory_keeper.search.blame import blame
from memory_keeper.store.events import session_events
from tests.search.workshop import Work, Workshop


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def adds_a_rebate(session: Work) -> Work:
    session.prompt("Give loyal customers a rebate.")
    session.read_file("src/cart.py", "total = 1\n")
    session.say("I need the total after tax, because the law says so.")
    session.edit("src/cart.py", "total = 1", "total = 2")
    session.edit("src/cart.py", "x = 1", "x = 2")
    session.bash("git commit -qam 'Add the rebate'", "[main 1a2b3c4] Add the rebate\n 1 file changed, 2 insertions(+)")
    return session


def test_a_touch_has_its_prompt_its_reason_and_its_commit(shop: Workshop) -> None:
    store = shop.keep(adds_a_rebate(shop.session()))
    found = blame(store, "src/cart.py", shop.scope())
    assert found.path == "src/cart.py"
    (touch,) = found.touches
    assert touch.prompt and touch.prompt.text == "Give loyal customers a rebate."
    assert touch.why[0].text == "I need the total after tax, because the law says so."
    assert touch.commit and touch.commit.text == "1a2b3c4 Add the rebate"
    assert [(edit.old, edit.new, edit.reverted) for edit in touch.edits] == [
        ("total = 1", "total = 2", False),
        ("x = 1", "x = 2", False),
    ]
    assert touch.reads == 1
    for id in (touch.prompt.id, touch.why[0].id, touch.commit.id, touch.last, *(edit.id for edit in touch.edits)):
        assert store.event(id)


def test_the_newest_prompt_comes_first(shop: Workshop) -> None:
    first, second = adds_a_rebate(shop.session()), shop.session()
    second.prompt("Round it down.")
    second.edit("src/cart.py", "total = 2", "total = 3")
    second.prompt("And say so in the docs.")
    second.read_file("src/cart.py", "total = 3")
    found = blame(shop.keep(first, second), "cart.py", shop.scope())
    assert [touch.prompt.text for touch in found.touches if touch.prompt] == [
        "And say so in the docs.",
        "Round it down.",
        "Give loyal customers a rebate.",
    ]
    assert len(blame(shop.keep(), "cart.py", shop.scope(), limit=2).touches) == 2


@pytest.mark.parametrize("form", ["src/cart.py", "./src/cart.py", "cart.py", "{root}/src/cart.py"])
def test_a_file_is_known_by_any_form_of_its_path(shop: Workshop, form: str) -> None:
    store = shop.keep(adds_a_rebate(shop.session()))
    assert len(blame(store, form.format(root=shop.root), shop.scope()).touches) == 1
    assert blame(store, "art.py", shop.scope()).touches == []


def test_a_name_that_several_files_have_is_asked_back(shop: Workshop) -> None:
    session = adds_a_rebate(shop.session())
    session.edit("test/cart.py", "a", "b")
    store = shop.keep(session)
    found = blame(store, "cart.py", shop.scope())
    assert (found.touches, found.others) == ([], ("src/cart.py", "test/cart.py"))
    assert len(blame(store, "test/cart.py", shop.scope()).touches) == 1


def test_an_edit_that_was_taken_back_is_marked(shop: Workshop) -> None:
    session = adds_a_rebate(shop.session())
    later = shop.session()
    later.prompt("Leave the total alone.")
    later.edit("src/cart.py", "total = 2", "total = 1")
    found = blame(shop.keep(session, later), "src/cart.py", shop.scope())
    assert [edit.reverted for touch in found.touches for edit in touch.edits] == [True, True, False]


def test_what_git_put_back_is_marked(shop: Workshop) -> None:
    session = shop.session()
    session.prompt("Try something.")
    session.edit("src/cart.py", "total = 1", "total = 9")
    session.bash("git checkout -- src/cart.py", "")
    session.edit("src/cart.py", "total = 1", "total = 2")
    (touch,) = blame(shop.keep(session), "src/cart.py", shop.scope()).touches
    assert [edit.reverted for edit in touch.edits] == [True, False]


def test_an_edit_that_failed_is_none(shop: Workshop) -> None:
    session = shop.session()
    session.prompt("Change it.")
    session.edit("src/cart.py", "a", "b", failed=True)
    (touch,) = blame(shop.keep(session), "src/cart.py", shop.scope()).touches
    assert (touch.edits, touch.failed) == ((), 1)


@pytest.mark.parametrize("command", ["git mv src/basket.py src/cart.py", "cd . && mv src/basket.py src/cart.py"])
def test_a_file_that_was_moved_has_its_past(shop: Workshop, command: str) -> None:
    session = shop.session()
    session.prompt("Write the basket.")
    session.write_file("src/basket.py", "total = 1\n")
    session.bash(command, "")
    session.prompt("Now the total.")
    session.edit("src/cart.py", "total = 1", "total = 2")
    found = blame(shop.keep(session), "src/cart.py", shop.scope())
    assert [touch.path for touch in found.touches] == ["src/cart.py", "src/basket.py"]


@pytest.mark.git
def test_two_checkouts_of_a_project_have_one_file(shop: Workshop, tmp_path: Path) -> None:
    for words in ("init -q", "commit -q --allow-empty -m first", "remote add origin https://example.org/shop.git"):
        who = ("-c", "user.name=x", "-c", "user.email=x@example.invalid")
        subprocess.run(["git", *who, "-C", str(shop.root), *words.split()], check=True)
    shutil.copytree(shop.root, other := tmp_path / "copy")
    store = shop.keep(adds_a_rebate(shop.session()), adds_a_rebate(shop.session(other)))
    assert len(blame(store, "src/cart.py", shop.scope()).touches) == 2


def test_another_project_is_asked_only_on_request(shop: Workshop, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    store = shop.keep(adds_a_rebate(shop.session(other)), shop.session())
    assert blame(store, "cart.py", shop.scope()).touches == []
    assert len(blame(store, "cart.py", Scope()).touches) == 1
    store = shop.keep(adds_a_rebate(shop.session()))
    assert len(blame(store, "cart.py", Scope()).others) == 2


def test_blame_prints_prompts_reasons_and_edits(shop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    shop.keep(adds_a_rebate(shop.session()))
    said = shop.told(capsys, "blame", "cart.py")
    assert said.startswith("src/cart.py")
    for part in ('asked: "Give loyal', "because the law", "`total = 1` -> `total = 2`", "committed 1a2b3c4", "2 edits"):
        assert part in said
    assert shop.ask(capsys, "blame", "src/cart.py")["touches"][0]["reads"] == 1


def test_blame_finds_nothing_and_says_so(shop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    shop.keep(adds_a_rebate(shop.session()))
    for odd in ("no/such.py", "/", "..", "%", "'", "a\nb", "src/"):
        assert shop.told(capsys, "blame", odd) == "nothing found\n"


def test_the_facts_of_a_session_say_what_was_decided(shop: Workshop) -> None:
    session = shop.session()
    session.prompt("How do we keep prices?")
    session.say("I decided to keep prices in cents in cart.py, because floats lose money.")
    session.edit("src/cart.py", "price = 1.0", "price = 100")
    session.prompt("Now the receipts.")
    session.say("Done.")
    store = shop.keep(session)
    said = next(event for event in session_events(store, session.session) if event.kind == "reply")
    facts = [
        Fact("decision", said.text, (said.id,), said.at),
        Fact("decision", "Receipts are kept for a year.", (said.id,), said.at),
        Fact("edit", "src/cart.py", (said.id,), said.at, "tool"),
    ]
    with Keeper(str(shop.home)) as keeper:
        extra = wire.dumps({"facts": dump(facts)})
        keeper.writer.add(Note("note-1", said.at, "session", 1, said.project, "Prices.", said.session, extra=extra))
    (touch,) = blame(store, "src/cart.py", shop.scope()).touches
    assert [why.text for why in touch.why if why.text.startswith("Decided: ")] == [f"Decided: {said.text}"]


def test_worktrees_that_are_gone_have_the_projects_files(shop: Workshop, tmp_path: Path) -> None:
    for root in (shop.root, tmp_path / "gone"):
        store = shop.keep(
            adds_a_rebate(shop.session(root)),
            adds_a_rebate(shop.session(root / ".worktrees/4")),
            adds_a_rebate(shop.session(root / ".worktrees/alex/feature")),
            adds_a_rebate(shop.session(root / ".claude/worktrees/quick-fox")),
        )
        found = blame(store, "cart.py", shop.scope(root))
        assert (found.path, found.others, len(found.touches)) == ("src/cart.py", (), 4)
        assert {touch.path for touch in found.touches} == {"src/cart.py"}


def test_a_name_is_clear_where_one_file_was_moved_to_be_the_other(shop: Workshop) -> None:
    session = shop.session()
    session.prompt("Write it down.")
    session.write_file("docs/plan.md", "1\n")
    session.bash(f"mkdir -p docs/old && mv {shop.root}/docs/plan.md {shop.root}/docs/old/plan.md", "")
    session.prompt("Go on.")
    session.edit("docs/old/plan.md", "1", "2")
    store = shop.keep(session)
    found = blame(store, "plan.md", shop.scope())
    assert found.path == "docs/old/plan.md"
    assert [touch.path for touch in found.touches] == ["docs/old/plan.md", "docs/plan.md"]
    assert len(blame(store, "docs/plan.md", shop.scope()).touches) == 1


@pytest.mark.parametrize(
    "command", ["rm src/cart.py", "git rm -f src/cart.py", "cd src && rm cart.py", "rm {root}/src/cart.py"]
)
def test_the_prompt_that_deleted_it_is_told(shop: Workshop, capsys: pytest.CaptureFixture[str], command: str) -> None:
    session = adds_a_rebate(shop.session())
    session.prompt("Throw the cart away.")
    session.bash("rm src/other.py", "")
    session.bash("rm -i src/cart.py", "rm: cannot remove", failed=True)
    session.bash(command.format(root=shop.root), "")
    found = blame(shop.keep(session), "src/cart.py", shop.scope())
    touch = found.touches[0]
    assert touch.prompt and touch.prompt.text == "Throw the cart away."
    assert [(edit.tool, edit.new.split()[-1].endswith("cart.py")) for edit in touch.edits] == [("Bash", True)]
    assert "ran `" in shop.told(capsys, "blame", "src/cart.py")


def test_a_file_that_is_edited_all_the_time_is_asked_about_no_more_than_is_told(shop: Workshop) -> None:
    session = shop.session()
    for number in range(60):
        session.prompt(f"Change it, {number}.")
        session.edit("src/cart.py", f"a{number}", f"b{number}")
        session.edit("src/cart.py", f"c{number}", f"d{number}")
    store = shop.keep(session)
    asked: list[str] = []
    store.db.set_trace_callback(asked.append)
    found = blame(store, "src/cart.py", shop.scope(), limit=3)
    store.db.set_trace_callback(None)
    assert [touch.prompt.text for touch in found.touches if touch.prompt] == [
        "Change it, 59.", "Change it, 58.", "Change it, 57.",
    ]  # fmt: skip
    assert [len(touch.edits) for touch in found.touches] == [2, 2, 2]
    assert len(asked) < 40


def test_sessions_at_the_same_time_keep_their_own_prompts(shop: Workshop) -> None:
    one, two = shop.session(), shop.session(days=-1.0)  # both of one day
    for number in range(4):
        for name, session in (("one", one), ("two", two)):
            session.prompt(f"{name} {number}")
            session.edit("src/cart.py", f"{name}{number}", "x")
            session.edit("src/cart.py", f"{name}{number}", "y")
    found = blame(shop.keep(one, two), "src/cart.py", shop.scope(), limit=5)
    for touch in found.touches:
        assert touch.prompt and [edit.old for edit in touch.edits] == [touch.prompt.text.replace(" ", "")] * 2


def test_that_other_projects_know_it_is_said(
    shop: Workshop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    shop.keep(adds_a_rebate(shop.session(other)), shop.session())
    said = shop.told(capsys, "blame", "cart.py")
    assert said == "nothing found in this project, but once in others: --all-projects shows them\n"


def test_a_project_whose_directory_is_gone_can_be_named(
    shop: Workshop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.keep(adds_a_rebate(shop.session(tmp_path / "gone")))
    shop.root = tmp_path / "gone"
    assert shop.told(capsys, "blame", "src/cart.py").startswith("src/cart.py\n")
    assert shop.ask(capsys, "how", "git", "commit")["times"] == 1
    assert shop.told(capsys, "fix", "no such error at all") == "nothing found\n"


def test_the_heading_names_the_file_once(shop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    session = shop.session()
    session.prompt("Write the cart.")
    session.write_file("src/cart.py", "total = 1\n")
    shop.keep(session)
    assert shop.told(capsys, "blame", "cart.py").splitlines()[0] == "src/cart.py was deleted since"


def test_a_moment_that_is_the_end_lies_outside(shop: Workshop) -> None:
    store = shop.keep(adds_a_rebate(shop.session()))
    (touch,) = blame(store, "cart.py", shop.scope()).touches
    last = touch.edits[-1].at
    (touch,) = blame(store, "cart.py", shop.scope()._replace(until=last)).touches
    assert len(touch.edits) == 1
    (touch,) = blame(store, "cart.py", shop.scope()._replace(since=last)).touches
    assert len(touch.edits) == 1
