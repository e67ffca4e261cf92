"""A query is words: never a syntax error, never another project's rows, never what was taken out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_keeper.errors import KeeperError
from memory_keeper.model import Event, Note, Phrase, Placed, Scope, Source
from memory_keeper.search import find
from memory_keeper.search.query import STOP, read_query
from memory_keeper.store.sqlite import SqliteStore

HERE = Scope("dir:/here")
TEXTS = (
    "docker compose deploy plan",
    "the deploy plan for the parser",
    "what's wrong with C++ templates?",
    "한국어 배포 계획",
    "naïve café",
    "src/uploader/retry_policy.py",
    "NEAR AND OR NOT",
    "word " * 500,
    "class HTTPResponseParser and its parseHeaders",
    "上传失败的时候会重试三次",
)
HOSTILE = (
    "what's the deploy plan?", "docker-compose", "plan (draft)", '"unterminated', "NOT deploy", "AND", "a OR",
    "NEAR(docker plan, 2)", "^deploy", "*", "wor*", "col:x", "-deploy", "deploy AND (", "\0", "'; DROP TABLE event;--",
    'a"b', "{title body}: deploy", 'deploy""', "word" * 2000, " ".join(f"w{n}" for n in range(3000)), "C++",
    "\ud800", "deploy\udcff", "title:x", "파이썬 배포", "“deploy plan”", '"배포 계획"', '"" deploy', "tags : x",
    '" OR 1=1 --', "what's (x", "a*" * 100_000, "", " ", "\n", "\u2028", "+", "a+b", "text:deploy", "rank:x", "{", "}",
    ")", "((((", "in May 2023", "99 May 2023", "0 days ago", "999 years ago", "2023-13-45", "上" * 5000,
    '""""', "\x02\x03", "deploy\0plan", "%", "_", "\\", "?1", ":x", "𝕏", "e\u0301", "\u0301", "ﷺ" * 99, "İ", "ǅ",
)  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    made = SqliteStore(str(tmp_path_factory.mktemp("search") / "store.db"))
    for project, session in (("dir:/here", "s1"), ("dir:/elsewhere", "s2")):
        record(made, project, session, [("reply", text) for text in TEXTS])
    yield made
    made.close()


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[SqliteStore]:
    made = SqliteStore(str(tmp_path / "store.db"))
    yield made
    made.close()


def record(store: SqliteStore, project: str, session: str, said: list[tuple[str, str]], at: float = 0.0) -> None:
    source = store.begin(Source(f"/t/{session}.jsonl", session, project))
    store.record(
        source,
        [
            Placed(Event(f"{session}-{n}:0", at + n, kind, session, project, text), n)
            for n, (kind, text) in enumerate(said)
        ],
    )


def ids(store: SqliteStore, query: str, scope: Scope = HERE, limit: int = 10) -> list[str]:
    return [hit.id for hit in find(store, query, scope, limit)]


# --- any text is a query ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", HOSTILE, ids=lambda query: ascii(query[:24]))
def test_no_query_is_a_syntax_error(store: SqliteStore, query: str) -> None:
    for hit in find(store, query, HERE, 10):
        assert hit.project == "dir:/here"


@given(st.text(st.characters(exclude_categories=()), max_size=60))
@example('"' * 33)
def test_any_text_is_a_query(store: SqliteStore, query: str) -> None:
    find(store, query, HERE, 5)


@given(st.sampled_from(TEXTS), st.data())
def test_every_word_of_a_text_finds_it(store: SqliteStore, text: str, data: st.DataObject) -> None:
    words = data.draw(st.lists(st.sampled_from(text.split()), min_size=1, max_size=4))
    assert f"s1-{TEXTS.index(text)}:0" in ids(store, " ".join(words))


@given(st.lists(st.sampled_from([*HOSTILE, *TEXTS]), min_size=1, max_size=3), st.booleans())
def test_no_query_finds_anything_of_another_project(store: SqliteStore, said: list[str], deep: bool) -> None:
    for hit in find(store, " ".join(said), Scope("dir:/elsewhere"), 20, deep=deep):
        assert hit.project == "dir:/elsewhere"


def test_without_a_project_all_are_searched(store: SqliteStore) -> None:
    assert {hit.project for hit in find(store, "docker")} == {"dir:/here", "dir:/elsewhere"}
    assert find(store, "docker", Scope("dir:/unknown")) == []
    assert find(store, "docker", Scope("*")) == []


def test_nothing_but_signs_finds_nothing(store: SqliteStore) -> None:
    assert read_query("*** --- ((( ''' :::") == []
    assert find(store, "*** ---") == []


def test_an_empty_store_has_nothing(fresh: SqliteStore) -> None:
    assert find(fresh, "anything") == []


def test_only_so_many_words_count() -> None:
    assert len(read_query(" ".join(f"w{n}" for n in range(1000)))) <= 40
    assert sum(len(one.words) for term in read_query("x" * 100_000) for one in term.match) < 5000


# --- words ------------------------------------------------------------------------------------------------------------


def test_what_has_more_of_the_words_comes_first(store: SqliteStore) -> None:
    assert set(ids(store, "deploy plan")) == {"s1-0:0", "s1-1:0"}
    assert ids(store, "deploy plan parser")[0] == "s1-1:0"
    assert "s1-1:0" in ids(store, "parser zebra"), "no text has both, so either will do"
    assert ids(store, "zebra") == []


def test_the_order_of_words_does_not_matter(store: SqliteStore) -> None:
    """R25b: the predecessor found nothing for two words in another order."""
    assert ids(store, "plan compose docker")[0] == "s1-0:0"


def test_a_phrase_in_quotes_must_be_there(store: SqliteStore) -> None:
    assert ids(store, '"compose deploy"') == ["s1-0:0"]
    assert ids(store, '"deploy compose"') == []
    assert ids(store, '"deploy plan" parser')[0] == "s1-1:0"


def test_case_accents_and_endings_do_not_matter(store: SqliteStore) -> None:
    assert ids(store, "DOCKER") == ["s1-0:0"]
    assert ids(store, "naive cafe") == ["s1-4:0"]
    assert ids(store, "deploying plans")[:2] in (["s1-0:0", "s1-1:0"], ["s1-1:0", "s1-0:0"])


def test_a_path_is_found_by_its_parts_and_whole(store: SqliteStore) -> None:
    for query in (
        "src/uploader/retry_policy.py",
        "uploader",
        "retry_policy.py",
        "retryPolicy",
        "RetryPolicy",
        "policy",
    ):
        assert ids(store, query) == ["s1-5:0"], query


def test_a_name_is_found_by_its_pieces(store: SqliteStore) -> None:
    for query in (
        "HTTPResponseParser",
        "http response parser",
        "http_response_parser",
        "parse headers",
        "parseheaders",
    ):
        assert ids(store, query)[0] == "s1-8:0", query


def test_a_beginning_is_enough_where_it_is_said(store: SqliteStore) -> None:
    assert ids(store, "uplo*") == ["s1-5:0"]
    assert ids(store, "uplo") == ["s1-5:0"], "nobody said just that"


def test_any_part_of_a_text_without_blanks_is_found(store: SqliteStore) -> None:
    for query in ("배포", "한국", "국어", "어"):
        assert ids(store, query) == ["s1-3:0"], query
    for query in ("上传", "失败", "重试三次", "试", "上传为什么会失败"):
        assert ids(store, query) == ["s1-9:0"], query
    assert ids(store, "배포를") == ["s1-3:0"], "with a particle that the text has not"


def test_a_typing_error_is_forgiven_where_nothing_else_is_found(store: SqliteStore) -> None:
    for query in ("dokcer", "doker", "dockerr", "dicker"):
        assert ids(store, query) == ["s1-0:0"], query
    assert ids(store, "zzzzzzz") == []


def test_forms_that_share_no_stem_are_the_same_word(fresh: SqliteStore) -> None:
    record(fresh, "p", "s", [("prompt", "we bought a licence"), ("reply", "the authentication was written in June")])
    assert ids(fresh, "buy license", Scope("p"))[0] == "s-0:0"
    assert ids(fresh, "auth wrote", Scope("p"))[0] == "s-1:0"


def test_words_that_say_nothing_count_only_alone(store: SqliteStore) -> None:
    assert ids(store, "NOT") == ["s1-6:0"]
    assert ids(store, "NEAR OR") == ["s1-6:0"]
    assert ids(store, "what is the compose for") == ["s1-0:0"]
    assert {"the", "what", "is"} <= STOP


def test_an_answer_is_found_beside_its_question(fresh: SqliteStore) -> None:
    said = [("reply", f"unrelated matter number {n}") for n in range(30)]
    said += [("prompt", "Which port does the dev server listen on?"), ("reply", "3100, since the last release.")]
    record(fresh, "p", "s", said)
    assert set(ids(fresh, "which port does the dev server use", Scope("p"))[:2]) == {"s-30:0", "s-31:0"}


def test_a_time_in_a_query_counts(fresh: SqliteStore) -> None:
    record(fresh, "p", "may", [("prompt", "release notes for the parser")], at=1_683_800_000.0)
    record(fresh, "p", "june", [("prompt", "release notes of the parser")], at=1_686_900_000.0)
    assert ids(fresh, "release notes of May 2023", Scope("p"))[0] == "may-0:0"
    assert ids(fresh, "release notes on 2023-06-16", Scope("p"))[0] == "june-0:0"


# --- what is shown ----------------------------------------------------------------------------------------------------


def test_the_limit_holds(store: SqliteStore) -> None:
    assert len(find(store, "deploy", limit=3)) == 3
    assert len(find(store, "deploy", limit=100)) == 4


def test_the_hit_shows_where(store: SqliteStore) -> None:
    (hit,) = find(store, "parser plan", HERE, 1)
    assert "\x02parser\x03" in hit.snippet
    assert hit.score > 0


def test_a_long_text_is_shown_where_it_matches(fresh: SqliteStore) -> None:
    record(fresh, "p", "s", [("result", "noise " * 900 + "the needle is here " + "noise " * 900)])
    (hit,) = find(fresh, "needles", Scope("p"))
    assert "\x02needle\x03" in hit.snippet
    assert len(hit.snippet) < 300
    assert hit.snippet.startswith("…") and hit.snippet.endswith("…")


def test_the_same_text_is_shown_once_and_one_session_does_not_crowd_out_others(fresh: SqliteStore) -> None:
    for session in ("a", "b"):
        record(fresh, "p", session, [("prompt", "please go on with the zebra parser")])
    assert len(ids(fresh, "zebra", Scope("p"))) == 1
    record(fresh, "p", "c", [("prompt", f"zebra stripes number {n}") for n in range(30)])
    record(fresh, "p", "d", [("prompt", "one zebra more, and some other words")])
    assert {hit.session for hit in find(fresh, "zebra", Scope("p"), 10)} >= {"c", "d"}


@pytest.mark.parametrize("role", ["", "user"])
def test_what_was_typed_while_the_model_worked_is_found_once(fresh: SqliteStore, role: str) -> None:
    """Some of it becomes a prompt, and some is written down nowhere else."""
    said = [("queued", "always squash the zebra branch"), ("reply", "I squash."), ("queued", "now feed the okapi")]
    record(fresh, "p", "s", [*said, ("prompt", "now feed the okapi")])
    assert ids(fresh, "zebra", Scope("p", role=role)) == ["s-0:0"]
    assert ids(fresh, "okapi", Scope("p", role=role)) == ["s-3:0"]


def test_what_we_told_ourselves_is_not_found_again(fresh: SqliteStore) -> None:
    told = '<memory-keeper brief="start" fence="x">\nzebra\n</memory-keeper>'
    record(fresh, "p", "s", [("result", told), ("told", "zebra"), ("meta", "zebra")])
    assert ids(fresh, "zebra", Scope("p")) == []
    assert ids(fresh, "zebra", Scope("p", kind="meta")) == ["s-2:0"]
    assert {hit.id for hit in find(fresh, "zebra", Scope("p"), deep=True)} == {"s-2:0"}, "the newest of equals"


# --- filters ----------------------------------------------------------------------------------------------------------


def test_each_filter_keeps_what_it_names(fresh: SqliteStore) -> None:
    source = fresh.begin(Source("/t/s.jsonl", "s", "p"))
    made = [
        Event("u:0", 100.0, "prompt", "s", "p", "zebra asked"),
        Event("c:0", 200.0, "call", "s", "p", "file_path: src/zebra.py", tool="Edit", path="src/zebra.py", ref="t1"),
        Event("r:0", 300.0, "result", "s", "p", "zebra edited", ref="t1"),
        Event("b:0", 400.0, "call", "s", "p", "command: grep zebra", tool="Bash", ref="t2"),
        Event("a:0", 500.0, "reply", "s", "p", "zebra answered"),
    ]
    fresh.record(source, [Placed(event, n) for n, event in enumerate(made)])
    record(fresh, "p", "other", [("prompt", "zebra elsewhere")], at=600.0)
    fresh.add(Note("n1", 700.0, "session", 1, "p", "Asked: about a zebra", "s"))

    def found(**filters: object) -> set[str]:
        return set(ids(fresh, "zebra", Scope("p", **filters), 50))  # type: ignore[arg-type]

    assert found() == {"u:0", "c:0", "r:0", "b:0", "a:0", "other-0:0", "n1"}
    assert found(level=1) == {"n1"}
    assert found(level=0) == {"u:0", "c:0", "r:0", "b:0", "a:0", "other-0:0"}
    assert found(kind="reply") == {"a:0"}
    assert found(tool="edit") == {"c:0", "r:0"}
    assert found(file="src/zebra.py") == {"c:0"}
    assert found(role="user") == {"u:0", "other-0:0"}
    assert found(role="tool") == {"r:0"}
    assert found(session="other") == {"other-0:0"}
    assert found(since=250.0, until=450.0) == {"r:0", "b:0"}
    assert {hit.id for hit in find(fresh, r"zeb.a (asked|answered)", Scope("p"), regex=True)} == {"u:0", "a:0"}
    assert {hit.id for hit in find(fresh, r"zebra", Scope("p", tool="Edit"), regex=True)} == {"c:0", "r:0"}


def test_what_is_no_regular_expression_is_said_to_be_none(store: SqliteStore) -> None:
    with pytest.raises(KeeperError, match="regular expression"):
        find(store, "(", HERE, regex=True)


def test_only_the_wording_in_force_is_found(fresh: SqliteStore) -> None:
    first = Note("n1", 1.0, "session", 1, "p", "Asked: about zebras", "s", 5)
    fresh.add(first)
    assert ids(fresh, "zebras", Scope("p")) == ["n1"]
    fresh.add(first._replace(id="n2", text="Never zebras again.", replaces="n1", who="user"))
    fresh.add(Note("f1", 2.0, "fact", 0, "p", "The zebras run on port 7311.", who="user"))
    fresh.add(Note("f2", 2.0, "fact", 0, "p", "No port at all.", replaces="f1", who="user"))
    assert [(hit.id, hit.level, hit.kind) for hit in find(fresh, "zebras", Scope("p"))] == [("n2", 1, "session")]
    assert ids(fresh, "port", Scope("p")) == ["f2"]
    assert ids(fresh, "port", Scope("elsewhere")) == []


# --- what strangers stumbled over -------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["WHat is the retry policy", "DOes it retry", "cOuld", "fooBar", "isDirt", "isDrity"])
def test_words_in_odd_case_and_half_names_are_queries_too(fresh: SqliteStore, query: str) -> None:
    record(fresh, "p", "s", [("prompt", "the retry policy of foobarbaz"), ("reply", "isDirty says so")])
    find(fresh, query, Scope("p"))


def test_a_name_and_its_piece_are_found_in_any_order(fresh: SqliteStore) -> None:
    said = [("prompt", f"retryPolicy number {n}") for n in range(30)] + [("prompt", "just a retry")]
    record(fresh, "p", "s", said)
    for query in ("retryPolicy retry", "retry retryPolicy"):
        assert "s-30:0" in ids(fresh, query, Scope("p"), 50), query


def test_what_is_written_letter_by_letter_comes_first(fresh: SqliteStore) -> None:
    noise = [("prompt", f"the checkpoint count of {n}, a CheckpointCount") for n in range(30)]
    record(fresh, "p", "a", [("prompt", "where is checkpoints_count used?"), ("prompt", "native C++ dependencies")])
    record(fresh, "p", "b", noise + [("prompt", f"section c, number {n}") for n in range(30)])
    assert ids(fresh, "checkpoints_count", Scope("p"))[0] == "a-0:0"
    assert ids(fresh, "C++", Scope("p"))[0] == "a-1:0"
    record(fresh, "p", "c", [("result", "panic: invalid checkpoint ID"), ("prompt", "panics are not great, the ID is")])
    assert ids(fresh, "panic: invalid checkpoint ID", Scope("p"))[0] == "c-0:0"


def test_rows_with_all_the_words_come_before_those_with_some(fresh: SqliteStore) -> None:
    said = [("prompt", f"attribution {n}, a prompt of its own") for n in range(40)]
    said += [("result", f"attribution of {n} and what we redact " + "and more " * 40) for n in range(10)]
    record(fresh, "p", "s", said)
    texts = [fresh.event(id) for id in ids(fresh, "attribution redact", Scope("p"), 10)]
    assert all(event and "redact" in event.text for event in texts)


def test_a_word_is_not_taken_for_the_ending_of_a_file(fresh: SqliteStore) -> None:
    record(fresh, "p", "s", [("call", "file_path: main.go"), ("prompt", "the old branch was gone")])
    assert ids(fresh, "gone", Scope("p")) == ["s-1:0"]


def test_filters_hold_where_newer_rows_crowd(fresh: SqliteStore) -> None:
    day = 86_400.0
    source = fresh.begin(Source("/t/s.jsonl", "s", "p"))
    events = [
        Event(f"e{n}:0", 1_700_000_000 + n * 600.0, "call", "s", "p", f"deploy {n}", tool="Grep" if n == 5 else "Bash")
        for n in range(3000)
    ]
    fresh.record(source, [Placed(event, n) for n, event in enumerate(events)])
    old = 1_700_000_000 + day
    assert ids(fresh, "deploy", Scope("p", until=old))
    assert ids(fresh, "deploy", Scope("p", since=old, until=old + day))
    assert ids(fresh, "deploy", Scope("p", tool="grep")) == ["e5:0"]


def test_what_must_be_there_is_not_cut_off(fresh: SqliteStore) -> None:
    said = [("prompt", f"gizmo {n}") for n in range(700)] + [("prompt", f"a common phrase {n}") for n in range(700)]
    record(fresh, "p", "s", said)
    assert len(ids(fresh, '"common phrase" gizmo', Scope("p"))) == 10


def test_repeats_do_not_swallow_what_is_different(fresh: SqliteStore) -> None:
    said = [("prompt", "please go on with the zebra")] * 40 + [("prompt", f"another zebra, {n}") for n in range(5)]
    record(fresh, "p", "s", said)
    assert len(ids(fresh, "zebra", Scope("p"))) == 6
    long = "the same long beginning " * 40
    record(fresh, "p", "t", [("prompt", long + "alpha"), ("prompt", long + "and then beta at the end")])
    assert len(ids(fresh, "beginning", Scope("p"))) == 2


def test_a_query_of_nothing_but_a_day_finds_what_was_asked_then(fresh: SqliteStore) -> None:
    record(fresh, "p", "s", [("prompt", "the eighth"), ("reply", "yes")], at=1_683_540_000.0)  # 2023-05-08
    record(fresh, "p", "t", [("prompt", "the ninth")], at=1_683_640_000.0)
    assert ids(fresh, "what did we do on 2023-05-08?", Scope("p")) == ["s-0:0"]
    assert ids(fresh, "2023-05-09", Scope("p")) == ["t-0:0"]
    assert set(ids(fresh, "in May 2023", Scope("p"))) == {"s-0:0", "t-0:0"}


def test_a_search_does_not_find_itself(fresh: SqliteStore) -> None:
    said = [
        ("command", "<command-name>/memory-keeper:search</command-name><command-args>zebra</command-args>"),
        ("meta", "Look this up: zebra"),
        ("prompt", "a zebra"),
        ("result", "The file /x/zebra.py has been updated successfully."),
    ]
    record(fresh, "p", "s", said)
    assert ids(fresh, "zebra", Scope("p")) == ["s-2:0"]


def test_a_mistyped_word_of_a_note_is_forgiven_too(fresh: SqliteStore) -> None:
    fresh.add(Note("f1", 2.0, "fact", 0, "p", "The zebras run on port 7311.", who="user"))
    assert ids(fresh, "zebars", Scope("p")) == ["f1"]


def test_a_word_said_over_and_over_costs_no_more_than_once(store: SqliteStore) -> None:
    assert read_query("0/" * 500)[0].match == (Phrase("0", "text"),)
    assert [term.match for term in read_query('"' + "0 " * 400 + '"')] == [(Phrase("0"),)]
    assert read_query("src/app/src/bar.py")[0].match == (Phrase("app src bar py", "text"),)
    assert all(len(one.words) < 400 for term in read_query("上" * 4000) for one in term.match)
