"""`docs`: the pages can be read where there is no checkout."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from memory_keeper.host.registration import assemble
from tests.command import memory_keeper, typed
from tests.machine import Machine

ROOT = Path(__file__).parents[3]


def test_every_page_is_listed_and_shown(machine: Machine) -> None:
    listed = json.loads(memory_keeper(machine, "docs", "--json"))
    names = {page["name"] for page in listed}
    assert {"tutorial", "glossary", "how-to/rules", "explanation/limits", "reference/cli"} <= names
    for page in listed:
        text = memory_keeper(machine, "docs", page["name"])
        assert text.startswith(f"# {page['title']}") and "[[[cog" not in text, page["name"]


def test_a_page_is_known_by_the_end_of_its_name_and_by_a_link_to_it(machine: Machine) -> None:
    shown = memory_keeper(machine, "docs", "how-to/rules")
    for name in ("rules", "rules.md", "docs/how-to/rules.md", "how-to/rules.md#the-rules-that-come-with-it"):
        assert memory_keeper(machine, "docs", name) == shown


def test_what_was_meant_is_guessed(machine: Machine) -> None:
    done = typed(machine.project, "docs", "tutorail")
    assert done.returncode == 1 and "did you mean tutorial?" in done.stderr


def test_what_install_put_together_has_the_pages_as_well(tmp_path: Path) -> None:
    program = Path(assemble(str(tmp_path)), "bin/memory-keeper")
    done = subprocess.run([program, "docs", "tutorial"], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.stdout.startswith("# "), done.stderr
