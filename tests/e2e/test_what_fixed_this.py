"""A real session in which something failed and was mended: what fixed it is known, and so is what its files held."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.cli import Sandbox, Session, wait_for
from tests.e2e.kept import keeper
from tests.e2e.model import Model, call, text

pytestmark = pytest.mark.e2e

TOOLS = ["--allowedTools", "Bash", "Read", "Edit", "Write"]
ERROR = "NameError: name 'discount' is not defined"


def mend(sandbox: Sandbox, api: Model) -> Path:
    """Write a file, run it, mend it, run it again."""
    file = sandbox.project / "cart.py"
    run = {"command": "python3 cart.py", "description": "run it"}
    api.play(
        call("Write", file_path=str(file), content="total = discount(3)\nprint(total)\n"),
        call("Bash", **run),
        call("Edit", file_path=str(file), old_string="discount(3)", new_string="3"),
        call("Bash", **run),
        text("It runs."),
    )
    with Session(sandbox, *TOOLS) as session:
        session.ask("Write the cart and make it run.")
    assert file.read_text() == "total = 3\nprint(total)\n"
    return file


def test_what_fixed_an_error_and_that_the_file_has_changed_since(sandbox: Sandbox, api: Model, checkout: Path) -> None:
    file = mend(sandbox, api)
    (fix,) = wait_for(lambda: keeper(sandbox, checkout, "fix", ERROR)["fixes"], "the writer")
    assert fix["command"] == "python3 cart.py"
    assert fix["how"][0]["text"] == "edited cart.py: `discount(3)` -> `3`"
    assert [(state["path"], state["status"]) for state in fix["files"]] == [("cart.py", "same")]
    assert keeper(sandbox, checkout, "how", "python3")["ok"] == 1
    (touch,) = keeper(sandbox, checkout, "blame", "cart.py")["touches"]
    assert [edit["tool"] for edit in touch["edits"]] == ["Write", "Edit"]

    file.write_text("total = 4\n")
    (fix,) = keeper(sandbox, checkout, "fix", ERROR)["fixes"]
    assert fix["since"] == "cart.py has changed since"
    assert keeper(sandbox, checkout, "blame", "cart.py")["since"] == "cart.py has changed since"
