"""What survived compactions and clears: kept by the summary, brought back by us, or lost."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from memory_keeper.briefs.report.prices import read_prices
from memory_keeper.briefs.report.survival import KEPT, LOST, RESTORED, Survival, Thread, find_survival, survival_json
from memory_keeper.briefs.report.survival_svg import draw
from memory_keeper.extract.facts import Fact
from memory_keeper.hooks.actions.telling import record_told
from memory_keeper.notes.usage.compactions import Compaction
from memory_keeper.request import Brief
from tests.workplace import Worked, Workplace

KEEP = "Please make the uploader retry a failed chunk five times before it gives up."
BACK = "Decision: the delay between tries is drawn at random, because all clients came back at the same moment."
GONE = "The root cause was that the lock file in /var/run/uploader.lock was never removed after a crash."
SUMMARY = "The user asked to make the uploader retry a failed chunk five times before it gives up."


def begin(place: Workplace) -> Worked:
    session = place.session()
    session.turn(KEEP, f"{BACK}\n\n{GONE}")
    return session


def survive(place: Workplace, session: Worked) -> Survival:
    place.catch_up()
    with place.store() as store:
        return find_survival(store, read_prices(str(place.home)), session.id)


def tell(session: Worked, text: str) -> None:
    session.place.now += 5
    folder = str(session.place.folder(session.project))
    brief = Brief("handoff", text, 20)
    record_told(str(session.place.home), session.id, folder, "c1", session.place.now, (brief,))
    session.place.now += 5


def fate(found: Survival, words: str) -> str:
    (one,) = {each.fates for each in found.threads if words in each.text and each.group != "Open steps"}
    return one[-1][1] if one else ""


def test_a_fact_is_kept_brought_back_or_lost(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    session = begin(place)
    session.compact(SUMMARY)
    tell(session, BACK)
    session.turn("Now describe it in the README.", "Done: README.md has a section about retries.")
    found = survive(place, session)
    assert len(found.boundaries) == 1
    assert fate(found, "five times") == KEPT
    assert fate(found, "drawn at random") == RESTORED
    assert fate(found, "root cause") == LOST
    assert fate(found, "README") == "", "what came later was not there to be lost"
    assert sum(found.tally(0).values()) == sum(bool(one.fates) for one in found.threads)


def test_a_clear_takes_all_that_is_not_brought_back(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    session = begin(place)
    session.mark("SessionEnd", source="clear")
    place.now += 1
    then = place.session()
    then.mark("SessionStart", source="clear", after=session.id)
    tell(then, KEEP)
    then.turn("Go on.", "I go on.")
    for one in (session, then):
        found = survive(place, one)
        assert found.sessions == (session.id, then.id)
        assert fate(found, "five times") == RESTORED
        assert fate(found, "root cause") == LOST


def test_the_document_says_the_same(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    session = begin(place)
    session.compact(SUMMARY)
    found = survive(place, session)
    said = json.loads(json.dumps(survival_json(found)))
    assert said["boundaries"][0]["lost"] == found.tally(0)[LOST] > 0
    assert [one["text"] for one in said["facts"]] == [one.text for one in found.threads]


def made(count: int, text: str = "a fact") -> Survival:
    boundary = Compaction("s", 50.0, "host", "auto", 1000, 100, 1, None)
    fates = [((0, fate),) for fate in (KEPT, RESTORED, LOST)]
    threads = [
        Thread("Findings", Fact("finding", f"{text} {number}", (f"id{number}:0",), number % 50), fates[number % 3])
        for number in range(count)
    ]
    return Survival(("s",), tuple((float(at), 10 + at) for at in range(100)), (boundary,), tuple(threads))


@pytest.mark.parametrize("count", [0, 1, 5, 140, 141, 500])
def test_a_picture_has_a_thread_for_each_fact(count: int) -> None:
    drawn = draw(made(count), "A session")
    root = ElementTree.fromstring(drawn)
    threads = [one for one in root.iter() if one.get("class") == "thread"]
    assert len(threads) == count
    lost = count // 3
    named = count if count <= 140 else min(lost, 140)
    crosses = [one for one in root.iter() if one.get("class") == "lost"]
    assert len(crosses) == 1 + lost + min(lost, named), "one in the legend, and one before the words of each"
    words = [one for thread in threads for one in thread if one.tag.endswith("}text")]
    assert len(words) == named, "of very many only what was lost has words"
    assert ("only what was lost has its words" in drawn) == (named < count)
    height = int(root.get("height", "0"))
    assert all(float(one.get("y", "0")) <= height for one in root.iter())
    assert height < (3500 if named == count else 3500 + (17 - 5) * named), "words take room"


def test_a_picture_runs_nothing_and_shows_no_raw_text() -> None:
    drawn = draw(made(3, '<script>alert(1)</script> "\x1b[31m & ' + "long " * 400_000), "<b>&", lambda id: f"#{id}")
    root = ElementTree.fromstring(drawn)
    assert not [one for one in root.iter() if one.tag.endswith(("script", "b", "foreignObject"))]
    assert {one.get("href") for one in root.iter() if one.tag.endswith("}a")} == {"#id0:0", "#id1:0", "#id2:0"}
    assert len(drawn) < 20_000 and "\x1b" not in drawn
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", drawn)


def test_nothing_that_happened_is_a_picture_too() -> None:
    assert "nothing was lost" in draw(Survival(("s",), (), (), ()), "A session")


def test_where_no_response_says_its_size_facts_stand_in_the_order_they_came() -> None:
    drawn = draw(made(50)._replace(curve=((50.0, 1000),)), "A session")
    (mark,) = (float(one.get("x1", "0")) for one in ElementTree.fromstring(drawn).iter() if one.get("class") == "mark")
    begins = {float(x) for x in re.findall(r'<line class="kept" x1="([\d.]+)"', drawn)}
    assert len([x for x in begins if 430 < x < mark]) > 10
    assert "1,000 tokens" in drawn
