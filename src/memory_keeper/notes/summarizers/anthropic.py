"""The Messages API as a summarizer, at Anthropic's address or any that speaks the same."""

from __future__ import annotations

from collections.abc import Sequence
from secrets import token_hex

from memory_keeper import wire
from memory_keeper.capture.gauge import COUNTS
from memory_keeper.errors import NotSetUp
from memory_keeper.model import Json
from memory_keeper.notes.summarizers.api import find_key, finished, name_of, post
from memory_keeper.notes.summarizers.asking import Answer, Ask, prompt

NAME = "anthropic"
URL, MODEL, KEY = "https://api.anthropic.com", "claude-haiku-4-5", "ANTHROPIC_API_KEY"
TIMEOUT = 60


def summarize(
    texts: Sequence[str], budget: int, settings: Json, environ: dict[str, str], root: str = "", ask: Ask = prompt
) -> Answer:
    """What the texts say, in a model's words.

    Settings, of the user and never of a project: `summarize.url`, `summarize.model`, `summarize.keyVariable` (the name
    of the variable the key is in), `summarize.timeout`. The answer is not to be trusted: see `judge`.
    """
    base = str(settings.get("summarize.url") or URL)
    key = find_key(NAME, KEY, settings, environ, root, usual=base == URL)
    if not key and base == URL:
        raise NotSetUp(f"No key for {URL}", hint=f"set {KEY}, or choose another summarizer")
    told, asked = ask(texts, budget, token_hex(8))
    body = {
        "model": str(settings.get("summarize.model") or MODEL),
        "max_tokens": 2 * budget + 200,
        "system": told,
        "messages": [{"role": "user", "content": asked}],
    }
    headers = {"anthropic-version": "2023-06-01", **({"x-api-key": key} if key else {})}
    url = base.rstrip("/").removesuffix("/v1") + "/v1/messages"
    said = post(url, headers, body, float(settings.get("summarize.timeout") or TIMEOUT), environ, secret=key)
    return _read(said, body["model"])


def _read(said: Json, model: object) -> Answer:
    blocks, usage = said.get("content"), said.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    texts = [block.get("text") for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []
    answer = Answer(
        "".join(text for text in texts if isinstance(text, str)),
        name_of(said, model),
        sum(wire.count(usage.get(name)) for name in COUNTS),
        wire.count(usage.get("output_tokens")),
    )
    return finished(answer, said.get("stop_reason"), ("end_turn", "stop_sequence"))
