"""A program that looks and behaves like Claude Code at its prompt, and writes down every byte it reads.

    python puppet.py FOLDER [SETTING=VALUE ...]

It leaves `keys` (what it read) and `sent` (what was sent with Enter, a line each) in the folder, and `pid` when its
screen is there.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import tty
from pathlib import Path

STASH, BACK, ENTER = b"\x13", b"\x7f", b"\r"
OFFER = "/clear        Start a new session with empty context; previous"
SETTINGS = (
    "draft",  # what stands in the box
    "hint",  # what stands in it when nothing does
    "stash",  # what was put away
    "own",  # a command called /clear that comes before the host's
    "busy",  # a turn runs
    "dialog",  # a question is open: 1 from the start, "later" once something was typed
    "deaf",  # to C-s ("stash") or to Enter ("enter")
    "restless",  # somebody goes on typing
    "vi",  # keys are commands until an insertion begins
)


class Puppet:
    """The program's state, what it shows, and what keys do to it."""

    def __init__(self, **settings: str) -> None:
        assert set(settings) <= set(SETTINGS), settings
        self.about = {name: settings.get(name, "") for name in SETTINGS}
        self.text, self.stash = self.about["draft"], self.about["stash"]
        self.sent: list[str] = []
        self.inserts = not self.about["vi"]

    def screen(self, columns: int = 80) -> str:
        """What it shows."""
        if self.about["dialog"] == "1":
            return "\n".join(["─" * columns, " Do you want to proceed?", " ❯ 1. Yes", "   2. No", " Esc to cancel"])
        running = ["✻ Baking… (3s · ↓ 12 tokens)", ""] if self.about["busy"] else []
        lines = (self.text or self.about["hint"]).split("\n")
        box = ["─" * columns, f"❯\xa0{lines[0]}", *(f"  {line}" for line in lines[1:]), "─" * columns]
        footer = "  ? for shortcuts" + "".rjust(40) + ("● high · › stashed" if self.stash else "● high")
        if self.text == "/clear":
            return "\n".join([*running, *box, *([OFFER + " (project)"] if self.about["own"] else []), OFFER])
        return "\n".join(["● Done.", "", *running, *box, footer])

    def press(self, key: bytes) -> None:
        """What one key does."""
        if self.about["dialog"] == "1":
            return
        if key == STASH:
            if self.about["deaf"] != "stash" and (self.text or self.stash):
                self.text, self.stash = ("", self.text) if self.text else (self.stash, "")
        elif key == BACK:
            self.text = self.text[:-1]
        elif key == ENTER:
            if self.about["deaf"] != "enter":
                self.sent.append(self.text)
                self.text, self.stash = self.stash, ""
        elif self.inserts:
            self.text += key.decode("latin-1")
            if self.about["dialog"] == "later" and self.text.endswith("/clear"):
                self.about["dialog"] = "1"
        else:
            self.inserts = key == b"l"  # as "cl" does


def main(folder: Path, settings: dict[str, str]) -> None:
    """Play it in the terminal."""
    puppet, said = Puppet(**settings), 0
    signal.signal(signal.SIGCONT, lambda *_: None)
    tty.setraw(0)
    with (folder / "keys").open("ab", buffering=0) as keys, (folder / "sent").open("a") as sent:
        while True:
            shown = puppet.screen(os.get_terminal_size().columns)
            os.write(1, b"\x1b[2J\x1b[H" + shown.replace("\n", "\r\n").encode())
            (folder / "pid").write_text(str(os.getpid()))
            if not select.select([0], [], [], 0.1 if puppet.about["restless"] else None)[0]:
                puppet.text += "x"
                continue
            data = os.read(0, 1024)
            keys.write(data)
            for byte in data:
                puppet.press(bytes([byte]))
            for line in puppet.sent[said:]:
                sent.write(line + "\n")
                sent.flush()
            said = len(puppet.sent)


if __name__ == "__main__":
    main(Path(sys.argv[1]), dict(word.split("=", 1) for word in sys.argv[2:]))
