"""The Chat Completions API as a summarizer: OpenAI's address, or any that speaks the same, such as Ollama's."""

from __future__ import annotations

from collections.abc import Sequence
from secrets import token_hex

from memory_keeper import wire
from memory_keeper.errors import NotSetUp
from memory_keeper.model import Json
from memory_keeper.notes.summarizers.api import find_key, finished, name_of, post
from memory_keeper.notes.summarizers.asking import Answer, Ask, cost_of, prompt

NAME = "openai"
URL, KEY = "https://api.openai.com/v1", "OPENAI_API_KEY"
TIMEOUT = 120  # a model on the user's own machine may have to be loaded first


def summarize(
    texts: Sequence[str], budget: int, settings: Json, environ: dict[str, str], root: str = "", ask: Ask = prompt
) -> Answer:
    """What the texts say, in a model's words.

    Settings, of the user and never of a project: `summarize.url`, `summarize.model`, `summarize.keyVariable` (the name
    of the variable the key is in), `summarize.timeout`. The answer is not to be trusted: see `judge`.
    """
    base, model = str(settings.get("summarize.url") or URL), str(settings.get("summarize.model") or "")
    if not model:
        raise NotSetUp("summarize.model is not set", hint="name a model that the service has")
    key = find_key(NAME, KEY, settings, environ, root, usual=base == URL)
    if not key and base == URL:
        raise NotSetUp(f"No key for {URL}", hint=f"set {KEY}, or choose another summarizer")
    told, asked = ask(texts, budget, token_hex(8))
    body = {
        "model": model,
        # the new name is OpenAI's own; others know the old one
        "max_completion_tokens" if base == URL else "max_tokens": 2 * budget + 200,
        "messages": [{"role": "system", "content": told}, {"role": "user", "content": asked}],
    }
    headers = {"authorization": f"Bearer {key}"} if key else {}
    timeout = float(settings.get("summarize.timeout") or TIMEOUT)
    return _read(post(base.rstrip("/") + "/chat/completions", headers, body, timeout, environ, secret=key), model)


def _read(said: Json, model: str) -> Answer:
    choices, usage = said.get("choices"), said.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message = first.get("message")
    text = message.get("content") if isinstance(message, dict) else None
    answer = Answer(
        text if isinstance(text, str) else "",
        name_of(said, model),
        wire.count(usage.get("prompt_tokens")),
        wire.count(usage.get("completion_tokens")),
        cost_of(usage.get("cost")),  # some services say
    )
    return finished(answer, first.get("finish_reason"), ("stop", None) if isinstance(text, str) else ())
