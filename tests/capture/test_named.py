"""What a prompt names, and what only looks like a name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.capture.named import LONGEST, MOST, is_command, names_in, says_error


@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        ("Look at src/app/login.py:12, please.", ["src/app/login.py"]),
        ("Look at @src/app/login.py#L12-20!", ["src/app/login.py"]),
        ("Is (login.py) the same as ./login.py?", ["login.py"]),
        ("The Dockerfile and .env are old.", ["Dockerfile", ".env"]),
        ("Why is retry_policy global, and RetryPolicy not?", ["retry_policy", "RetryPolicy"]),
        ("Does greet() call cache.evict(key)?", ["greet", "cache.evict"]),
        ("Set DB_POOL_SIZE, or pass --no-verify.", ["DB_POOL_SIZE", "--no-verify"]),
        ("See APP-1234 and #4711.", ["APP-1234", "#4711"]),
        ("What is `ranking` for?", ["ranking"]),
        ("What does std::move do in io::Error?", ["std::move", "io::Error"]),
        ("auth.py를 고치고 getUserName을 봐 줘.", ["auth.py", "getUserName"]),
        ("설계.md 를 읽어 줘.", ["설계.md"]),
        ("```py\nsome_code()\n```\nfix other_code", ["other_code"]),
    ],
)
def test_names(prompt: str, names: list[str]) -> None:
    assert [name.text for name in names_in(prompt)] == names


@pytest.mark.parametrize(
    "prompt",
    [
        "Please make the upload resume where it stopped, and add a test.",
        "Ship it, e.g. today, i.e. now; and/or tomorrow at 5 p.m.",
        "We use Node.js, TypeScript and PostgreSQL on GitHub, macOS 14.2 and v2.1.325.",
        "It costs 3.50 for 10,000; see https://example.com/a_b/c.html or example.com.",
        "A well-known, up-to-date file(s) thing... really?",
        "Is `main` the `test`?",
        "Yes. No! Why? (Because.)",
        "하던 일을 계속해 줘.",
        "",
    ],
)
def test_words_are_no_names(prompt: str) -> None:
    assert names_in(prompt) == []


def test_a_long_prompt_is_looked_at_as_far_as_it_goes() -> None:
    assert len(names_in(" ".join(f"name_{number}" for number in range(99)))) == MOST
    assert names_in("a " * LONGEST + "some_name") == []


@pytest.mark.parametrize(
    ("prompt", "command"),
    [
        ("/compact", True),
        ("/memory-keeper:search src/hooks.py", True),
        ("! ls", True),
        ("/home/me/app.py is broken", False),
        ("/app.py is broken", False),
        ("fix it", False),
        ("", False),
    ],
)
def test_what_is_for_the_host(prompt: str, command: bool) -> None:
    assert is_command(prompt) == command


def test_an_error_is_known_by_how_programs_write_it() -> None:
    assert says_error("I get ValueError: boom") and says_error("bash: foo: command not found")
    assert not says_error("There is an error in the login, and it failed twice.")


@given(st.text())
def test_whatever_a_prompt_is_its_names_are_in_it(prompt: str) -> None:
    assert all(name.text in prompt and name.base for name in names_in(prompt))
