"""The interactive CLI, in a tmux of its own: what a user types and sees."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Self

from tests.e2e.cli import Sandbox, wait_for

SIGN = "\u276f"  # what the input box begins with


class Tui:
    """A terminal in which the CLI runs."""

    def __init__(
        self, sandbox: Sandbox, *args: str, columns: int = 160, rows: int = 50, under: tuple[str, ...] = ()
    ) -> None:
        self._sandbox = sandbox
        command = shlex.join([*under, sandbox.cli, *args])
        variables = [word for name, value in sandbox.env.items() for word in ("-e", f"{name}={value}")]
        size = ["-x", str(columns), "-y", str(rows), "-c", str(sandbox.project)]
        begin = ("-f", "/dev/null", "new-session", "-d", *size, *variables, command)
        # the server of the terminal before may still be going, and takes this one with it
        self.pid = int(wait_for(lambda: self._begun(*begin), "a terminal"))

    def _begun(self, *begin: str) -> str:
        """The process in a terminal that was begun; empty where there is none."""
        self._tmux(*begin)
        self._tmux("set-option", "remain-on-exit", "on")
        return self._tmux("display-message", "-p", "#{pane_pid}").strip()

    def beside(self, command: str) -> None:
        """Run something in another pane, below, which is not looked at."""
        self._tmux("split-window", "-d", "-l", "8", "-c", str(self._sandbox.project), command)

    def other(self) -> str:
        """What the other pane shows."""
        return self._tmux("capture-pane", "-p", "-t", ":.1")

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size."""
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def _tmux(self, *args: str) -> str:
        done = self._sandbox.net.run(["tmux", "-S", str(self._sandbox.root / "tmux"), *args], env=self._sandbox.env)
        return done.stdout

    def screen(self) -> str:
        """What the user sees."""
        return self._tmux("capture-pane", "-p")

    def picture(self) -> str:
        """What the user sees, with the escapes that colour it, and blanks that have a colour."""
        return self._tmux("capture-pane", "-e", "-N", "-p")

    def wait(self, text: str, times: int = 1) -> str:
        """The screen, once it shows a text that often."""
        try:
            return wait_for(lambda: seen if (seen := self.screen()).count(text) >= times else "", repr(text))
        except TimeoutError as error:
            raise TimeoutError(f"{error}; the screen was\n{self.screen()}") from None

    def finish(self, turns: int) -> str:
        """The screen, once so many turns are over, their hooks too."""
        return self.wait(" · done ", turns)

    def box(self) -> str:
        """What stands in the input box."""
        lines = [line for line in self.screen().splitlines() if line.startswith(SIGN)]
        return lines[-1][1:].strip() if lines else ""

    def type(self, line: str) -> None:
        """Type a line and press Enter until it is taken: keys can be lost while the CLI starts."""
        self.draft(line)
        wait_for(lambda: self._enter() != line, f"{line!r} taken")

    def draft(self, words: str) -> None:
        """Type words and leave them in the input box."""
        self.wait(SIGN)
        self._tmux("send-keys", "-l", words)
        wait_for(lambda: self.box() == words, f"{words!r} in the input box")

    def _enter(self) -> str:
        self._tmux("send-keys", "Enter")
        try:
            wait_for(lambda: not self.box(), "an empty box", patience=0.5)
        except TimeoutError:
            pass
        return self.box()

    def leave(self) -> None:
        """Type /exit and wait for the CLI's end."""
        self.draft("/exit")
        wait_for(self._has_left, "the CLI's end")

    def _has_left(self) -> bool:
        self._enter()
        return self._tmux("display-message", "-p", "#{pane_dead}").strip() == "1"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._tmux("kill-server")
        wait_for(lambda: not Path(f"/proc/{self.pid}").exists(), "the CLI's end")  # its last hooks still run
