"""A text taken apart into sentences: what counts as one, what is passed over, and marks of layout."""

from __future__ import annotations

import pytest

from memory_keeper.rules.sentences import split, units, unmarked


def statements(text: str) -> list[str]:
    return [sentence for unit in units(text) for sentence in split(unit.said)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It works. It is fast!", ["It works.", "It is fast!"]),
        ("Use v1.2.3 of node.js, e.g. from nvm. Then go on.", ["Use v1.2.3 of node.js, e.g. from nvm.", "Then go on."]),
        (
            "로그인을 고쳤습니다. 테스트가 통과했어요! 다음은 배포입니다.",
            ["로그인을 고쳤습니다.", "테스트가 통과했어요!", "다음은 배포입니다."],
        ),
        ("缓存已修复。测试通过了！还有问题吗？", ["缓存已修复。", "测试通过了！", "还有问题吗？"]),
        ("テストが通りました。次に進みます。", ["テストが通りました。", "次に進みます。"]),
        ("Run `a. B` first. Then stop.", ["Run `a. B` first.", "Then stop."]),
        (
            "- the first thing is done\n- the second thing is open\n1. number one is here",
            ["the first thing is done", "the second thing is open", "number one is here"],
        ),
        ("- ✅ the tests pass now", ["the tests pass now"]),
        (
            "This line was wrapped by somebody at a width that is usual for mail and\ngoes on here. Next one.",
            ["This line was wrapped by somebody at a width that is usual for mail and goes on here.", "Next one."],
        ),
        ("> a quote of the user\n> and another line", ["a quote of the user", "and another line"]),
        ('He said "stop." Then he left.', ['He said "stop."', "Then he left."]),
        ("Really?! Yes… Well.", ["Really?!", "Yes…", "Well."]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert statements(text) == expected


def test_a_fence_that_is_never_closed_hides_nothing() -> None:
    assert statements("Before it.\n```\nThe rest is told as well.") == ["Before it.", "The rest is told as well."]


def test_statements_are_no_headings_diffs_and_logs() -> None:
    text = """## The design decision
We keep the spool file.
+ // Always written as steps_count in new metadata.
2026-02-10 12:43:25 WARN never write to the branch
- It is small and needs no server.
"""
    assert statements(text) == ["We keep the spool file.", "It is small and needs no server."]


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("**Fixed** the **retry** loop", "Fixed the retry loop"),
        ("Timestamp still not UTC** - later", "Timestamp still not UTC - later"),
        ("이것은 **결정**을 뜻합니다", "이것은 결정을 뜻합니다"),
        ("look at src/**/*.py and **/*.ts", "look at src/**/*.py and **/*.ts"),
        ("2**3 and 4**5", "2**3 and 4**5"),
        ("Yes. ## Next ### Then", "Yes. Next Then"),
    ],
)
def test_marks_of_layout(said: str, plain: str) -> None:
    assert unmarked(said) == plain
