"""What the user wants to hold from now on, prompt by prompt, and how it is told in few lines."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from memory_keeper import regex as re
from memory_keeper.model import Event
from memory_keeper.rules.clauses import said_in, typed, wanted
from memory_keeper.rules.subjects import AIM, ALL, IN, LITERAL, NAMES, OWN, has_literal
from memory_keeper.rules.wishes import FORBID, Wish, apart, kind, kinds, read
from memory_keeper.text import NEWEST, tokens

LONG = 80  # characters of one that waits for the shorter ones
MOST = 300  # that are told
BRIEF = 200  # characters of a prompt in which a name alone may say what is wanted


def instructions(prompt: Event) -> list[Wish]:
    """What one prompt wants for good, each thing once; nothing for what nobody typed."""
    said = dict.fromkeys(
        read(clause, one.said, one.takes)._replace(cite=prompt.id, at=prompt.at, session=prompt.session)
        for one in wanted(prompt)
        for clause in apart(one.text)
    )
    # what does not say of which things goes where another one does
    told = {(one.slot[0], one.mood, one.wanted) for one in said if one.slot[1] and one.wanted}
    return [one for one in said if one.slot[1] or (one.slot[0], one.mood, one.wanted) not in told]


_NAME = r"[\w.+#/@-]+"
HINT = re.compile(
    r"(?:(?:no|ok(?:ay)?|sorry|again|i said)\W+)*"
    r"(?!(?:yes|yeah|yep|no|ok(?:ay)?|sure|go|continue|next|more|again|this|that|it|both|all|one|\w|\d+)\b)"
    rf"({_NAME},? not {_NAME}|{_NAME}(?=,? (?:please|pls)\b))(?:,? (?:please|pls))?\W*",
    re.I,
)


def hints(prompt: Event) -> list[Wish]:
    """What a prompt names and says no more of, "pnpm, please": no rule, but it may be one that was said before."""
    text = typed(prompt)
    found = map(HINT.fullmatch, said_in(text) if len(text) < BRIEF else ())
    named = [read(f"use {one[1]}", one[0])._replace(text=one[0].rstrip(".! ")) for one in found if one]
    return [one._replace(cite=prompt.id, at=prompt.at, session=prompt.session) for one in named if one.wanted]


# --- as told ---------------------------------------------------------------------------------------------------------

WITHOUT = re.compile(
    rf"(?:(?:in|into|within|inside|to|for|on|of|above) )?(?:all |every |each |any |both )?{OWN}$", re.I
)
ARTICLES = re.compile(r"\b(?:the|your|our) ")
FUNCTIONS = re.compile(r"\bfunction (?:argument|parameter)", re.I)
SPELT = ("start", "end", "include", "use", "case")  # ways that say letter by letter what they want
PLAIN = re.compile(  # what is to be in which things, and no more
    r"(?:us|add|includ|writ|hav|put)(?:e|ing)? (?:(?!(?:in|to|for|on|of|with|and|or|but|not|from|by|at|as|than|only"
    r"|instead|except|before|after|unless|when|if)\b)[\w-]+ ){1,4}(?:in|to|for) ",
    re.I,
)
GOES_ON = re.compile(  # what may come after a kind of thing; anything else says which of its kind are meant
    r"\W*(?:$|['\"`‘“@]|(?:with|to|using|by|should|must|shall|need|ha(?:ve|s)|be|are|as well"
    r"|(?:start|end|begin|includ|prefix|suffix|append)\w*|in (?:all[- ]caps|\w+[-_ ]?case))\b)",
    re.I,
)
LEANS = re.compile(  # on the kind of thing after it
    r"^prefer\b|\b(?:instead|rather|than|except|but|not|never|only|just|out|outside|or|and|nor|even|especially)\W*$",
    re.I,
)
LIMITS_NOTHING = frozenset((
    "all", "every", "each", "any", "both", "a", "an", "the", "your", "our", "my", "in", "into", "within", "inside",
    "to", "for", "on", "of", "when", "whenever", "you", "naming", "name", "names", "definition",
    "definitions", "writing", "creating", "defining", "declaring", "write", "create", "define",
    "it", "comes", "re", "regarding", "as",
))  # fmt: skip


def told(held: Sequence[Wish], budget: int, family: str = NEWEST) -> list[str]:
    """What is in force, the newest first, as it was said; where not all of it fits, in fewer lines."""
    said = [one.text for one in sorted(held, key=lambda one: -one.at)]
    return said if len(said) <= MOST and _fits(said, budget, family) else dense(held, budget, family)


def dense(held: Sequence[Wish], budget: int, family: str = NEWEST) -> list[str]:
    """What is in force in few lines, by what it is about: as many as fit, what says most first, then the newest."""
    chosen: list[Wish] = []
    lines: list[str] = []
    for one in sorted(held, key=lambda one: (not _is_firm(one), _costs_much(one), -one.at))[:MOST]:
        more = _grouped([*chosen, one])
        if _fits(more, budget, family):
            chosen.append(one)
            lines = more
    return lines


def _fits(lines: Sequence[str], budget: int, family: str) -> bool:
    return tokens("\n".join(lines) + "\n", family) <= budget


def _is_firm(one: Wish) -> bool:
    return bool(one.wanted or one.slot[1] or one.mood == FORBID)


def _costs_much(one: Wish) -> int:
    """Whether an instruction takes a line of its own, and a long one; what is forbidden is worth it."""
    if one.mood == FORBID or has_literal(one.text) or _told_apart(one)[0]:
        return 0
    return 1 + (len(one.text) > LONG)


def _grouped(held: Sequence[Wish]) -> list[str]:
    """Lines such as `function names: start with 'a_'; end with '_b'`."""
    groups: dict[str, dict[str, list[str]]] = {}  # by what they are about, then by all but the literal
    for one in held:
        about, rest = _told_apart(one)
        literal = LITERAL.search(rest)
        frame = f"{rest[: literal.start()]}\0{rest[literal.end() :]}" if literal else rest
        literals = groups.setdefault(about, {}).setdefault(frame, [])
        literals += [literal[0]] if literal and literal[0] not in literals else []
    lines = []
    for about, frames in groups.items():
        said = [frame.replace("\0", " ".join(literals)) for frame, literals in frames.items()]
        lines += [f"{about}: {'; '.join(said)}"] if about else said
    return lines


@lru_cache(4096)
def _told_apart(one: Wish) -> tuple[str, str]:
    """What an instruction is about, and what it says of that; all of it together where a word would be lost that says
    of which things it holds."""
    found, things = NAMES.search(one.text) or ALL.search(one.text) or IN.search(one.text), kinds(one.text)
    rest = _without(one, found) if found and len(things) == 1 else ""
    if not rest:
        return "", one.text
    heading = f"function {things[0]}" if FUNCTIONS.search(one.text) else things[0]
    heading += " names" if NAMES.search(one.text) else ""
    lost = _kinds_in(one.text) - _kinds_in(f"{heading} {rest}") - LIMITS_NOTHING
    return ("", one.text) if lost else (heading, rest)


def _without(one: Wish, found: re.Match[str]) -> str:
    """What an instruction says without what it is about; empty where that cannot be left off."""
    text, begin, end = one.text, found.start(), found.end()
    aim = AIM.match(text)
    if aim and aim.end() > begin:
        return _terse(text[aim.end() :]) if text[end : aim.end()].strip() in (",", ":") else ""
    if text.startswith(found[0] + ": "):
        return _terse(text[end + 2 :])
    before = WITHOUT.sub("", text[:begin])
    plain = PLAIN.match(text) and end == len(text)
    goes_on = (not before or one.slot[0] in SPELT) and GOES_ON.match(text[end:])
    if LEANS.search(before) or not (plain or goes_on):
        return ""
    return _terse(f"{before} {text[end:]}")


def _terse(text: str) -> str:
    return ARTICLES.sub("", " ".join(text.split()))


def _kinds_in(text: str) -> set[str]:
    """The words of a text, however many things they mean."""
    return {kind(word) or word for word in re.findall(r"\w+", text.casefold())}
