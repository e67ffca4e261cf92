"""Which files a prompt leads to: those it names, those that the same was done with, the newest; never another's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_keeper.model import Event, Placed, Source
from memory_keeper.search.files import Likely, likely
from memory_keeper.store.sqlite import SqliteStore
from tests.rows import rows

HERE, ELSEWHERE = "dir:/home/ann/shop", "dir:/home/ann/blog"
DAY = 86400.0
# what each session said, wrote and read, the oldest first
STORY = (
    ("Sessions expire too early", ("src/session_cleanup.go", "src/session_cleanup_test.go"), ("src/clock.go",)),
    ("The coupon discount is wrong for bulk orders", ("src/pricing/rules.go", "docs/pricing.md"), ("src/cart.go",)),
    ("Ship the invoice as PDF", ("src/invoice/render.go",), ("src/cart.go", "go.mod")),
    ("Make the login page faster", ("web/LoginPage.tsx", "web/index.tsx"), ("web/app.css",)),
    ("Retry the webhook when the network is down", ("src/hooks/webhook.go", "src/hooks/hooks.go"), ("src/clock.go",)),
    ("Say hello in the footer", ("web/Footer.tsx", "lib/hooks.go"), ()),
)


def keep(
    store: SqliteStore, project: str, session: str, at: float, story: tuple[str, tuple[str, ...], tuple[str, ...]]
) -> None:
    """Record a session of one prompt, one answer and its calls."""
    said, wrote, read = story
    root = project.removeprefix("dir:")
    happened = [("prompt", said, "", ""), ("reply", f"I will do this: {said}.", "", "")]
    happened += [("call", f"file_path: {root}/{path}", "Read", f"{root}/{path}") for path in read]
    happened += [("call", f"file_path: {root}/{path}", "Edit", f"{root}/{path}") for path in wrote]
    source = store.begin(Source(f"/t/{session}.jsonl", session, project))
    placed = [
        Placed(Event(f"{session}:{n}", at + n, kind, session, project, text, tool, path), n)
        for n, (kind, text, tool, path) in enumerate(happened)
    ]
    store.record(source, placed)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    made = SqliteStore(str(tmp_path_factory.mktemp("files") / "store.db"))
    made.name_project([HERE], HERE)
    made.name_project([ELSEWHERE], ELSEWHERE)
    for number, story in enumerate(STORY, 1):
        keep(made, HERE, f"s{number}", number * DAY, story)
    keep(made, ELSEWHERE, "b1", 9 * DAY, ("Retry the webhook coupon login", ("post.go", "src/secret_plan.go"), ()))
    yield made
    made.close()


def paths(store: SqliteStore, text: str, limit: int = 10, before: float = 0.0) -> list[str]:
    return [one.path for one in likely(store, text, HERE, limit, before)]


def first(store: SqliteStore, text: str) -> Likely:
    return likely(store, text, HERE)[0]


@rows("text", "path")
def test_a_file_that_is_named_comes_first(store: SqliteStore, text: str, path: str) -> None:
    assert first(store, text)[::2] == (path, "named")


def test_words_of_a_path_name_it_too(store: SqliteStore) -> None:
    assert paths(store, "the session cleanups are late")[:2] == [
        "src/session_cleanup.go",
        "src/session_cleanup_test.go",
    ]
    assert first(store, "invoices render badly").path == "src/invoice/render.go"


def test_what_the_same_was_done_with_comes_before_what_is_newer(store: SqliteStore) -> None:
    found = likely(store, "the discount of a coupon again, for bulk", HERE)
    assert {found[0].path, found[1].path} == {"src/pricing/rules.go", "docs/pricing.md"}
    assert found[0].why == "worked on with this"
    assert found[0].events[0].startswith("s2:")


def test_without_a_hint_the_newest_come_first(store: SqliteStore) -> None:
    found = likely(store, "carry on, please", HERE)
    assert {one.path for one in found[:2]} == {"web/Footer.tsx", "lib/hooks.go"}
    assert {one.why for one in found[:2]} == {"recent"}
    assert found == likely(store, "", HERE)


def test_what_was_written_comes_before_what_was_read(store: SqliteStore) -> None:
    order = paths(store, "", 100)
    assert order.index("src/hooks/webhook.go") < order.index("src/clock.go")
    assert sorted(order) == sorted({path for _, wrote, read in STORY for path in (*wrote, *read)})


def test_the_evidence_is_calls_about_the_file(store: SqliteStore) -> None:
    for one in likely(store, "webhook coupon", HERE, 100):
        assert 1 <= len(one.events) <= 3
        for id in one.events:
            event = store.event(id)
            assert event is not None
            assert event.path == f"/home/ann/shop/{one.path}"


def test_what_came_later_is_not_known_yet(store: SqliteStore) -> None:
    assert set(paths(store, "web/Footer.tsx", 100, before=3 * DAY)) == {
        *("src/session_cleanup.go", "src/session_cleanup_test.go", "src/clock.go"),
        *("src/pricing/rules.go", "docs/pricing.md", "src/cart.go"),
    }
    assert paths(store, "web/Footer.tsx", before=DAY) == []


def test_the_limit_holds(store: SqliteStore) -> None:
    assert len(paths(store, "hooks", 3)) == 3
    assert paths(store, "hooks", 0) == []


@given(st.text(st.characters(exclude_categories=()), max_size=80), st.integers(0, 30))
@example("NEAR(" * 40, 5)
@example('"' * 33 + "webhook", 5)
@example("." * 5000 + "/" * 5000, 5)
@example("\0\ud800 src/secret_plan.go", 5)
def test_any_text_will_do_and_no_other_projects_file_comes(store: SqliteStore, text: str, limit: int) -> None:
    known = {path for _, wrote, read in STORY for path in (*wrote, *read)}
    found = likely(store, text, HERE, limit)
    assert len(found) == min(limit, len(known))
    assert {one.path for one in found} <= known
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert likely(store, text, "dir:/unknown", limit) == []


def test_every_worktree_has_the_same_file(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "store.db"))
    store.name_project(["dir:/w/one", "dir:/w/two", "dir:/w/one/trees/three"], "remote:host/w")
    for number, path in enumerate(("/w/one/a.py", "/w/two/a.py", "/w/one/trees/three/a.py", "/elsewhere/a.py", "b.py")):
        source = store.begin(Source(f"/t/{number}.jsonl", f"s{number}", "remote:host/w"))
        event = Event(f"e{number}", 1.0 + number, "call", f"s{number}", "remote:host/w", "", "Write", path)
        store.record(source, [Placed(event, 0)])
    found = {one.path: one for one in likely(store, "a", "remote:host/w")}
    assert set(found) == {"a.py", "/elsewhere/a.py", "b.py"}
    assert set(found["a.py"].events) == {"e0", "e1", "e2"}
    store.close()


def test_folders_that_were_searched_are_no_files(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "store.db"))
    source = store.begin(Source("/t/s.jsonl", "s", "p"))
    calls = [("Grep", "/w/src"), ("Glob", "/w"), ("Bash", ""), ("Read", "/w/src/a.py")]
    store.record(
        source,
        [Placed(Event(f"e{n}", 1.0, "call", "s", "p", "", tool, path), n) for n, (tool, path) in enumerate(calls)],
    )
    assert [one.path for one in likely(store, "src", "p")] == ["/w/src/a.py"]
    store.close()


def test_an_empty_store_has_no_files(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "store.db"))
    assert likely(store, "anything", "p") == []
    store.close()
