"""A session, event by event, for tests of what is made of events."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from memory_keeper.capture.claude_code import TODO_TOOLS
from memory_keeper.model import Event


class Story:
    """Events in order, as capture makes them of a transcript."""

    def __init__(self, agent: str = "") -> None:
        self.events: list[Event] = []
        self.agent = agent

    def add(self, kind: str, text: str, **more: Any) -> Event:
        number = len(self.events)
        event = Event(f"e{number}:0", 1000.0 + number, kind, "s", "p", text, agent=self.agent, **more)
        self.events.append(event)
        return event

    def prompt(self, text: str) -> Event:
        return self.add("prompt", text)

    def reply(self, text: str) -> Event:
        return self.add("reply", text)

    def thinking(self, text: str) -> Event:
        return self.add("thinking", text)

    def call(self, tool: str, answer: str | None = "", failed: bool = False, **given: Any) -> Event:
        """A call, and its result right after it; no answer: it never came."""
        ref = f"toolu_{len(self.events)}"
        text = "\n".join(f"{key}: {one if isinstance(one, str) else json.dumps(one)}" for key, one in given.items())
        todo = tool in TODO_TOOLS
        path = str(given.get("file_path") or given.get("path") or "")
        extra = json.dumps(given) if todo else ""
        made = self.add("todo" if todo else "call", text, tool=tool, path=path, ref=ref, extra=extra)
        if answer is not None:
            self.add("result", answer, ref=ref, failed=failed)
        return made

    def run(self, command: str, answer: str | None = "", failed: bool = False) -> Event:
        return self.call("Bash", answer, failed, command=command)

    def edit(self, path: str, old: str, new: str, failed: bool = False) -> Event:
        return self.call("Edit", "", failed, file_path=path, old_string=old, new_string=new)


TOOLS = ("", "Bash", "Edit", "Read", "Grep", "TodoWrite", "TaskCreate", "AskUserQuestion")
KINDS = ("prompt", "reply", "thinking", "call", "result", "todo", "notice", "other")
PIECES = st.sampled_from(
    (
        "always use fooBar", "because", "instead of", "a_b_c", "src/a.py", "12345", "#12", "error: no", "3 passed",
        "항상", "때문에", "\n", ". ", "```", '"', "command: make test", "file_path: /p/a.py", "old_string: ", "\ud800",
        "\0", "[main 1a2b3c4] m", "https://x.y/z", "<REDACTED:key:ab12>",
        "\n" * 25_000,
    )
)  # fmt: skip
TEXTS = st.one_of(st.lists(PIECES, max_size=12).map(" ".join), st.text(max_size=60))


@st.composite
def sessions(draw: st.DrawFn) -> list[Event]:
    """Any events, in any order."""
    made: list[Event] = []
    for number in range(draw(st.integers(0, 25))):
        kind = draw(st.sampled_from(KINDS))
        extra: Any = draw(st.sampled_from(("", "{", "[]", json.dumps({"todos": [{"content": "x", "status": "y"}, 3]}))))
        made.append(
            Event(
                f"e{number}:0",
                float(number),
                kind,
                "s",
                "p",
                draw(TEXTS),
                tool=draw(
                    st.sampled_from(("", "Bash", "Edit", "Read", "Grep", "TodoWrite", "TaskCreate", "AskUserQuestion"))
                ),
                path=draw(st.sampled_from(("", "/p/a.py", "/p/q/b.go", "c.md", "/p/"))),
                ref=draw(st.sampled_from(("", "r1", "r2", "r3"))),
                agent=draw(st.sampled_from(("", "", "", "a1"))),
                failed=draw(st.booleans()),
                extra=extra,
            )
        )
    return made
