"""What is typed half is completed, by the shells themselves."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.command import typed

LINES = (
    (("memory-keeper", "summ"), {"summarize"}, {"show"}),
    (("memory-keeper", "note", ""), {"add", "edit", "rm"}, {"demo", "README.md"}),
    (("memory-keeper", "note", "list", "--j"), {"--json"}, {"--kind"}),
    (("memory-keeper", "usage", "--by", ""), {"day", "week", "month"}, {"--json"}),
    (("memory-keeper", "usage", "--by", "week", "--si"), {"--since"}, {"day"}),
)
BASH = """
source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_memory_keeper; printf '%s\\n' "${COMPREPLY[@]}"
"""
# the completion system of zsh works in its line editor alone: what it would be given is printed
ZSH = """
compdef() { :; }
compadd() { shift; print -l -- "${(@M)@:#$words[CURRENT]*}"; }
source "$1"; shift; words=("$@"); CURRENT=$#; _memory_keeper
"""
FISH = 'source $argv[1]; complete -C (string join -- " " $argv[2..])'


@pytest.mark.parametrize(
    ("shell", "call"),
    [
        ("bash", ("bash", "--norc", "-c", BASH, "bash")),
        pytest.param("zsh", ("zsh", "-f", "-c", ZSH, "zsh"), marks=pytest.mark.shells),
        pytest.param("fish", ("fish", "-c", FISH), marks=pytest.mark.shells),
    ],
)
def test_a_shell_completes(shell: str, call: tuple[str, ...], tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(typed(tmp_path, "completion", shell).stdout)
    for words, wanted, others in LINES:
        done = subprocess.run([*call, script, *words], capture_output=True, text=True, cwd=tmp_path, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
        given = {line.partition("\t")[0] for line in done.stdout.splitlines()}
        assert wanted <= given and not others & given, (words, given)


def test_a_shell_that_is_not_known(tmp_path: Path) -> None:
    done = typed(tmp_path, "completion", "bsh")
    assert done.returncode == 2 and "did you mean bash" in done.stderr
