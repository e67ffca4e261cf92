"""Outputs of commands that failed, as people see them, and the line of each that says what went wrong."""

from __future__ import annotations

PYTEST = """
    def test_f():
>       assert f(1) == 2
E       assert 1 == 2
E        +  where 1 = f(1)

tests/test_f.py:4: AssertionError
"""
SUMMARY = """=========================== short test summary info ============================
FAILED tests/test_f.py::test_f - assert 1 == 2
========================= 1 failed, 2 passed in 0.12s ==========================
"""
CARGO = """   Compiling shop v0.1.0 (/home/a/shop)
error[E0425]: cannot find value `rebate` in this scope
 --> src/main.rs:2:5
  |
2 |     rebate
  |     ^^^^^^ not found in this scope

For more information about this error, try `rustc --explain E0425`.
error: could not compile `shop` (bin "shop") due to 1 previous error
"""
CARGO_TEST = """running 2 tests
test tests::adds ... FAILED
test tests::takes ... ok

failures:

---- tests::adds stdout ----

thread 'tests::adds' (4711) panicked at src/lib.rs:10:9:
assertion `left == right` failed
  left: 3
 right: 4
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

failures:
    tests::adds

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `--lib`
"""
JEST = """ FAIL  src/pay.test.ts
  pay
    ✓ says when there is an error (2 ms)
    ✕ adds (4 ms)

  ● pay › adds

    expect(received).toBe(expected) // Object.is equality

    Expected: 3
    Received: 4

Tests:       1 failed, 1 passed, 2 total
"""
MAVEN = """[INFO] Compiling 3 source files to /home/a/shop/target/classes
[INFO] BUILD FAILURE
[ERROR] /home/a/shop/src/main/java/Cart.java:[5,9] cannot find symbol
[ERROR]   symbol:   method rebate()
"""
JAVA = """Exception in thread "main" java.lang.IllegalStateException: no price for tea
\tat shop.Cart.total(Cart.java:5)
\tat shop.Main.main(Main.java:3)
"""
RUFF = """F401 [*] `os` imported but unused
 --> src/a.py:1:8
  |
1 | import os
  |        ^^
  |
help: Remove unused import: `os`

Found 1 error.
[*] 1 fixable with the `--fix` option.
"""
UNITTEST = """======================================================================
FAIL: test_total (test_cart.TestCart.test_total)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/home/a/shop/test_cart.py", line 9, in test_total
    self.assertEqual(total(), 3)
AssertionError: 4 != 3

----------------------------------------------------------------------
Ran 2 tests in 0.001s

FAILED (failures=1)
"""
MODULE = """Traceback (most recent call last):
  File "/home/a/shop/cart.py", line 1, in <module>
    import yaml
ModuleNotFoundError: No module named 'yaml'
"""
TSC = """\x1b[96msrc/a.ts\x1b[0m:\x1b[93m217\x1b[0m:\x1b[93m9\x1b[0m - \x1b[91merror\x1b[0m TS2322: It is not.

Found 1 error in src/a.ts:217
"""
GCC = """main.c: In function 'main':
main.c:3:5: error: expected ';' before 'return'
    3 |     return 0;
make: *** [Makefile:3: all] Error 1
"""
# by what printed it: the output, the line that says it as it was printed, and its signature; empty: the same
WRONG = {
    "make, and no more": (
        "gcc -c main.c\nmake: *** [Makefile:3: all] Error 1",
        "make: *** [Makefile:3: all] Error 1",
        "make: *** [Makefile: all] Error 1",
    ),
    "make": (
        "make: *** No rule to make target 'all'.  Stop.",
        "make: *** No rule to make target 'all'.  Stop.",
        "make: *** No rule to make target 'all'. Stop",
    ),
    "npm, and no more": (
        "npm ERR! code ELIFECYCLE\nnpm ERR! errno 1\nnpm ERR! A complete log of this run can be found in: /a/1.log",
        "npm ERR! code ELIFECYCLE",
        "",
    ),
    "npm": (
        'npm ERR! Missing script: "biuld"\nnpm ERR! A complete log of this run can be found in: /a/1.log',
        'npm ERR! Missing script: "biuld"',
        "",
    ),
    "pytest": (PYTEST, "assert 1 == 2", ""),
    "pytest, with its summary": (
        PYTEST + SUMMARY,
        "FAILED tests/test_f.py::test_f - assert 1 == 2",
        "FAILED test_f.py::test_f",
    ),
    "unittest": (UNITTEST, "FAIL: test_total (test_cart.TestCart.test_total)", ""),
    "a panic": (
        "thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds: the len is 3 but the index is 7\nnote: run",
        "thread 'main' panicked at src/main.rs:4:5: index out of bounds: the len is 3 but the index is 7",
        "thread 'main' panicked: index out of bounds: the len is # but the index is #",
    ),
    "cargo build": (CARGO, "error[E0425]: cannot find value `rebate` in this scope", ""),
    "cargo test": (
        CARGO_TEST,
        "thread 'tests::adds' (4711) panicked at src/lib.rs:10:9: assertion `left == right` failed",
        "thread 'tests::adds' panicked: assertion `left == right` failed",
    ),
    "a module": (
        MODULE,
        "ModuleNotFoundError: No module named 'yaml'",
        "",
    ),
    "tsc": (
        "src/a.ts(217,9): error TS2322: Type 'string' is not assignable to type 'number'.",
        "src/a.ts(217,9): error TS2322: Type 'string' is not assignable to type 'number'.",
        "error TS2322: Type 'string' is not assignable to type 'number'",
    ),
    "tsc, with colours": (
        TSC,
        "src/a.ts:217:9 - error TS2322: It is not.",
        "error TS2322: It is not",
    ),
    "go build": (
        "# example.org/shop\n./cart.go:12:3: undefined: discount",
        "./cart.go:12:3: undefined: discount",
        "undefined: discount",
    ),
    "go test": (
        "--- FAIL: TestTotal (0.00s)\n    cart_test.go:9: got 3, want 4\nFAIL\nFAIL\texample.org/shop\t0.003s\nFAIL",
        "--- FAIL: TestTotal (0.00s)",
        "FAIL: TestTotal",
    ),
    "java": (
        JAVA,
        'Exception in thread "main" java.lang.IllegalStateException: no price for tea',
        "",
    ),
    "maven": (MAVEN, "/home/a/shop/src/main/java/Cart.java:[5,9] cannot find symbol", "cannot find symbol"),
    "gcc": (
        GCC,
        "main.c:3:5: error: expected ';' before 'return'",
        "error: expected ';' before 'return'",
    ),
    "jest": (JEST, "pay › adds", ""),
    "ruff": (RUFF, "F401 [*] `os` imported but unused", ""),
    "ruff, a line each": (
        "src/a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.\n",
        "src/a.py:1:8: F401 [*] `os` imported but unused",
        "F401 [*] `os` imported but unused",
    ),
    "mypy": (
        'src/a.py:12: error: Name "rebate" is not defined  [name-defined]\nFound 1 error in 1 file (checked 3 files)',
        'src/a.py:12: error: Name "rebate" is not defined  [name-defined]',
        'error: Name "rebate" is not defined [name-defined]',
    ),
    "a shell": (
        "/bin/bash: line 1: make: command not found",
        "/bin/bash: line 1: make: command not found",
        "bash: make: command not found",
    ),
    "git": (
        "fatal: not a git repository (or any of the parent directories): .git",
        "fatal: not a git repository (or any of the parent directories): .git",
        "",
    ),
    "a few words": ("Exit code 3\nThe shop is closed on Mondays", "The shop is closed on Mondays", ""),
}
RED, BOLD, GREEN, PLAIN = "\x1b[31m", "\x1b[1m", "\x1b[32m", "\x1b[0m"
# command lines that hide how a command ended, with an output that tells that it failed
FAILED = (
    ("pytest -q | tail -1", f"{RED}{BOLD}1 failed{PLAIN}, {GREEN}2 passed{PLAIN} in 0.1s"),
    ("vendor/bin/phpunit | tail", "FAILURES!\nTests: 3, Assertions: 3, Failures: 1."),
    ("vendor/bin/phpunit | tail -1", "Tests: 3, Assertions: 3, Errors: 1."),
    ("make all 2>&1 | tail -2", "make[1]: *** [sub] Error 1\nmake: *** [all] Error 2"),
    ("mvn -q test | tail", "[INFO] x\n[ERROR] BUILD FAILURE"),
    ("mvn test | tail -1", "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin"),
    ("mvn test | tail", "[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0"),
    ("gradle test | tail", "FAILURE: Build failed with an exception."),
    ("terraform apply | tail", f"{RED}│{PLAIN} {BOLD}{RED}Error: {PLAIN}{PLAIN}{BOLD}bad thing{PLAIN}"),
    ("./shop | tail", "Segmentation fault (core dumped)"),
    ("./shop | tail", "Killed"),
    ("./shop | tail", "/bin/bash: line 1:  4711 Killed                  ./shop | tail"),
    ("pytset -q 2>&1 | tail -3", "/bin/bash: line 1: pytset: command not found"),
    ("pytset -q 2>&1 | tail -3", "bash: pytset: command not found"),
    ("pytset -q 2>&1 | tail -3", "zsh: command not found: pytset"),
    ("python3 -c 'assert f()' 2>&1 | tail -5", 'Traceback (most recent call last):\n  File "a.py"\nAssertionError\n'),
    ("python3 -m shop | tail", "AssertionError: 4 != 3"),
    ("cargo test | tail -1", "error: test failed, to rerun pass `--lib`"),
    ("npm run build | tail -3", "npm ERR! code ELIFECYCLE\nnpm ERR! errno 1"),
    ("node --test | tail", "# tests 3\n# pass 2\n# fail 1"),
    ("bun test | tail", " 2 pass\n 1 fail"),
    ("dotnet test | tail", "Failed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3"),
    ("pre-commit run | tail", "mypy.....................Failed"),
    ("ansible-playbook site.yml | tail", "web : ok=3 changed=1 unreachable=0 failed=1 skipped=0"),
    ("ninja | tail", "ninja: build stopped: subcommand failed."),
    ("go run . | tail -1", "exit status 1"),
    ("docker build . | tail", 'ERROR: failed to solve: process "/bin/sh -c make" did not complete: exit code: 2'),
    ("git push | tail", " ! [rejected]        main -> main (fetch first)"),
    ("git merge topic | tail", "CONFLICT (content): Merge conflict in a.py"),
    ("make; echo exit=$?", "exit=2"),
    ('make; echo "EXIT CODE: $?"', "EXIT CODE: 2"),
)
# and those that went well, or only print what went wrong elsewhere
WELL = (
    ("make | tail", "0 errors"),
    ("make | tail", "no errors found"),
    ("make | tail", "error handling added"),
    ("make | tail", "make: [Makefile:3: x] Error 1 (ignored)"),
    ("vendor/bin/phpunit | tail", "Tests: 3, Failures: 0, Errors: 0"),
    ("./shop test | tail", "PASSED: 3\nFAILED: 0"),
    ("rspec | tail", "3 examples, 0 failures"),
    ("ctest | tail", "100% tests passed, 0 tests failed out of 3"),
    ("node --test | tail", "# fail 0"),
    ("ruff check --fix | tail", "Found 3 errors (3 fixed, 0 remaining)."),
    ("./shop --max-errors=10 | tail", "running with --max-errors=10"),
    ("fuser -k 80/tcp | tail", "Killed process 3"),
    ("git commit -m x | tail", "[main 1a2b3c4] Tell FAILED jobs and 3 errors"),
    ("git commit -qm x; git log --oneline | head -2", "1a2b3c4 Tell FAILED jobs"),
    ("cat log | tail", "make: *** [all] Error 2"),
    ("grep -rn FAILURES . | head", "a.py: FAILURES!"),
    ("git log | head -3", "    Fix 3 errors: Segmentation fault"),
    ("make | grep x; echo rc=$?", "rc=1"),
    ("make; echo rc=$?", "rc=0"),
)
