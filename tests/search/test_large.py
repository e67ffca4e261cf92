"""A store that has more of everything than is ever looked at: what is found there, beside what reading it all finds.

The caps are patched small, so that some hundreds of rows are a large store. Nothing else is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.model import ROLES, Event, Note, Placed, Scope, Source
from memory_keeper.search import candidates, find
from memory_keeper.search.query import read_query
from memory_keeper.search.scope import scoped
from memory_keeper.store.index import REPEATS
from memory_keeper.store.sqlite import SqliteStore

# nearly every row has the first, hardly any the last; no two are forms of one word, or one typing error apart
WORDS = ("alder", "birch", "cedar", "dogwood", "juniper", "hornbeam", "sycamore", "tamarind")
OFTEN = (0.9, 0.7, 0.5, 0.3, 0.15, 0.05, 0.02, 0.005)
PROJECTS = ("dir:/one", "dir:/two", "dir:/three")
DAY, FIRST, DAYS = 86_400.0, 1_700_000_000.0 // 86_400 * 86_400, 90
CAP, COUNTED, MOST = (40, 26), 200, (30, 20)  # in the proportions that they have
FILES = ("src/shop/cart.py", "src/shop/order.py", "docs/plan.md")
TOOLS = ("Bash", "Edit", "mcp__other__lookup")
FILTERS = ("time", "tool", "role", "kind", "session", "file", "level")
KINDS = ("prompt", "reply", "queued", "result", "session", "fact")
ROWS = 900  # of the first project; the others have less


class Kept(NamedTuple):
    """A row as we know it without asking the store."""

    id: str
    at: float
    kind: str
    level: int
    session: str
    project: str
    text: str
    tool: str = ""

    @property
    def words(self) -> list[str]:
        return "".join(char if char.isalnum() else " " for char in self.text.lower()).split()


def sentence(random: Random, number: int) -> str:
    said = [word for word, often in zip(WORDS, OFTEN, strict=True) if random.random() < often]
    random.shuffle(said)
    return " ".join([*said, f"n{number}x"])


def fill(store: SqliteStore, random: Random, project: str, rows: int) -> list[Kept]:
    """Some sessions of one project, with calls and their results, and the notes about them."""
    kept: list[Kept] = []
    sessions = [f"{project[-3:]}-{n}" for n in range(6)]
    sources = {name: store.begin(Source(f"/t/{name}.jsonl", name, project)) for name in sessions}
    for number in range(rows):
        session = sessions[number * len(sessions) // rows]
        at = FIRST + DAYS * DAY * number / rows
        name = f"{project[-3:]}{number}"
        if random.random() < 0.4:
            tool, file = random.choice(TOOLS), random.choice(FILES)
            said = [
                ("call", f"file_path: {file} {sentence(random, 2 * number)}", tool),
                ("result", sentence(random, 2 * number + 1), tool),
            ]
        else:
            kind = random.choice(("prompt", "reply", "reply", "thinking", "queued", "told"))
            said = [(kind, sentence(random, 2 * number), "")]
        events = [
            Event(
                f"{name}:{place}",
                at + place,
                kind,
                session,
                project,
                text,
                tool=tool if kind == "call" else "",
                ref=f"r{name}" if tool else "",
            )
            for place, (kind, text, tool) in enumerate(said)
        ]
        store.record(sources[session], [Placed(event, 10 * number + n) for n, event in enumerate(events)])
        kept += [
            Kept(event.id, event.at, event.kind, 0, session, project, event.text, tool)
            for event, (_, _, tool) in zip(events, said, strict=True)
        ]
    for number in range(rows // 6):
        level = random.choice((0, 1, 1, 2))
        kind = ("fact", "session", "outline")[level]
        at = FIRST + DAYS * DAY * random.random()
        note = Note(f"{project[-3:]}note{number}", at, kind, level, project, sentence(random, 10**6 + number))
        store.add(note._replace(session=random.choice(sessions)))
        if random.random() < 0.08:  # then nobody finds the first wording
            note = note._replace(id=note.id + "b", text=sentence(random, 10**7 + number), replaces=note.id)
            store.add(note)
        kept.append(Kept(note.id, at, kind, level, note.session, project, note.text))
    by_id = {row.id: row for row in kept}
    for id, session in store.db.execute("select id, session from note"):
        if id in by_id:
            by_id[id] = by_id[id]._replace(session=session)
    return [by_id[row.id] for row in kept]


class Wood:
    """The store and all that is in it."""

    def __init__(self, store: SqliteStore, rows: list[Kept]) -> None:
        self.store, self.rows = store, rows


@pytest.fixture(scope="module")
def wood(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wood]:
    store = SqliteStore(str(tmp_path_factory.mktemp("wood") / "store.db"))
    random = Random(11)
    rows = [row for share, project in enumerate(PROJECTS, 1) for row in fill(store, random, project, ROWS // share**2)]
    yield Wood(store, rows)
    store.close()


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store of some hundreds of rows is a large one."""
    monkeypatch.setattr(candidates, "CAP", CAP)
    monkeypatch.setattr(candidates, "COUNTED", COUNTED)
    monkeypatch.setattr(candidates, "MOST", MOST)


# --- what reading it all finds ----------------------------------------------------------------------------------------


def passes(row: Kept, scope: Scope) -> bool:
    kinds = (scope.kind,) if scope.kind else ROLES.get(scope.role, ())
    path = "".join(char if char.isalnum() else " " for char in scope.file.lower()).split()
    note = "note" in row.id
    return (
        scope.project in (None, row.project)
        and scope.session in ("", row.session)
        and (row.kind in kinds if kinds else row.kind not in REPEATS)
        and (not scope.tool or scope.tool.lower() == row.tool.lower())
        and not (note and (scope.role or scope.tool))
        and (scope.level is None or row.level == scope.level)
        and (not scope.since or row.at >= scope.since)
        and (not scope.until or row.at < scope.until)
        and (not scope.file or in_a_row(path, row.words))
    )


def in_a_row(words: Sequence[str], all_words: Sequence[str]) -> bool:
    return f" {' '.join(words)} " in f" {' '.join(all_words)} "


def matching(rows: Sequence[Kept], words: Sequence[str], scope: Scope, phrases: Sequence[str] = ()) -> set[str]:
    """The rows that have every word and phrase."""
    return {
        row.id
        for row in rows
        if passes(row, scope)
        and set(words) <= set(row.words)
        and all(in_a_row(phrase.split(), row.words) for phrase in phrases)
    }


# --- what is asked ----------------------------------------------------------------------------------------------------

some_words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True)
moments = st.floats(-1, DAYS + 1).map(lambda days: FIRST + days * DAY)
limits = st.sampled_from((1, 3, 5))


@st.composite
def scopes(draw: st.DrawFn) -> Scope:
    """Any filters together."""
    project = draw(st.sampled_from((*PROJECTS, PROJECTS[0], None)))
    scope = Scope(project)
    for name in draw(
        st.lists(st.sampled_from(("time", "tool", "role", "kind", "session", "file", "level")), max_size=3)
    ):
        if name == "time":
            since, until = sorted((draw(moments), draw(moments)))
            scope = scope._replace(since=draw(st.sampled_from((0.0, since))), until=draw(st.sampled_from((0.0, until))))
        elif name == "tool":
            scope = scope._replace(tool=draw(st.sampled_from((*TOOLS, "bash"))))
        elif name == "role":
            scope = scope._replace(role=draw(st.sampled_from(tuple(ROLES))))
        elif name == "kind":
            scope = scope._replace(
                kind=draw(st.sampled_from(("prompt", "reply", "queued", "result", "session", "fact")))
            )
        elif name == "session":
            scope = scope._replace(session=draw(st.sampled_from(("one-0", "one-3", "two-1", "ree-5"))))
        elif name == "file":
            scope = scope._replace(file=draw(st.sampled_from((*FILES, "cart.py"))))
        else:
            scope = scope._replace(level=draw(st.sampled_from((0, 1, 2))))
    return scope


@given(some_words, scopes())
def test_rows_with_all_the_words_are_looked_at_before_any_with_fewer(
    wood: Wood, words: list[str], scope: Scope
) -> None:
    full = matching(wood.rows, words, scope)
    found = candidates.find_candidates(wood.store, read_query(" ".join(words)), scope)
    allowed = [row.id for row in scoped(scope)(wood.store.rows(found.keys))]
    assert full <= set(allowed) or (set(allowed) <= full and allowed)


@given(some_words, scopes(), limits)
def test_a_row_with_all_the_words_is_shown_or_there_are_enough_of_its_like(
    wood: Wood, words: list[str], scope: Scope, limit: int
) -> None:
    full = matching(wood.rows, words, scope)
    shown = [hit.id for hit in find(wood.store, " ".join(words), scope, limit)]
    assert len(shown) <= limit
    assert full <= set(shown) or len(shown) == limit


@given(some_words, scopes(), limits)
def test_no_filter_lets_a_wrong_row_through_or_loses_all_right_ones(
    wood: Wood, words: list[str], scope: Scope, limit: int
) -> None:
    right = {id for word in words for id in matching(wood.rows, [word], scope)}
    known = {row.id: row for row in wood.rows}
    shown = [hit.id for hit in find(wood.store, " ".join(words), scope, limit)]
    assert all(passes(known[id], scope) for id in shown)
    assert set(shown) <= right or len(words) == 3, "only a question has answers beside it"
    assert bool(shown) == bool(right)


@given(st.lists(st.sampled_from(WORDS[:5]), min_size=2, max_size=2, unique=True), some_words, scopes(), st.booleans())
def test_what_is_quoted_is_there_as_it_was_quoted(
    wood: Wood, phrase: list[str], words: list[str], scope: Scope, alone: bool
) -> None:
    said = " ".join(phrase)
    right = matching(wood.rows, [], scope, [said])
    query = f'"{said}"' if alone else f'"{said}" {" ".join(words)}'
    shown = {hit.id for hit in find(wood.store, query, scope, 5)}
    assert shown <= right
    assert bool(shown) == bool(right)


@given(some_words, st.sampled_from(PROJECTS), st.booleans())
def test_no_project_leaks_into_another(wood: Wood, words: list[str], project: str, deep: bool) -> None:
    for hit in find(wood.store, " ".join(words), Scope(project), 50, deep=deep):
        assert hit.project == project


@pytest.mark.parametrize("word", WORDS)
def test_a_word_together_with_one_that_hardly_any_row_has(wood: Wood, word: str) -> None:
    """The old rows too, which a common word alone does not reach."""
    for row in [row for row in wood.rows if WORDS[-1] in row.words and word in row.words]:
        scope = Scope(row.project)
        if passes(row, scope):
            assert row.id in [hit.id for hit in find(wood.store, f"{word} {WORDS[-1]}", scope, 20)]


@pytest.mark.parametrize("row", range(0, 400, 7))
def test_any_row_is_found_by_what_only_it_says(wood: Wood, row: int) -> None:
    said = wood.rows[row]
    only = said.words[-1]
    scope = Scope(said.project, kind=said.kind)
    assert [hit.id for hit in find(wood.store, only, scope, 5)] == [said.id]
    best, *_ = find(wood.store, f"{' '.join(WORDS[:3])} {only}", scope, 5)
    assert best.id == said.id


def test_the_oldest_day_is_reached_by_its_date(wood: Wood) -> None:
    """The newest rows with a word fill the cap many times over; a filter must not only filter those."""
    for word, later in pairwise(WORDS[:5]):
        scope = Scope(PROJECTS[0], until=FIRST + 3 * DAY)
        right = matching(wood.rows, [word], scope) | matching(wood.rows, [later], scope)
        shown = {hit.id for hit in find(wood.store, f"{word} {later}", scope, 5)}
        assert right and shown and shown <= right
