"""What the user wants to hold from now on, in the user's own words, and what of it still does.

What an order says (`orders`) is taken apart into what is constrained (variable names), how (their end) and the value
('_x'): the next one about the end of variable names then takes the place of this one, and stands beside all others.
"""

from __future__ import annotations

import re
from functools import lru_cache

from memory_keeper.model import Event, NamedTuple
from memory_keeper.reduce.finding.latest import (
    CHANGED,
    CHANGES,
    FORBIDS,
    MOST,
    REJECTS,
    REJECTS_BEFORE,
    RULES,
    SAME,
    subject_of,
)
from memory_keeper.reduce.words.orders import DROP, Order, wanted
from memory_keeper.reduce.words.own_words import GIVES_UP
from memory_keeper.reduce.words.subjects import (
    AIM,
    ALL,
    CASES,
    IN,
    LITERAL,
    NAMES,
    OWN,
    PURPOSE,
    VERB,
    about,
    body,
    has_literal,
)
from memory_keeper.text import NEWEST, clip_middle, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

TOLD = 40  # tokens of an instruction's text
LONG = 80  # characters of one that waits for the shorter ones


class Instruction(NamedTuple):
    """What the user wants to hold from now on, as said in one prompt."""

    text: str  # the order alone, in the user's words
    subject: tuple[str, ...]  # how it constrains, what things, then the other words that say what it is about
    values: tuple[str, ...]  # do | also | not | may (again) | drop, then literals, numbers; after "-", what it rejects
    changes: bool  # it says itself that something changes
    cite: str
    at: float
    session: str


def instructions(prompt: Event) -> list[Instruction]:
    """What one prompt wants for good; nothing for what nobody typed."""
    return _once([_read(clause, order, prompt) for order in wanted(prompt) for clause in _apart(order.text)])


# --- what an order says -----------------------------------------------------------------------------------------------

HOW = (
    ("end", re.compile(r"\b(?:end(?:s|ing)?|finish)\b.{0,60}\bwith\b|\b(?:suffix|append|postfix)", re.I)),
    ("start", re.compile(r"\b(?:start|begin)\w*\b.{0,60}\bwith\b|\b(?:prefix|prefac|preced)", re.I)),
)
NUMBER = re.compile(r"\b\d+(?:\.\d+)?\b|\b(?:one|two|three|four|five|six|eight|ten|once|twice|half)\b", re.I)
ALSO = re.compile(r"\balso \w|\b(?:too|as well|additionally|besides)\b", re.I)
EITHER = re.compile(rf"(?: names?)?(?:, and|,| and| or) {OWN}", re.I)
AFFIX = re.compile(r"(?<=['\"`’”]) as (?:a|the|its|their) (?:prefix|suffix)\b", re.I)
CUES = RULES | frozenset((
    "nam", "string", "singl", "lower", "convention", "rul", "modul", "decorator", "want", "lik", "need", "start",
    "begin", "end", "includ", "suffix", "prefix", "add", "ensur", "remember", "new", "cod", "writ", "creat", "when",
    "whenever", "every", "tim", "also", "somewher", "within", "even", "don", "thi",
))  # fmt: skip


def _read(clause: str, order: Order, prompt: Event) -> Instruction:
    """An order, taken apart."""
    literals = tuple(one or other for one, other in LITERAL.findall(clause))
    things = _things(clause)
    how, values, rest = _how(clause, literals, things)
    forbids = FORBIDS.search(body(clause)) or re.search(r"\bno (?:longer|more)\b|^no\b|\brefrain", clause, re.I)
    rejects = sorted({one.casefold() for one in (*REJECTS.findall(order.said), *REJECTS_BEFORE.findall(order.said))})
    skip = (frozenset() if how == "for" else CUES) | {
        _stem(part) for value in (*values, *things) for part in subject_of(value)
    }
    return Instruction(
        _told(clause),
        (how, "+".join(things), *sorted({_stem(word) for word in subject_of(rest)} - skip)),
        (
            order.takes or ("not" if forbids else "also" if ALSO.search(order.said) else "do"),
            *values,
            *(f"-{one}" for one in rejects),
        ),
        bool(CHANGES.search(order.said)),
        prompt.id,
        prompt.at,
        prompt.session,
    )


def _told(clause: str) -> str:
    """A clause as it will be told: of a long one, what it is for and what it wants."""
    return clip_middle(" ".join(AFFIX.sub("", clause).split()), TOLD)


def _apart(clause: str) -> list[str]:
    """A clause for each kind of thing that it is about: one of them may get a rule of its own later."""
    kinds = EITHER.split(about(clause))
    return [clause.replace(about(clause), kind.strip(), 1) for kind in kinds] if len(kinds) > 1 else [clause]


def _things(clause: str) -> tuple[str, ...]:
    """The kinds of things that an order constrains."""
    return tuple(sorted({_thing(kind) for kind in EITHER.split(about(clause)) if kind.strip()}))


def _thing(said: str) -> str:
    """A kind of thing by one name: a function's arguments and parameters are the same."""
    kinds = [word for word in said.casefold().split() if word not in ("name", "names", "definition", "definitions")]
    kind = next((word for word in kinds if word.startswith(("argument", "parameter"))), kinds[-1] if kinds else "")
    kind = (
        kind.removesuffix("ies") + "y" if kind.endswith("ies") else re.sub(r"(?<=ss)es$|(?<=ch)es$|(?<!s)s$", "", kind)
    )
    return "argument" if kind == "parameter" else kind


def _stem(word: str) -> str:
    """A word without the ending that grammar gave it."""
    if not word.isascii() or len(word) < 5:
        return word
    for end in ("ing", "es", "ed", "s"):
        if word.endswith(end) and not word.endswith("ss"):
            word = word[: -len(end)]
            word = word[:-1] if end in ("ing", "ed") and word[-1:] in "bdgmnprt" and word[-2:-1] == word[-1:] else word
            break
    return word.rstrip("e") if len(word) > 3 else word


def _how(clause: str, literals: tuple[str, ...], things: tuple[str, ...]) -> tuple[str, tuple[str, ...], str]:
    """In which way an order constrains, with which values, and the words that say the rest."""
    if literals:
        ways = [how for how, pattern in HOW if pattern.search(clause)]
        if not ways and NAMES.search(clause):
            ways = ["start" if literals[0].endswith("_") else "end" if literals[0].startswith("_") else "include"]
        return ways[0] if ways else "use", literals, ""
    if case := CASES.search(clause):
        return "case", (re.sub(r"[-_ ]", "", case[0].casefold()),), ""
    if not things and (match := PURPOSE.search(clause)):
        return "for", (match[1].casefold(),), match[2]
    return "", tuple(NUMBER.findall(clause.casefold())), clause


def _once(found: Sequence[Instruction]) -> list[Instruction]:
    """Of a prompt, each matter once; what does not say of which things goes where another one does."""
    said = dict.fromkeys(found)
    told = {(one.subject[0], one.values) for one in said if one.subject[1] and one.values[1:]}
    return [one for one in said if one.subject[1] or (one.subject[0], one.values) not in told]


# --- what of it holds ------------------------------------------------------------------------------------------------

# of each of these a project has one; not of linters, which are used together
RIVALS = tuple(
    frozenset(names.split())
    for names in (
        "npm yarn pnpm bun",
        "pip uv poetry pipenv conda pdm",
        "tabs spaces",
        "jest vitest mocha ava",
        "pytest unittest nose",
        "black yapf",
        "sqlite postgres postgresql mysql mariadb mongodb",
        "gradle maven bazel",
        "english german french spanish korean japanese chinese portuguese italian",
    )
)
NAME = re.compile(r"\w[\w.+#/@-]*\w|\w")
SMALL = RULES | frozenset((
    "a", "an", "the", "i", "me", "my", "we", "us", "our", "you", "your", "it", "to", "in", "on", "of", "at", "for",
    "with", "as", "by", "and", "or", "go", "let", "s",
))  # fmt: skip


def relation(new: Instruction, old: Instruction) -> str:
    """What a later instruction is to an earlier one: the "same", something "instead", or "" for another matter."""
    if (new.subject, new.values) == (old.subject, old.values) or new.text.casefold() == old.text.casefold():
        return "same"
    if new.cite == old.cite and new.at == old.at:
        return ""  # who says two things in one breath wants both
    if drops(new) or drops(old):
        return "instead" if _is_dropped(new, old) else ""
    if _is_rejected(new, old) or _is_released(new, old) or _are_rivals(new, old):
        return "instead"
    return _likeness(new, old)


@lru_cache(4096)
def marks(one: Instruction) -> tuple[str, ...]:
    """What two instructions share, one of them at least, that have anything to do with each other."""
    names = _named(one) | _rejected(one)
    rivals = [f"rivals {number}" for number, family in enumerate(RIVALS) if names & family]
    firm = [" ".join(one.subject[:2])] if one.subject[0] in FIRM else []
    return (*sorted(_words(one) | names), *rivals, *firm)


FIRM = ("start", "end", "case")  # ways in which a thing can be constrained once


def _likeness(new: Instruction, old: Instruction) -> str:
    """The relation of two instructions by how and of what they speak."""
    how, things, *about = new.subject
    values, old_values = _values(new), _values(old)
    same = "same" if (_wish(new), values) == (_wish(old), old_values) else "instead"
    if (how, things) != old.subject[:2]:
        return ""
    if how in FIRM:
        return same
    if how in ("include", "use"):
        return same if values == old_values else ""
    alike = len({*about} & {*old.subject[2:]}) / (len({*about, *old.subject[2:]}) or 1)
    # prohibitions add up, and so does what is wanted "also": a second one is not instead of the first
    adds = new.values[0] == "also" or new.values[0] == old.values[0] == "not"
    if alike < (CHANGED if (how == "for" or new.changes) and not adds else SAME):
        return ""
    return same if alike >= SAME else "instead"


def _is_rejected(new: Instruction, old: Instruction) -> bool:
    """Whether a later word says "instead of" what an earlier one wants."""
    wanted = _named(old) if old.subject[:2] == ("", "") else frozenset(map(str.casefold, _values(old)))
    return old.values[0] != "not" and bool(_rejected(new) & (wanted - _rejected(old)))


def _is_released(new: Instruction, old: Instruction) -> bool:
    """Whether a later word gives leave for what was forbidden, or from what was wanted."""
    mine, theirs = _words(new), _words(old)
    return new.values[0] == "may" != old.values[0] and len(mine & theirs) >= SAME * (min(len(mine), len(theirs)) or 1)


def drops(one: Instruction | None) -> bool:
    """Whether it only names what holds no more, and wants nothing itself."""
    return one is not None and one.values[0] == DROP


def _is_dropped(new: Instruction, old: Instruction) -> bool:
    """Whether a later word names an earlier one as what holds no more."""
    named = _words(new._replace(text=GIVES_UP.sub("", new.text)))
    return drops(new) and not drops(old) and len(named & _words(old)) >= SAME * (len(named | _words(old)) or 1)


def _are_rivals(new: Instruction, old: Instruction) -> bool:
    """Whether two are wanted of what a project has one of."""
    if new.values[0] != "do" or _wish(old) != "do":
        return False
    mine, theirs = _named(new) - _rejected(new), _named(old) - _rejected(old)
    for family in RIVALS:
        apart = mine & family and theirs & family and not mine & theirs & family
        if apart and (mine - family == theirs - family or (new.changes and not mine - family)):
            return True
    return False


def _wish(one: Instruction) -> str:
    return "do" if one.values[0] == "also" else one.values[0]


@lru_cache(4096)
def _named(one: Instruction) -> frozenset[str]:
    """The words of an instruction that are no rule's own, as they were said."""
    return frozenset(map(str.casefold, NAME.findall(one.text))) - SMALL


@lru_cache(4096)
def _words(one: Instruction) -> frozenset[str]:
    """The words that say what an instruction is about, without their endings."""
    return frozenset(map(_stem, subject_of(one.text))) - CUES


@lru_cache(4096)
def _rejected(one: Instruction) -> frozenset[str]:
    return frozenset(value[1:].casefold() for value in one.values[1:] if value[0] == "-")


def _values(one: Instruction) -> frozenset[str]:
    return frozenset(value for value in one.values[1:] if value[0] != "-")


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
VERBS = re.compile(rf"^(?={VERB}\b)(\w+?)(?:e|ing)?\b", re.I)  # however they end: "add", "adding"
LIMITS_NOTHING = frozenset((
    "all", "every", "each", "any", "both", "a", "an", "the", "your", "our", "my", "in", "into", "within", "inside",
    "to", "for", "on", "of", "when", "whenever", "you", "naming", "name", "names", "definition",
    "definitions", "writing", "creating", "defining", "declaring", "write", "create", "define",
    "it", "comes", "re", "regarding", "as",
))  # fmt: skip


def told(held: Sequence[Instruction], budget: int, family: str = NEWEST) -> list[str]:
    """What is in force, the newest first, as it was said; where not all of it fits, in fewer lines."""
    said = [one.text for one in sorted(held, key=lambda one: -one.at)]
    return said if len(said) <= MOST and _fits(said, budget, family) else dense(held, budget, family)


def dense(held: Sequence[Instruction], budget: int, family: str = NEWEST) -> list[str]:
    """What is in force in few lines, by what it is about: as many as fit, what says most first, then the newest."""
    chosen: list[Instruction] = []
    lines: list[str] = []
    for one in sorted(held, key=lambda one: (not _is_firm(one), _costs_much(one), -one.at))[:MOST]:
        more = _grouped([*chosen, one])
        if _fits(more, budget, family):
            chosen.append(one)
            lines = more
    return lines


def _fits(lines: Sequence[str], budget: int, family: str) -> bool:
    return tokens("\n".join(lines) + "\n", family) <= budget


def _is_firm(one: Instruction) -> bool:
    return bool(one.values[1:] or one.subject[1] or one.values[0] == "not")


def _costs_much(one: Instruction) -> int:
    """Whether an instruction takes a line of its own, and a long one; what is forbidden is worth it."""
    if one.values[0] == "not" or has_literal(one.text) or _told_apart(one)[0]:
        return 0
    return 1 + (len(one.text) > LONG)


def _grouped(held: Sequence[Instruction]) -> list[str]:
    """Lines such as `function names: start with 'a_'; end with '_b'`."""
    groups: dict[str, dict[str, tuple[str, list[str]]]] = {}  # by what they are about, then by all but the literal
    for one in held:
        about, rest = _told_apart(one)
        literal = LITERAL.search(rest)
        frame = f"{rest[: literal.start()]}\0{rest[literal.end() :]}" if literal else rest
        _, literals = groups.setdefault(about, {}).setdefault(VERBS.sub(_verb, frame), (frame, []))
        literals += [literal[0]] if literal and literal[0] not in literals else []
    lines = []
    for about, frames in groups.items():
        said = [frame.replace("\0", " ".join(literals)) for frame, literals in frames.values()]
        lines += [f"{about}: {'; '.join(said)}"] if about else said
    return lines


def _verb(word: re.Match[str]) -> str:
    return word[1].casefold()


@lru_cache(4096)
def _told_apart(one: Instruction) -> tuple[str, str]:
    """What an instruction is about, and what it says of that; all of it together where a word would be lost that says
    of which things it holds."""
    found, kinds = NAMES.search(one.text) or ALL.search(one.text) or IN.search(one.text), _things(one.text)
    rest = _without(one, found) if found and len(kinds) == 1 else ""
    if not rest:
        return "", one.text
    heading = f"function {kinds[0]}" if FUNCTIONS.search(one.text) else kinds[0]
    heading += " names" if NAMES.search(one.text) else ""
    lost = _kinds_in(one.text) - _kinds_in(f"{heading} {rest}") - LIMITS_NOTHING
    return ("", one.text) if lost else (heading, rest)


def _without(one: Instruction, found: re.Match[str]) -> str:
    """What an instruction says without what it is about; empty where that cannot be left off."""
    text, begin, end = one.text, found.start(), found.end()
    aim = AIM.match(text)
    if aim and aim.end() > begin:
        return _terse(text[aim.end() :]) if text[end : aim.end()].strip() in (",", ":") else ""
    if text.startswith(found[0] + ": "):
        return _terse(text[end + 2 :])
    before = WITHOUT.sub("", text[:begin])
    plain = PLAIN.match(text) and end == len(text)
    goes_on = (not before or one.subject[0] in SPELT) and GOES_ON.match(text[end:])
    if LEANS.search(before) or not (plain or goes_on):
        return ""
    return _terse(f"{before} {text[end:]}")


def _terse(text: str) -> str:
    return ARTICLES.sub("", " ".join(text.split()))


def _kinds_in(text: str) -> set[str]:
    """The words of a text, however many things they mean."""
    return {_thing(word) or word for word in re.findall(r"\w+", text.casefold())}
