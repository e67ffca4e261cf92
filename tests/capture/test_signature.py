"""The same error is the same whatever its numbers and paths; another error is another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.capture.signature import (
    HARDLY,
    LONGEST,
    find_wrong,
    holds,
    is_wrong,
    likeness,
    line_of,
    says,
    signature,
    signatures,
    words,
    wrong_line,
)
from tests.capture.outputs import WRONG

TRACEBACK = """Traceback (most recent call last):
  File "/home/a/shop/cart.py", line {}, in total
    return self.prices[name]
KeyError: 'discount'
"""
CHAINED = """Traceback (most recent call last):
  File "a.py", line 3, in <module>
KeyError: 'x'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a.py", line 5, in <module>
ValueError: no price for x
"""
# what two runs of the same error print, and what its signature has
SAME = {
    "python": (TRACEBACK.format(12), TRACEBACK.format(4711), "KeyError: 'discount'"),
    "pytest": (
        "E   FileNotFoundError: [Errno 2] No such file or directory: '/tmp/pytest-1/a.toml'",
        "E       FileNotFoundError: [Errno 2] No such file or directory: '/tmp/pytest-of-me/pytest-88/a.toml'",
        "FileNotFoundError: [Errno 2] No such file or directory",
    ),
    "typescript": (
        "src/a.ts(217,9): error TS2322: Type 'string' is not assignable to type 'number'.",
        "packages/web/src/b.ts:3:11 - error TS2322: Type 'string' is not assignable to type 'number'.",
        "error TS2322: Type 'string' is not assignable to type 'number'",
    ),
    "node": (
        "/home/a/x.js:3\n  foo()\n  ^\n\nTypeError: foo is not a function\n    at main (/home/a/x.js:3:1)",
        "/srv/b/y.js:99\n  foo()\n  ^\n\nTypeError: foo is not a function\n    at run (/srv/b/y.js:99:7)",
        "TypeError: foo is not a function",
    ),
    "npm": (
        "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\nnpm ERR! A complete log /a/1.log",
        "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\nnpm ERR! A complete log /b/2.log",
        "ERESOLVE",
    ),
    "go build": (
        "# example.org/shop\n./cart.go:12:3: undefined: discount",
        "# example.org/shop/v2\nsrc/other.go:4:19: undefined: discount",
        "undefined: discount",
    ),
    "go test": ("--- FAIL: TestCart (0.03s)\n    cart", "--- FAIL: TestCart (12.50s)\nFAIL", "FAIL: TestCart"),
    "go panic": (
        "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\nmain.main() 0x1d",
        "panic: runtime error: index out of range [7] with length 2 [recovered]\n\ngoroutine 18 [running]:",
        "panic: runtime error: index out of range",
    ),
    "rust": (
        "error[E0382]: borrow of moved value: `cart`\n --> src/main.rs:9:20",
        "error[E0382]: borrow of moved value: `cart`\n  --> lib/b.rs:118:2\nerror: aborting due to 1 previous error",
        "error[E0382]: borrow of moved value: `cart`",
    ),
    "rust panic": (
        "thread 'main' panicked at src/main.rs:4:5:\ncalled `Option::unwrap()` on a `None` value",
        "thread 'main' panicked at lib/x.rs:40:15:\ncalled `Option::unwrap()` on a `None` value",
        "called `Option::unwrap()` on a `None` value",
    ),
    "java": (
        'Exception in thread "main" java.lang.Error: bad\n\tat A.b(A.java:5)\nCaused by: java.io.IOException: disk 3',
        'Exception in thread "p-1" java.lang.Error: bad\n\tat A.b(A.java:9)\nCaused by: java.io.IOException: disk 4',
        "java.io.IOException: disk #",
    ),
    "javac": (
        "src/A.java:5: error: cannot find symbol\n  x.foo();",
        "core/B.java:51: error: cannot find symbol\n  y.foo();",
        "error: cannot find symbol",
    ),
    "c": (
        "main.c:3:5: error: implicit declaration of function 'foo'",
        "/build/42/src/main.c:33:15: error: implicit declaration of function 'foo'",
        "error: implicit declaration of function 'foo'",
    ),
    "ld": (
        "/usr/bin/ld: /tmp/cc1a2b3c.o: undefined reference to `foo'\ncollect2: error: ld returned 1 exit status",
        "/usr/bin/ld: /tmp/ccZ9.o: undefined reference to `foo'\ncollect2: error: ld returned 1 exit status",
        "undefined reference to `foo'",
    ),
    "a shell": (
        "bash: line 1: make: command not found",
        "bash: line 22: make: command not found",
        "bash: make: command not found",
    ),
    "git": (
        "fatal: 'main' is already used by worktree at '/home/a/shop'",
        "Exit code 128\nfatal: 'main' is already used by worktree at '/srv/b/shop'\nhint: do something",
        "fatal: 'main' is already used by worktree at 'shop'",
    ),
    "git push": (
        " ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to 'github.com:a/b.git'",
        " ! [rejected]        topic -> topic (fetch first)\nerror: failed to push some refs to 'github.com:a/b.git'",
        "[rejected] (fetch first)",
    ),
    "docker": (
        "Error response from daemon: unable to remove (must force) - container 3f2a9bc1 uses it",
        "Error response from daemon: unable to remove (must force) - container 99ab12cd uses it",
        "Error response from daemon",
    ),
    "make": (
        "make: *** No rule to make target 'all'.  Stop.",
        "make[2]: *** No rule to make target 'all'.  Stop.\nmake: *** [Makefile:3: x] Error 2",
        "No rule to make target 'all'",
    ),
    "shell": ("/bin/sh: 1: terraform: not found", "/bin/sh: 42: terraform: not found", "terraform: not found"),
    "zsh": ("(eval):1: command not found: terraform", "(eval):7: command not found: terraform", "terraform"),
    "sql": (
        'psql:/a/b.sql:3: ERROR:  relation "orders" does not exist',
        'psql:c.sql:911: ERROR:  relation "orders" does not exist\nLINE 1: select',
        'relation "orders" does not exist',
    ),
    "sqlite": (
        "sqlite3.OperationalError: no such table: orders",
        "E   sqlite3.OperationalError: no such table: orders",
        "no such table: orders",
    ),
    "mypy": (
        'src/a.py:12: error: Incompatible types in assignment (expression has type "int")  [assignment]',
        'lib/b.py:3: error: Incompatible types in assignment (expression has type "int")  [assignment]',
        "Incompatible types in assignment",
    ),
    "eslint": (
        "  3:5  error  'x' is defined but never used  no-unused-vars",
        "/a/b.js\n  133:15  error  'x' is defined but never used  no-unused-vars",
        "'x' is defined but never used no-unused-vars",
    ),
    "ids": (
        "Error: job 0b7e6f1c-9d3a-4c55-8a11-0d9a1c2b3e4f failed after 12.5s at 0x7ffde3",
        "Error: job 11111111-2222-4333-8444-555555555555 failed after 3s at 0xdeadbeef",
        "Error: job <id> failed after <span> at <addr>",
    ),
    "colours": ("\x1b[31mError: no config\x1b[0m", "Error: no config", "Error: no config"),
    "task runner": (
        "[lint:go] a.go:1:2: unused variable x (unused)",
        "b.go:3:4: unused variable x (unused)",
        "unused variable x",
    ),
    "compose": ("web-1  | Error: no database", "Error: no database", "Error: no database"),
    "korean": ("오류: 설정 파일을 찾을 수 없습니다 (3)", "오류: 설정 파일을 찾을 수 없습니다 (14)", "설정 파일을"),
}  # fmt: skip
DIFFERENT = (
    ("ModuleNotFoundError: No module named 'yaml'", "ModuleNotFoundError: No module named 'numpy'"),
    ("KeyError: 'a'", "KeyError: 'b'"),
    ("assert 3 == 4", "assert 1 == 2"),
    ("error TS2322: Type 'a' is wrong", "error TS2769: Type 'a' is wrong"),
    ("Request failed with status code 403", "Request failed with status code 500"),
    ("./a.go:1:2: undefined: one", "./a.go:1:2: undefined: two"),
    ("connect ECONNREFUSED 127.0.0.1:5432 refused", "connect ECONNREFUSED 127.0.0.1:6379 refused"),
    ("ls: cannot access 'a.txt': No such file or directory", "ls: cannot access 'b.txt': No such file or directory"),
    ("--- FAIL: TestOne (0.0s)", "--- FAIL: TestTwo (0.0s)"),
)
NOTHING = (
    "",
    "Exit code 1",
    "Error",
    "14 passed in 1.07s",
    "0 errors, 0 warnings",
    "npm warn deprecated glob@7: no longer supported",
    "The user doesn't want to proceed with this tool use. The tool use was rejected.",
    "[Request interrupted by user for tool use]",
    "> build\n> tsc\n",
    "  % Total    % Received % Xferd",
    "╭──────────╮\n│ │",
    "✓ says when there is an error (3 ms)",
    "tests/test_a.py::test_error PASSED [ 50%]",
    "\n".join(f"step {number} of many" for number in range(9)),
    "12\n\n3.5",
)
HOSTILE = (
    "a" * 2_000_000,
    "Error: " + "(" * 100_000,
    "E " * 100_000,
    ": " * 200_000,
    "'" * 100_001,
    "/" * 300_000,
    "a." * 200_000 + "Error: x",
    "\n" * 500_000 + "Error: no config",
    "1:" * 100_000,
    "error[" * 50_000,
    "\x1b[" * 100_000,
    "<" * 100_000,
    "File x.py:1:2: " * 10_000,
    "-0x" * 100_000,
)


@pytest.mark.parametrize("name", SAME)
def test_the_same_error_has_the_same_signature(name: str) -> None:
    one, other, said = SAME[name]
    assert signature(one) == signature(other)
    assert said in signature(one)


@pytest.mark.parametrize(("one", "other"), DIFFERENT, ids=lambda text: text[:20])
def test_another_error_has_another(one: str, other: str) -> None:
    assert signature(one) and signature(one) != signature(other)


@pytest.mark.parametrize("text", NOTHING, ids=lambda text: ascii(text[:20]))
def test_what_says_nothing_has_none(text: str) -> None:
    assert signature(text) == ""


@pytest.mark.parametrize("name", WRONG)
def test_the_line_that_says_it_and_its_signature(name: str) -> None:
    output, line, said = WRONG[name]
    assert wrong_line(output) == line
    assert signature(output) == (said or line)
    assert says(output, said or line)


def test_what_only_says_that_something_went_wrong_is_told_where_nothing_says_what() -> None:
    hollow = "make: *** [Makefile:3: all] Error 2"
    assert [one.rank for one in find_wrong(hollow)] == [HARDLY]
    assert signatures(f"{hollow}\nmain.c:3:5: error: no member named 'x'") == ["error: no member named 'x'"]
    assert not is_wrong(hollow)


def test_of_a_chain_the_last_exception_counts() -> None:
    assert signature(CHAINED) == "ValueError: no price for x"


def test_a_failing_test_tells_more_than_what_programs_log_beside_it() -> None:
    output = "Error: context deadline exceeded\nfatal: no remote\n--- FAIL: TestResume (0.3s)\nFAIL"
    assert signatures(output)[0] == "FAIL: TestResume"
    assert "fatal: no remote" in signatures(output)


def test_the_line_is_found_in_the_middle_of_a_long_output() -> None:
    noise = "\n".join(f"compiling unit {number} of 900" for number in range(400))
    assert signature(f"{noise}\nsrc/a.c:3:5: error: no member named 'x'\n{noise}") == "error: no member named 'x'"


def test_a_secret_is_no_part_of_it() -> None:
    one, other = (f"Error: token <REDACTED:api-key:{tag}> was refused by the server" for tag in ("ab12", "cd34"))
    assert signature(one) == signature(other)
    assert "REDACTED" not in signature(one)


def test_what_says_an_error_is_recognised_without_reading_all_of_it() -> None:
    for one, other, _ in SAME.values():
        assert says(other, signature(one))
        assert not says("all is well", signature(one))


def test_words_to_search_for_are_the_telling_ones() -> None:
    assert words("error TS2322: Type 'press' is not assignable to type <str>") == ["TS2322", "press", "assignable"]


def test_likeness_is_of_words() -> None:
    assert likeness("no such table: orders", "no such table: orders") == 1.0
    assert likeness("no such table: orders", "KeyError: 'x'") == 0.0


def test_an_output_is_wrong_only_where_a_line_surely_is() -> None:
    assert is_wrong("src/a.ts(1,2): error TS2322: no")
    assert not is_wrong("checking what failed yesterday\nall good")


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:12]))
def test_nothing_takes_long(text: str) -> None:
    """Each rule looks at one line of bounded length: what is quadratic there would never end here."""
    assert len(signature(text)) <= LONGEST
    is_wrong(text)


LINES = st.sampled_from(
    [text for row in SAME.values() for text in row[:2]] + ["", "ok", "FAIL", "\0", "\ud800", "at x"]
)


@given(st.lists(st.one_of(LINES, st.text(max_size=80)), max_size=12).map("\n".join))
def test_any_text_has_a_bounded_signature_that_it_says(text: str) -> None:
    for said in signatures(text):
        assert 0 < len(said) <= LONGEST
        assert "\n" not in said and "\x1b" not in said


def test_a_bare_assertion_is_known_by_its_test() -> None:
    output = (
        ">       assert total() == 3\nE       assert 4 == 3\n\nFAILED tests/test_cart.py::test_total - assert 4 == 3"
    )
    assert signature(output) == "FAILED test_cart.py::test_total"


def test_a_part_of_an_error_is_known_by_its_names() -> None:
    whole = "missing cases in switch of type shop.Kind: shop.KindA (exhaustive)"
    assert holds(whole, "missing cases in switch of type Kind")
    assert holds(whole, "switch of type shop.Kind")
    assert not holds(whole, "missing cases in switch of type Sort")
    assert not holds(whole, "missing Kind")


def test_the_line_that_says_an_error_is_told_as_it_is() -> None:
    text = "$ make\nE   ValueError: id must be 12 letters\nsrc/a.go:3:1: undefined: rebate7\n"
    assert line_of(text, "ValueError: id must be # letters") == "ValueError: id must be 12 letters"
    assert line_of(text, "undefined: rebate7") == "undefined: rebate7"
    assert line_of(text, "something else") == "something else"
    assert line_of("", "") == ""
