"""The terminal of a new user: a shell, in which Claude Code is started and left again."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.cli import Sandbox, wait_for
from tests.e2e.tui import SIGN, Tui


class Terminal(Tui):
    """A shell in a folder, with `claude` on its PATH; the CLI knows and trusts the folders named."""

    def __init__(self, sandbox: Sandbox, folder: Path, *trusted: Path) -> None:
        self._prompts = sandbox.root / "prompts"
        programs = sandbox.root / "bin"
        programs.mkdir()
        (programs / "claude").symlink_to(sandbox.cli)
        sandbox.env |= {"PS1": "$ ", "PROMPT_COMMAND": f"echo >> {self._prompts}"}
        sandbox.env["PATH"] = f"{programs}:{sandbox.env['PATH']}"
        known = json.loads((sandbox.home / ".claude.json").read_text())
        (about,) = known["projects"].values()
        known["projects"] |= {str(one): about for one in trusted}
        (sandbox.home / ".claude.json").write_text(json.dumps(known))
        sandbox.cli, sandbox.project = "bash", folder
        super().__init__(sandbox, "--norc", "--noprofile", columns=150)
        self._wait_for_prompt(1)

    def run(self, line: str) -> str:
        """Type a line into the shell; what is on the screen and above it when it is done, or Claude Code is there."""
        before = self._count()
        self._tmux("send-keys", "-l", f"clear; {line}")
        self._tmux("send-keys", "Enter")
        if line == "claude":
            return self.wait(SIGN)
        if line == "./memory-keeper install":
            self.wait("in Claude Code's status line? [y/N]")
            self._tmux("send-keys", "-l", "n")
            self._tmux("send-keys", "Enter")
        self._wait_for_prompt(before + 1)
        seen = self._tmux("capture-pane", "-J", "-p", "-S", "-")
        self._tmux("clear-history")
        return seen

    def ask(self, prompt: str) -> None:
        """Type something into Claude Code; an /exit ends in the shell."""
        before = self._count()
        turns = self.screen().count(" · done ")
        self.type(prompt)
        if prompt == "/exit":
            self._wait_for_prompt(before + 1)
        elif prompt == "/clear":
            self.wait("restored where the last context stood")
        else:
            self.wait(" · done ", turns + 1)

    def _count(self) -> int:
        return self._prompts.read_text().count("\n") if self._prompts.exists() else 0

    def _wait_for_prompt(self, times: int) -> None:
        def there() -> bool:
            if self.screen().rstrip().endswith("Type yes:"):  # whoever is asked something says no
                self._tmux("send-keys", "Enter")
            return self._count() >= times

        try:
            wait_for(there, "the shell's prompt", patience=60)
        except TimeoutError as error:
            raise TimeoutError(f"{error}; the screen was\n{self.screen()}") from None
