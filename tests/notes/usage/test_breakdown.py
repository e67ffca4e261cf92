"""What ate the context adds up to what the host reported, whatever the transcript says, and lies where it belongs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_keeper.capture.claude_code import Line, read_line
from memory_keeper.model import KINDS, Event, Source, Usage
from memory_keeper.notes.usage import breakdown
from memory_keeper.notes.usage.breakdown import Breakdown, Large, Share, measure, since_compaction, turns_left
from memory_keeper.text import CALL, family, tokens
from tests import transcripts
from tests.transcripts import MODEL, Row, Transcript, dump, thinking

SOURCE = Source("/t/s1.jsonl", "s1", "dir:/p")
KIN = family(MODEL)


def read(rows: Iterable[Row]) -> list[Line]:
    """The lines of some rows, as they are read from a file."""
    found = [read_line(dump(row), SOURCE, number, 1000.0) for number, row in enumerate(rows)]
    return [line for line in found if line]


def take_apart(t: Transcript) -> Breakdown:
    return check(measure(read(t.lines)))


def check(found: Breakdown) -> Breakdown:
    """What holds for any context."""
    assert found.base + sum(share.tokens for share in found.shares) - found.freed == found.tokens
    assert found.base >= 0 and found.freed >= 0
    assert all(cost.tokens >= 0 for cost in found.costs + found.unmeasured)
    assert sum(cost.tokens for cost in found.unmeasured) == found.estimated
    sizes = [share.tokens for share in found.shares]
    assert sizes == sorted(sizes, reverse=True)
    grown = sum(response.grown - response.freed for response in found.responses[1:])
    assert not found.responses or found.responses[0].tokens + grown == found.tokens
    turns = breakdown.by_turn(found)
    assert sum(turn.tokens for turn in turns) + of(found).get("summary", 0) == sum(sizes)
    assert sum(turn.responses for turn in turns) == len(found.responses)
    assert sum(file.tokens for file in breakdown.by_file(found.costs)) <= sum(sizes)
    spared = {share.what: share.tokens for share in breakdown.rereads(found)}
    files = {share.what: share.tokens for share in breakdown.by_file(found.costs)}
    assert all(size <= files[path] for path, size in spared.items())
    return found


def of(found: Breakdown) -> dict[str, int]:
    return {share.what: share.tokens for share in found.shares}


def lines(count: int, first: int = 1, word: str = "value") -> str:
    return "\n".join(f"{word} = compute({number})  # line {number}" for number in range(first, first + count))


@pytest.fixture
def t() -> Transcript:
    """A session that was asked something, in a context of 20,000 tokens."""
    made = Transcript("s1", "/srv/app")
    made.prompt("Find out why uploads fail on slow links, and mend it.")
    made.context = 20_000
    return made


# --- how growth is laid on events


def test_base_is_what_the_first_response_had_beside_what_was_said(t: Transcript) -> None:
    t.reply("I will look.")
    asked = tokens("Find out why uploads fail on slow links, and mend it.", KIN)
    found = take_apart(t)
    assert (found.tokens, found.base, of(found)) == (20_000, 20_000 - asked, {"prompts": asked})
    assert found.estimated == tokens("I will look.", KIN)


def test_growth_goes_to_the_words_and_results_between_two_responses(t: Transcript) -> None:
    t.call("Bash", {"command": "./run tests"}, lines(100), say="I will run them.")
    t.context = 21_500
    t.reply("All pass.")
    found = take_apart(t)
    assert (found.tokens, found.freed) == (21_500, 0)
    assert of(found)["Bash"] + of(found)["replies"] == 1_500
    assert of(found)["Bash"] > 1_450


@given(st.integers(5, 300), st.integers(5, 300), st.floats(0.8, 1.2))
def test_a_gap_divides_in_proportion_to_its_texts(one: int, other: int, factor: float) -> None:
    t = Transcript("s1", "/srv/app")
    t.prompt("Compare the logs.")
    t.context = 20_000
    t.parallel(("Bash", {"command": "cat a"}, lines(one)), ("Fetch", {"url": "b"}, lines(other, word="other")))
    first = CALL + tokens("command: cat a", KIN) + tokens(lines(one), KIN)
    second = CALL + tokens("url: b", KIN) + tokens(lines(other, word="other"), KIN)
    grown = int((first + second) * factor)
    t.context = 20_000 + grown
    t.reply("They differ.")
    found = of(take_apart(t))
    assert found["Bash"] + found["Fetch"] == grown
    assert abs(found["Bash"] - grown * first / (first + second)) <= 4


def test_a_response_counts_once_however_many_lines_repeat_it(t: Transcript) -> None:
    t.parallel(*[("Read", {"file_path": f"/srv/app/{name}.py"}, lines(50)) for name in "abc"])
    rows = t.lines[1:]
    calls, results = rows[:3], rows[3:]
    # a result may be written before the next call of the same response, here even before its own
    t.lines[1:] = [row for pair in zip(calls, results, strict=True) for row in pair]
    t.context = 23_000
    t.reply("Read.", "And understood.")
    found = take_apart(t)
    assert [response.tokens for response in found.responses] == [20_000, 23_000]
    assert found.shares[0] == Share("Read", 3_000, 3)


def test_copied_rows_cost_nothing(t: Transcript) -> None:
    t.call("Bash", {"command": "ls"}, lines(20))
    t.context = 20_600
    t.reply("Seen.")
    once = take_apart(t)
    t.lines += t.lines
    assert take_apart(t)._replace(unmeasured=(), estimated=0) == once._replace(unmeasured=(), estimated=0)


def test_what_no_text_explains_was_injected(t: Transcript) -> None:
    t.call("Bash", {"command": "./run format"}, "3 files changed")
    t.context = 28_000  # the host shows the changed files to the model, and writes no line about it
    t.reply("Formatted.")
    found = take_apart(t)
    assert of(found)["injected"] > 7_700
    assert of(found)["Bash"] < 250


def test_thinking_is_as_much_as_its_response_put_out(t: Transcript) -> None:
    rows = t.call("Bash", {"command": "ls"}, "a b c", think="")
    used = {"input_tokens": 8, "cache_read_input_tokens": 19_992, "output_tokens": 3_000}
    t.lines = t.lines[: -len(rows)]
    t.reply(thinking(""), "Let me look.", usage=used)
    t.context = 23_040
    t.prompt("Go on.")
    t.context = 23_040
    t.reply("Yes.")
    assert of(take_apart(t))["thinking"] == pytest.approx(3_000, abs=60)


def test_thinking_takes_what_is_left_when_the_output_count_is_a_stub(t: Transcript) -> None:
    used = {"input_tokens": 8, "cache_read_input_tokens": 19_992, "output_tokens": 1}
    t.reply(thinking("They want the retry to back off."), "Let me look. " * 40, usage=used)
    for row in t.lines:
        if row["type"] == "assistant":
            row["message"]["usage"]["output_tokens"] = 1
    t.context = 24_000
    t.reply("Yes.")
    found = of(take_apart(t))
    assert found["thinking"] > 3_500
    assert "injected" not in found


def test_thinking_that_was_dropped_costs_nothing(t: Transcript) -> None:
    t.reply(thinking(lines(100)), lines(20))
    t.prompt("Go on.")
    t.context = 20_000 + tokens(lines(20), KIN) + tokens("Go on.", KIN)
    t.reply("Yes.")
    found = take_apart(t)
    assert (of(found)["thinking"], found.freed) == (0, 0)
    assert of(found)["replies"] == tokens(lines(20), KIN)


def test_thinking_that_was_not_all_kept_still_takes_what_no_words_explain(t: Transcript) -> None:
    t.reply(thinking(lines(100)), "Yes.")
    t.prompt("Go on.")
    t.context = 20_700
    t.reply("Yes.")
    found = of(take_apart(t))
    assert found["thinking"] > 650
    assert "injected" not in found


def test_a_shrink_is_freed_and_what_came_meanwhile_still_counts(t: Transcript) -> None:
    t.call("Bash", {"command": "ls"}, lines(40))
    t.context = 15_000
    t.reply("Seen.")
    found = take_apart(t)
    cost = CALL + tokens("command: ls", KIN) + tokens(lines(40), KIN)
    assert (found.tokens, found.freed, of(found)["Bash"]) == (15_000, 5_000 + cost, cost)


def test_a_plan_that_lies_in_a_file_is_not_sent(t: Transcript) -> None:
    t.call("ExitPlanMode", {"plan": lines(200)}, "The user rejected it.", say="Here is my plan.")
    t.context = 20_100
    t.reply("What shall I change?")
    found = take_apart(t)
    assert (found.freed, of(found)["ExitPlanMode"] + of(found)["replies"]) == (0, 100)


def test_pictures_and_documents_get_what_they_weigh(t: Transcript) -> None:
    document = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "aGVsbG8="}}
    t.call("Read", {"file_path": "/srv/app/spec.pdf"}, [document])
    t.context = 42_000
    t.reply("A specification of 14 pages.")
    t.image()
    t.context = 43_600
    t.reply("I see the banner.")
    found = take_apart(t)
    assert of(found)["Read"] == 22_000
    assert of(found)["images"] > 1_300
    assert breakdown.largest(found.costs)[0].about == "/srv/app/spec.pdf"


def test_what_came_after_the_last_response_is_an_estimate(t: Transcript) -> None:
    t.reply("I will look.", usage=20_000)
    t.prompt(lines(50))
    found = take_apart(t)
    assert found.tokens == 20_000
    assert found.estimated == tokens("I will look.", KIN) + tokens(lines(50), KIN)
    assert [cost.what for cost in found.unmeasured] == ["replies", "prompts"]


@pytest.mark.parametrize("used", [{}, {"input_tokens": 0}, {"input_tokens": None}])
def test_a_response_that_reports_nothing_measures_nothing(t: Transcript, used: Row) -> None:
    t.reply("One.")
    t.reply("Two.", usage=used)
    t.context = 20_300
    t.reply("Three.")
    found = take_apart(t)
    assert [response.tokens for response in found.responses] == [20_000, 20_300]


def test_agents_spend_a_context_of_their_own() -> None:
    t = Transcript("s1", "/srv/app", version="1.0.60")
    t.prompt("Look around.")
    t.reply("I will ask an agent.", usage=20_000)
    t.sidechain("Look for callers.", lines(300))
    t.context = 20_100
    t.reply("Nothing calls it.")
    found = take_apart(t)
    assert of(found)["replies"] == 100 - of(found).get("injected", 0)
    assert all(not cost.event.agent for cost in found.costs if cost.event)


def test_titles_and_the_queue_are_not_sent(t: Transcript) -> None:
    t.summary(lines(30))
    t.queue(lines(30))
    t.reply("Yes.")
    assert set(of(take_apart(t))) == {"prompts"}


# --- contexts


def test_a_compaction_begins_a_new_context(t: Transcript) -> None:
    t.call("Bash", {"command": "ls"}, lines(500))
    t.reply("Seen.", usage=160_000)
    t.compact(lines(100), post=9_000)
    before, begun = since_compaction(read(t.lines))
    fresh = check(measure(before, begun))
    assert (fresh.tokens, fresh.base + of(fresh)["summary"], fresh.estimated) == (9_000, 9_000, 0)
    t.prompt("Go on.")
    waiting = check(measure(*since_compaction(read(t.lines))))
    assert (waiting.tokens, waiting.estimated) == (9_000, tokens("Go on.", "claude-5"))
    t.reply("I go on.", usage=31_000)
    later = check(measure(*since_compaction(read(t.lines))))
    assert later.tokens == 31_000
    assert set(of(later)) == {"summary", "prompts"}
    assert later.base == 31_000 - sum(of(later).values())


def test_a_microcompaction_does_not(t: Transcript) -> None:
    t.reply("One.")
    t._row("system", {"subtype": "microcompact_boundary", "microcompactMetadata": {"tokensSaved": 9}}, {})
    found = read(t.lines)
    assert since_compaction(found) == (found, 0)
    assert since_compaction([]) == ([], 0)


def test_nothing_was_spent_where_nothing_was_said() -> None:
    assert measure([]) == Breakdown(0, 0, 0, 0, (), (), (), ())
    assert measure([], begun=-5).tokens == 0
    assert breakdown.burn(measure([])) == breakdown.Burn(0, 0, 0)


def test_a_summary_larger_than_the_context_is_cut_to_it(t: Transcript) -> None:
    t.reply("Yes.", usage=10)
    found = take_apart(t)
    assert (found.base, of(found)) == (0, {"prompts": 10})


# --- files, results


def test_a_file_costs_its_reads_edits_and_writes(t: Transcript) -> None:
    path = "/srv/app/retry.py"
    t.call("Read", {"file_path": path}, lines(100))
    t.call("Edit", {"file_path": path, "old_string": "a", "new_string": "b"}, "Updated.")
    t.call("Grep", {"pattern": "retry", "path": "/srv/app"}, lines(10))
    t.call("Write", {"file_path": "/srv/app/new.py", "content": lines(10)}, "Written.")
    t.reply("Done.")
    found = take_apart(t)
    shares = of(found)
    ours, new = breakdown.by_file(found.costs)
    assert ours == Share(path, shares["Read"] + shares["Edit"], 2)
    assert new == Share("/srv/app/new.py", shares["Write"], 1)


@pytest.mark.parametrize("version", ["1.0.60", "2.1.325"])
def test_lines_read_again_could_have_been_spared(version: str) -> None:
    t = Transcript("s1", "/srv/app", version=version)
    path = "/srv/app/retry.py"
    for text in (lines(100), lines(100), lines(100).replace("compute", "calculate")):
        t.call("Read", {"file_path": path}, text)
    t.call("Read", {"file_path": "/srv/app/other.py"}, lines(100))
    t.reply("Read.")
    found = take_apart(t)
    (again,) = breakdown.rereads(found)
    second = [cost for cost in found.costs if cost.event and cost.event.kind == "result"][1]
    assert again == Share(path, second.tokens, 1)


def test_a_read_that_half_overlaps_spares_the_half(t: Transcript) -> None:
    t.call("Read", {"file_path": "/a"}, lines(100))
    t.call("Read", {"file_path": "/a"}, lines(160))
    t.call("Read", {"file_path": "/b"}, lines(100))
    t.call("Read", {"file_path": "/b"}, lines(300))
    t.reply("Read.")
    found = take_apart(t)
    (again,) = breakdown.rereads(found)
    whole = [cost for cost in found.costs if cost.event and cost.event.kind == "result"][1].tokens
    assert again.what == "/a"
    assert whole // 2 < again.tokens < whole * 7 // 10


def test_what_was_cleared_had_to_be_read_again(t: Transcript) -> None:
    t.call("Read", {"file_path": "/a"}, lines(100))
    t.call("Bash", {"command": "ls"}, "a")
    t.context = 12_000
    t.call("Read", {"file_path": "/a"}, lines(100))
    t.reply("Read.")
    assert take_apart(t).freed > breakdown.CLEARED
    assert breakdown.rereads(take_apart(t)) == []


def test_the_largest_results_say_what_they_were(t: Transcript) -> None:
    t.call("Bash", {"command": "./run tests\n  --all", "description": "Run tests"}, lines(200))
    t.call("Read", {"file_path": "/srv/app/retry.py", "offset": 3}, lines(100))
    t.call("Grep", {"pattern": "upload_part", "path": "/srv/app"}, lines(50))
    t.call("Glob", {}, "a")
    t.reply("Done.")
    found = take_apart(t)
    tests, file, grep = breakdown.largest(found.costs, 3)
    assert (tests.tool, tests.about) == ("Bash", "./run tests --all")
    assert (file.tool, file.about) == ("Read", "/srv/app/retry.py")
    assert (grep.tool, grep.about) == ("Grep", "upload_part path: /srv/app")
    assert tests.tokens > file.tokens > grep.tokens
    shown = {event.id: event for line in read(t.lines) for event in line.events}
    assert shown[tests.id].text == lines(200)


def test_a_result_whose_call_is_not_there_is_a_result() -> None:
    t = Transcript("s1", "/srv/app")
    t.call("Bash", {"command": "ls"}, lines(30))
    t.lines = t.lines[1:]
    t.reply("Seen.", usage=20_000)
    found = take_apart(t)
    assert found.shares == (Share("results", tokens(lines(30), KIN), 1),)
    assert breakdown.largest(found.costs) == [Large(found.costs[0].event.id, "results", "", found.costs[0].tokens)]  # type: ignore[union-attr]


# --- turns


def test_turns_and_how_fast_they_fill(t: Transcript) -> None:
    t.reply("One.", usage=20_000)
    for number, grown in enumerate([1_000, 9_000, 2_000]):
        t.command("model", output="Set model.")
        t.prompt(f"Step {number}.")
        t.call("Bash", {"command": "ls"}, lines(50), say="I look.")
        t.context += grown - (t.context - 20_000 - [0, 1_000, 10_000][number])
        t.reply("Done.")
    found = take_apart(t)
    turns = breakdown.by_turn(found)
    assert [turn.responses for turn in turns] == [1, 2, 2, 2]
    said = [turn.opening.text for turn in turns if turn.opening]
    assert said[0].startswith("Find out")
    assert said[1:] == ["Step 0.", "Step 1.", "Step 2."]
    sizes = sorted(turn.tokens for turn in turns[-3:])
    assert breakdown.burn(found, 3) == breakdown.Burn(sizes[1], breakdown.burn(found, 3).response, 3)
    assert breakdown.burn(found).turns == 4


def test_a_turn_begun_before_the_compaction_has_no_opening(t: Transcript) -> None:
    t.reply("One.")
    t.compact("What was done.")
    t.call("Bash", {"command": "ls"}, lines(50))
    t.reply("Done.")
    (turn,) = breakdown.by_turn(check(measure(*since_compaction(read(t.lines)))))
    assert (turn.opening, turn.responses) == (None, 2)


def test_turns_left_until_the_host_compacts() -> None:
    assert turns_left(100_000, 167_000, 10_000) == 6
    assert turns_left(170_000, 167_000, 10_000) == 0
    assert turns_left(100_000, 0, 10_000) is None
    assert turns_left(100_000, 167_000, 0) is None


# --- whatever comes


def test_made_up_sessions_add_up() -> None:
    for seed in range(5):
        found = take_apart(transcripts.session(seed=seed, turns=8))
        assert found.tokens and len(found.shares) > 3


TEXTS = st.sampled_from(
    ["", "yes", lines(3), lines(40), "1\tx\n2\ty", "[image image/png 9 bytes]", "漢字\ud83d" * 9, "\0"]
)
EVENTS: Any = st.builds(
    Event,
    id=st.integers(0, 30).map("e{}:0".format),
    at=st.floats(0, 9),
    kind=st.sampled_from([*KINDS, "call", "result", "result"]),
    session=st.just("s"),
    project=st.just("p"),
    text=TEXTS,
    tool=st.sampled_from(["", "Read", "Edit", "Bash", "ExitPlanMode"]),
    path=st.sampled_from(["", "/a", "/b"]),
    ref=st.sampled_from(["", "r1", "r2"]),
    agent=st.sampled_from(["", "", "", "agent"]),
)
COUNTS = st.integers(0, 9) | st.integers(0, 9_000) | st.just((1 << 40) - 1)
USAGES: Any = st.builds(
    Usage,
    message=st.integers(0, 12).map("m{}".format),
    at=st.floats(0, 9),
    session=st.just("s"),
    project=st.just("p"),
    agent=st.sampled_from(["", "", "", "agent"]),
    model=st.sampled_from([MODEL, "claude-opus-5-5", ""]),
    input=COUNTS,
    cache_read=COUNTS,
    cache_write=COUNTS,
    output=COUNTS,
)
LINES = st.lists(st.builds(Line, st.lists(EVENTS, max_size=4), st.none() | USAGES), max_size=30)


@given(LINES, st.integers(-1, 20_000))
@example(
    [
        Line([], Usage("m", 0.0, "s", "p", "", MODEL, 5, 0, 0, 0)),
        Line([], Usage("n", 0.0, "s", "p", "", "", 9, 0, 0, 0)),
    ],
    0,
)
def test_it_always_adds_up(given: list[Line], begun: int) -> None:
    found = check(measure(iter(given), begun))
    assert found == measure(given, begun)
    main = [line.usage for line in given if line.usage and not line.usage.agent and line.usage.context]
    last = {usage.message: usage.context for usage in main}
    assert found.tokens == ([*last.values()][-1] if last else max(0, begun))  # a dict keeps the order of its first keys
    assert len(found.responses) <= len(last)
    for large in breakdown.largest(found.costs, 3):
        assert large.id and "\n" not in large.about
    rate = breakdown.burn(found)
    assert rate.turns <= 8 and rate.turn >= 0 and rate.response >= 0
    kept, _ = since_compaction(given)
    assert not any(event.tool == "compact_boundary" for line in kept for event in line.events if not event.agent)
