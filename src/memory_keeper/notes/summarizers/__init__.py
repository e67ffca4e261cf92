"""Models that say the same in fewer words, whose answer is judged before it is taken.

They satisfy `Summarizer`: `anthropic` and `openai` over an `api`, `claude_cli` and a `program` on this machine.
`asking` is what they are asked, `outline_answer` that for an outline, `verdict` judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from memory_keeper.model import Json
from memory_keeper.notes.summarizers.asking import Answer, Ask


class Summarizer(Protocol):
    """Asks a model for the texts in fewer tokens; `root` is the project, of which nothing is run or trusted."""

    def __call__(
        self,
        texts: Sequence[str],
        budget: int,
        settings: Json,
        environ: dict[str, str],
        root: str = "",
        ask: Ask = ...,
    ) -> Answer: ...
