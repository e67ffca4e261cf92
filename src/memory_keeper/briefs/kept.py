"""The last messages of a conversation that stay when it is compacted: the newest whole, older ones as far as they fit.

A tool call and its result belong together: the API takes neither without the other. What stays is built anew, so that
large texts can be cut in the middle. Only what must not change is named by its place and handed back as it was: the
prompt that nobody has answered, which may hold pictures.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from memory_keeper import wire
from memory_keeper.capture.messages import Message
from memory_keeper.capture.payload import COMMANDS
from memory_keeper.capture.repeated import HOSTS, OPENING
from memory_keeper.extract.facts import Fact
from memory_keeper.model import Json
from memory_keeper.request import version_of
from memory_keeper.text import CALL, clip_middle, letters, tokens

ASIDE = (*COMMANDS, "Caveat: ")  # what the host writes in the user's place about its own commands
COMPACTED = (OPENING, HOSTS)  # how a context begins that was compacted, by us or by the host
CUTS = (1000, 500, 250, 120, 60, 30)  # tokens that a text may have, tried one after the other
OLDER = 250  # of one that is not in the newest step
CLIPPED = "\n[… cut by Memory Keeper …]\n"
STEPS = 12  # that are looked at
DEEP, WIDE = 4, 40  # of what a tool was given: levels that are cut inside, and entries of each
SURELY = 12  # letters of a fact that do not stand in a message by chance
MANUAL = [4, 6]  # models before this one think in a way that has to come back with the call it led to


def keep(messages: Sequence[Message], budget: int, goes_on: bool, model: str = "") -> list[Json]:
    """The last messages within a budget of tokens, oldest first, as the host takes them: each a message, or the place
    (`at`) of one that stays as it is. Nothing when not even the newest step fits, however small it is cut.

    `goes_on`: the model is to answer them at once. The prompts that wait for that stay, whatever they cost.
    """
    pending = _pending(messages) if goes_on else []
    kept: list[list[Json]] = [[{"at": message.place} for message in pending]] if pending else []
    left = budget - _sum(pending)
    for step in _steps(messages[: len(messages) - len(pending)]):
        newest = not kept
        whole = (
            [one for one in step if one.role == "assistant"] if newest and goes_on and _is_bound(step, model) else []
        )
        rest = [one for one in _paired(step) if one.results or not whole]
        room = left if whole or not newest else left * 2 // 3
        found = _fit(rest, room - _sum(whole), newest, droppable=not whole)
        if not found:
            break
        left -= _sum(whole) + _sum(found)
        kept.append([*({"at": message.place} for message in whole), *map(_built, found)])
    return [message for built in reversed(kept) for message in built]


def repeated(kept: Sequence[Json], messages: Sequence[Message], facts: Iterable[Fact]) -> list[list[object]]:
    """The facts, each by its kind and place, whose words stand in the messages that stay."""
    stay = words(kept, messages)
    return [[fact.kind, fact.place] for fact in facts if len(said := letters(fact.text)) >= SURELY and said in stay]


def words(kept: Sequence[Json], messages: Sequence[Message], role: str = "") -> str:
    """The letters of the messages that stay, or of those of one role."""
    whole = {message.place: (message.role, message.text) for message in messages}
    found = ((one["role"], one["text"]) if "text" in one else whole.get(one["at"], ("", "")) for one in kept)
    return letters("\n".join(text for who, text in found if role in ("", who)))


def _is_bound(step: Sequence[Message], model: str) -> bool:
    """Whether a step's calls have to come back as they were, with the thoughts that led to them."""
    return bool(step[-1].results) and _thinks_by_hand(model)


def _pending(messages: Sequence[Message]) -> Sequence[Message]:
    """The prompts at the end that nobody has answered."""
    begin = len(messages)
    while begin > 0 and messages[begin - 1].role == "user" and not messages[begin - 1].results:
        if messages[begin - 1].text.startswith(COMPACTED):
            break
        begin -= 1
    return messages[begin:]


def _steps(messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    """The steps of a conversation, newest first: a prompt, an answer, or calls with their results; back to the last
    compaction: what stands for the rest there is in the handoff, with all that it leaves out."""
    end, made = len(messages), 0
    while end > 0 and made < STEPS:
        begin = end - 1
        if messages[begin].results:
            while begin > 0 and messages[begin - 1].results:
                begin -= 1
            while begin > 0 and messages[begin - 1].role == "assistant":
                begin -= 1
        step, end = messages[begin:end], begin
        if step[0].role == "user" and step[0].text.startswith(COMPACTED):
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


def _fit(step: Sequence[Message], room: int, newest: bool, droppable: bool) -> Sequence[Message]:
    """A step with its long texts cut so that it fits; of the newest, if need be, without what is largest. Empty when it
    does not fit."""
    if newest and _sum(step) <= room:
        return step
    found: Sequence[Message] = ()
    for most in CUTS if newest else [cut for cut in CUTS if cut <= OLDER]:
        found = [_cut(message, most) for message in step]
        if _sum(found) <= room:
            return found
    found = _without_largest(found, room) if newest and droppable else found
    return found if _sum(found) <= room else ()


def _without_largest(step: Sequence[Message], room: int) -> list[Message]:
    """A step without the calls that are largest with their results, as many as it takes; the last one stays."""
    costs: dict[str, int] = {}
    for message in step:
        for id, tool, given in message.uses:
            costs[id] = costs.get(id, 0) + _cost_of_call(tool, given)
        for id, text, _ in message.results:
            costs[id] = costs.get(id, 0) + tokens(text)
    last = step[-1].results[-1][0] if step[-1].results else ""
    over, gone = _sum(step) - room, set()
    for id in sorted(costs, key=lambda id: -costs[id]):
        if over > 0 and id != last:
            gone.add(id)
            over -= costs[id]
    return _paired([one._replace(uses=tuple(use for use in one.uses if use[0] not in gone)) for one in step])


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


def _sum(messages: Sequence[Message]) -> int:
    """About what some messages cost, in tokens."""
    return sum(_cost(message) for message in messages)


def _cost(message: Message) -> int:
    called = sum(_cost_of_call(tool, given) for _, tool, given in message.uses)
    return tokens(message.text) + called + sum(tokens(text) for _, text, _ in message.results)


def _cost_of_call(tool: str, given: Any) -> int:
    return tokens(wire.dumps(given)) + tokens(tool) + CALL


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
