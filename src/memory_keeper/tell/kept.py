"""The last messages of a conversation that stay when it is compacted: the newest whole, older ones as far as they fit.

A tool call and its result belong together: the API takes neither without the other. What stays is built anew, so that
large texts can be cut in the middle. Only what must not change is named by its place and handed back as it was: the
prompt that nobody has answered, which may hold pictures.
"""

from __future__ import annotations

from memory_keeper import wire
from memory_keeper.capture.repeated import OPENING
from memory_keeper.model import NamedTuple, version_of
from memory_keeper.text import CALL, clip_middle, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from memory_keeper.model import Json

# what the host writes in the user's place about its own commands
ASIDE = ("<local-command-", "<command-", "<bash-", "Caveat: ")
CUTS = (1000, 500, 250, 120, 60, 30)  # tokens that a text may have, tried one after the other
OLDER = 250  # of one that is not in the newest step
CLIPPED = "\n[… cut by Memory Keeper …]\n"
STEPS = 12  # that are looked at
DEEP, WIDE = 4, 40  # of what a tool was given: levels that are cut inside, and entries of each
MANUAL = [4, 6]  # models before this one think in a way that has to come back with the call it led to


class Message(NamedTuple):
    """A message of the conversation, as the host hands it to its plugins: one block of one."""

    place: int  # from the end: -1 is the last
    role: str
    text: str
    uses: tuple[tuple[str, str, Any], ...] = ()  # id, tool, what it was given
    results: tuple[tuple[str, str, bool], ...] = ()  # id, text, whether it failed


def read(given: Any) -> list[Message]:
    """The messages of a question, read forgivingly; none when they make no sense."""
    listed = given if isinstance(given, list) else []
    return [
        Message(place, one["role"], _text(one.get("text")), tuple(_uses(one)), tuple(_results(one)))
        for place, one in enumerate(listed, -len(listed))
        if isinstance(one, dict) and one.get("role") in ("user", "assistant")
    ]


def _uses(message: Json) -> Iterator[tuple[str, str, Any]]:
    for use in _dicts(message.get("toolUses")):
        if id := _text(use.get("tool_use_id")):
            yield id, _text(use.get("tool")), use.get("input")


def _results(message: Json) -> Iterator[tuple[str, str, bool]]:
    for result in _dicts(message.get("toolResults")):
        if id := _text(result.get("tool_use_id")):
            yield id, _text(result.get("text")), result.get("isError") is True


def keep(messages: Sequence[Message], budget: int, goes_on: bool, model: str = "") -> list[Json]:
    """The last messages within a budget of tokens, oldest first, as the host takes them: each a message, or the place
    (`at`) of one that stays as it is. The newest step always stays, however small it has to be cut.

    `goes_on`: the model is to answer them at once.
    """
    pending = _pending(messages) if goes_on else []
    kept = [[{"at": message.place} for message in pending]] if pending else []
    left = budget
    for step in _steps(messages[: len(messages) - len(pending)]):
        newest = not kept
        found = _fit(_paired(step), left * 2 // 3 if newest else left, newest)
        if not found:
            break
        left -= sum(_cost(message) for message in found)
        built = [_built(message) for message in found]
        if newest and goes_on and found[-1].results and _thinks_by_hand(model):
            built = [{"at": one.place} for one in step if one.role == "assistant"]
            built += [_built(message) for message in found if message.results]
        kept.append(built)
    return [message for built in reversed(kept) for message in built]


def _pending(messages: Sequence[Message]) -> Sequence[Message]:
    """The prompts at the end that nobody has answered."""
    begin = len(messages)
    while begin > 0 and messages[begin - 1].role == "user" and not messages[begin - 1].results:
        begin -= 1
    return messages[begin:]


def _steps(messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    """The steps of a conversation, newest first: a prompt, an answer, or calls with their results; back to the last
    compaction of ours."""
    end, made = len(messages), 0
    while end > 0 and made < STEPS:
        begin = end - 1
        if messages[begin].results:
            while begin > 0 and messages[begin - 1].results:
                begin -= 1
            while begin > 0 and messages[begin - 1].role == "assistant":
                begin -= 1
        step, end = messages[begin:end], begin
        if step[0].role == "user" and step[0].text.startswith(OPENING):
            return
        if not step[0].text.startswith(ASIDE) and _paired(step):
            made += 1
            yield step


def _paired(step: Sequence[Message]) -> list[Message]:
    """A step without calls that have no result, results that have no call, and messages that say nothing then."""
    called = {use[0] for message in step for use in message.uses}
    answered = {result[0] for message in step for result in message.results}
    whole = [
        message._replace(
            uses=tuple(use for use in message.uses if use[0] in answered),
            results=tuple(result for result in message.results if result[0] in called),
        )
        for message in step
    ]
    return [message for message in whole if message.text.strip() or message.uses or message.results]


def _fit(step: Sequence[Message], room: int, newest: bool) -> Sequence[Message]:
    """A step with its long texts cut so that it fits; empty when it does not. The newest has to."""
    if newest and sum(_cost(message) for message in step) <= room:
        return step
    found: Sequence[Message] = ()
    for most in CUTS if newest else [cut for cut in CUTS if cut <= OLDER]:
        found = [_cut(message, most) for message in step]
        if sum(_cost(message) for message in found) <= room:
            return found
    return found if newest else ()


def _cut(message: Message, most: int) -> Message:
    return message._replace(
        text=clip_middle(message.text, most, CLIPPED),
        uses=tuple((id, tool, _shorter(given, most)) for id, tool, given in message.uses),
        results=tuple((id, clip_middle(text, most, CLIPPED), failed) for id, text, failed in message.results),
    )


def _shorter(given: Any, most: int, deep: int = 0) -> Any:
    """What a tool was given, in the same shape, with its long texts cut."""
    if isinstance(given, str):
        return clip_middle(given, most, CLIPPED)
    if deep >= DEEP:
        return given if isinstance(given, int | float | bool | None) else None
    if isinstance(given, list):
        return [_shorter(one, most, deep + 1) for one in given[:WIDE]]
    if isinstance(given, dict):
        return {key: _shorter(value, most, deep + 1) for key, value in [*given.items()][:WIDE]}
    return given


def _cost(message: Message) -> int:
    """About what a message costs, in tokens."""
    called = sum(tokens(wire.dumps(given)) + tokens(tool) + CALL for _, tool, given in message.uses)
    return tokens(message.text) + called + sum(tokens(text) for _, text, _ in message.results)


def _built(message: Message) -> Json:
    """A message as the host takes one that it has not made itself."""
    uses = [{"tool_use_id": id, "tool": tool, "input": given} for id, tool, given in message.uses]
    built: Json = {"role": message.role, "text": message.text, "toolUses": uses}
    if message.results:
        built["toolResults"] = [
            {"tool_use_id": id, "text": text, "isError": failed} for id, text, failed in message.results
        ]
    return built


def _thinks_by_hand(model: str) -> bool:
    version = version_of(model)
    return bool(version) and version[:2] < MANUAL


def _dicts(value: Any) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
