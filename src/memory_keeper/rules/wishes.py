"""A wish: what somebody wants to hold from now on, taken apart, so that two wordings of it can be compared.

"use pnpm, never npm" and "don't use npm, we use pnpm here" want the same and reject the same: one wish, said twice.
"use npm" after that reverses it. "end variable names with '_x'" sets the end of variable names: the next word on that
takes its place, and stands beside all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from memory_keeper import regex as re
from memory_keeper.extract.own_words import GIVES_UP
from memory_keeper.model import NamedTuple
from memory_keeper.rules.subjects import CASES, LITERAL, NAMES, OWN, PURPOSE, about, body
from memory_keeper.text import clip_middle

SAME, REVERSES = "same", "reverses"  # what a later wish may be to an earlier one
ASK, ALSO, FORBID, ALLOW, DROP = "ask", "also", "forbid", "allow", "drop"  # allow: again; drop: a rule that held
ALIKE, CHANGED = 0.6, 0.4  # of the words of two wishes, in both: one matter; so too where the later one changes it
LONGEST = 40  # tokens of a wish's text


class Wish(NamedTuple):
    """What somebody wants to hold from now on."""

    text: str  # in their own words
    mood: str
    slot: tuple[str, str]  # what it sets, and of which things: ("end", "variable"); ("", "") where it sets no such
    topic: tuple[str, ...]  # stems of the words that say what it is about
    wanted: tuple[str, ...]  # names, as stems; literals and numbers
    rejected: tuple[str, ...]  # the same of what it says it is instead of
    changes: bool = False  # it says itself that something changes
    cite: str = ""  # the prompt that says it
    at: float = 0.0
    session: str = ""


# --- a wording, taken apart -------------------------------------------------------------------------------------------

CHANGES = re.compile(
    r"\b(?:from now on|going forward|in future|instead|actually|no longer|anymore|any more|changed? my mind|switch"
    r"|on second thought|after all)\b|^no\b[,.]?|이제부터|앞으로|다음부터|대신|말고|바꿔|바꾸|변경|그게 아니|아니",
    re.I,
)
FORBIDS = re.compile(
    r"\b(?:never|don['’]?t|do not|must not|avoid|stop|no (?:longer|more)|refrain)\b|^no\b|절대|지\s?마|금지|면 안", re.I
)
_NAME = r"[`'\"]?(?!(?:in|on|at|for|with|when|to|if|it|this|that|them|the|an?)\b)([\w@][\w./@+-]*[\w+]|\w)[`'\"]?"
_WHOLE = r"(?!\w)(?:(?<!ing)|(?=\W*$))"  # "using" goes on, "merging" at the end does not
_USE = r"(?:us(?:e|ing)|prefer(?:ring)?|go(?:ing)? with|stick(?:ing)? (?:to|with)|switch(?:ing)? to)"
_ENDS = r"(?=\s*(?:$|[,.;:!)—–-]|(?:for|in|on|here|when|and|please|as)\b))"
CONTRASTS = re.compile(  # "…, not npm": what is wanted stands beside it
    rf"[,;(—–-]*\s*\b(?:instead of|rather than) (?:(?:using|the|an?|any) )*{_NAME}{_WHOLE}[,)]?"
    rf"|(?:[,;(—–-]\s*(?:(?:and|but) )?|\s(?:and|but) )(?:not|never|no) (?:the |an? )?{_NAME}(?: \w+s)?{_ENDS}[,)]?"
    r"|(?<!\bdo)(?<!must)(?<!should)(?<!shall)(?<!may)(?<!can)(?<!will)(?<!is)(?<!are)(?<!if)(?<!or)(?<=\w)\snot "
    rf"{_NAME}(?: \w+s)?{_ENDS}|^(?:never|no|not) {_NAME},(?=\s\S+$)",
    re.I,
)
OVER = re.compile(r"(\bprefer\w* (?:\S+ ){1,3}?)over ", re.I)
REFUSES = re.compile(  # "don't use npm": nothing else is wanted, unless it goes on with that
    rf"\b(?:no longer|stop|don['’]?t|do not|never)(?: ever)? {_USE} (?:(?:the|an?|any) )*{_NAME}{_WHOLE}", re.I
)
REFUSED_BEFORE = re.compile(r"([\w./@+-]*[A-Za-z0-9]|[\uac00-\ud7a3]+?)(?:을|를|은|는|이|가)? ?(?:말고|대신|쓰지\s?마)")
_LEAD = r"\W*(?:(?:we|you|let['’]?s|please|just|always|only|rather|but|and|instead) )*"
GOES_ON = re.compile(rf"{_LEAD}{_USE}\b", re.I)
CHOICE = re.compile(  # and no word more
    rf"{_LEAD}(?:({_USE}) )?(?:(?:only|the|an?|our|your) )*"
    r"([\w.+#/@-]+(?: [\w.+#/@-]+){0,2}?)(?: (?:here|instead|again|everywhere|any ?more|please))*\W*",
    re.I,
)
SLOTS = (
    ("end", re.compile(r"\b(?:end(?:s|ing)?|finish)\b.{0,60}\bwith\b|\b(?:suffix|append|postfix)", re.I)),
    ("start", re.compile(r"\b(?:start|begin)\w*\b.{0,60}\bwith\b|\b(?:prefix|prefac|preced)", re.I)),
)
FIRM = ("start", "end", "case")  # of which a thing has one
NUMBER = re.compile(r"\b\d+(?:\.\d+)?\b|\b(?:one|two|three|four|five|six|eight|ten|once|twice|half)\b", re.I)
ADDS = re.compile(r"\balso \w|\b(?:too|as well|additionally|besides)\b", re.I)
EITHER = re.compile(rf"(?: names?)?(?:, and|,| and| or) {OWN}", re.I)
# "never delete without asking" asks for the same as "ask before you delete"
WITHOUT = re.compile(
    rf"{_LEAD}(?:never|do not|don['’]?t) (.{{3,80}}?) (?:without|before) (?:first )?(\w+ing\b.*)", re.I
)
PATH = re.compile(r"\w[\w@+-]*(?:[./]\w[\w@+-]*)+")
# words of instructions themselves, which say nothing of what one is about; those in CUES as stems
RULES = frozenset((
    "always", "never", "use", "using", "used", "please", "make", "sure", "from", "now", "instead", "rather", "than",
    "future", "going", "forward", "actually", "prefer", "run", "want", "should", "must", "keep", "don", "stop",
    "longer", "anymore", "again", "ever",
    "항상", "언제나", "언제", "절대", "반드시", "반드", "앞으로", "앞으", "이제부터", "이제부", "대신", "말고",
    "쓰세요", "쓰세", "사용하세요", "사용하세", "사용해", "해주세요", "해주세", "주세요", "주세",
))  # fmt: skip
CUES = RULES | frozenset((
    "nam", "string", "lower", "convention", "rul", "modul", "decorator", "want", "lik", "need", "start",
    "begin", "end", "includ", "suffix", "prefix", "add", "ensur", "remember", "new", "cod", "writ", "creat", "when",
    "whenever", "every", "tim", "also", "somewher", "within", "even", "don", "thi",
    "each", "suit", "put", "insert", "directly", "straight", "line",
))  # fmt: skip


def read(clause: str, sentence: str, mood: str = "") -> Wish:
    """A clause that wants something, taken apart; the sentence it stands in may say more of what changes."""
    said = OVER.sub(r"\1rather than ", clause)
    positive = CONTRASTS.sub(" ", said)
    rest = REFUSES.sub(" ", positive)
    refuses = FORBIDS.search(body(positive)) and not (rest != positive and GOES_ON.match(rest))
    if not mood and (found := WITHOUT.match(body(clause))):
        positive, refuses = f"{found[2]} before {found[1]}", None
    mood = mood or (FORBID if refuses else ALSO if ADDS.search(sentence) else ASK)
    positive = positive if refuses else rest
    rejected = [name for found in CONTRASTS.findall(said) for name in found if name]
    rejected += [*REFUSES.findall(said), *REFUSED_BEFORE.findall(sentence)]
    things = kinds(clause) if mood != DROP else ()
    how, wanted, about = _slot(" ".join(positive.split()), things, mood, bool(rejected))
    skip = (frozenset() if how == "for" else CUES) | {*stems(" ".join((*wanted, *things)))}
    skip |= {*map(_stem, rejected)} if not refuses else set()
    topic = sorted({*stems(GIVES_UP.sub("", about))} - skip)
    return Wish(
        clip_middle(" ".join(clause.split()), LONGEST),
        mood,
        (how, "+".join(things)),
        tuple(topic),
        wanted,
        tuple(sorted({name.casefold() for name in rejected})),
        bool(CHANGES.search(sentence)),
    )


def apart(clause: str) -> list[str]:
    """A clause for each kind of thing that it is about: one of them may get a rule of its own later."""
    said = EITHER.split(about(clause))
    return [clause.replace(about(clause), kind.strip(), 1) for kind in said] if len(said) > 1 else [clause]


def kinds(clause: str) -> tuple[str, ...]:
    """The kinds of things that a clause constrains."""
    return tuple(sorted({kind(said) for said in EITHER.split(about(clause)) if said.strip()}))


def kind(said: str) -> str:
    """A kind of thing by one name: a function's arguments and parameters are the same."""
    nouns = [word for word in said.casefold().split() if word not in ("name", "names", "definition", "definitions")]
    noun = next((word for word in nouns if word.startswith(("argument", "parameter"))), nouns[-1] if nouns else "")
    noun = noun.removesuffix("ies") + "y" if noun.endswith("ies") else re.sub(r"(?<=ss|ch)es$|(?<!s)s$", "", noun)
    return "argument" if noun == "parameter" else noun


def stems(text: str) -> Iterator[str]:
    """The words of a text that say what it is about, without their endings; a path is one word."""
    yield from (_stem(path.casefold()) for path in PATH.findall(text))
    found = (_stem(word) for word in _words_in(PATH.sub(" ", text)) if word not in RULES)
    yield from (ALIKE_WORDS.get(stem, stem) for stem in found)


_WORD = re.compile(r"[^\W_][\w]*")
_WIDE = re.compile("[\u2e80-\u9fff]{2,}")
_COMMON = """
the a an and or but if then else of to in on at by for with from as is are was were be been being it its this
that these those there here i we you he she they me my our your their not no so do does did done can could will
would should may might must have has had just also very now all any some into out up than too only about over
after before when where which who what how why let us them his her one more most other such
"""
_STOP = frozenset(_COMMON.split())


def _words_in(text: str) -> Iterator[str]:
    """The words of a text but the commonest; of scripts without blanks, pairs of characters."""
    for word in _WORD.findall(text.casefold()):
        if "\uac00" <= word[-1] <= "\ud7a3" and len(word) > 2:
            word = word[:-1]  # a particle, more often than not
        if word not in _STOP and (len(word) > 1 or word.isdecimal()):
            yield word
    for run in _WIDE.findall(text):
        yield from (run[at : at + 2] for at in range(len(run) - 1))


def _stem(word: str) -> str:
    if not word.isascii():
        return word
    for end in () if len(word) < 5 else ("ing", "es", "ed", "s"):
        if word.endswith(end) and not word.endswith("ss"):
            word = word[: -len(end)]
            word = word[:-1] if end in ("ing", "ed") and word[-1:] in "bdgmnprt" and word[-2:-1] == word[-1:] else word
            break
    return word.rstrip("e") if len(word) > 3 else word


# words that instructions mean the same by: all of a row are the first
ALIKE_WORDS = {
    _stem(word): _stem(names[0])
    for names in map(str.split, ("answer reply replies respond speak", "annotation hint", "delete remove"))
    for word in names
}


def _slot(clause: str, things: tuple[str, ...], mood: str, contrasts: bool) -> tuple[str, tuple[str, ...], str]:
    """What a clause sets, what it wants there, and the words that say the rest."""
    if mood == DROP:
        return "", (), clause
    if literals := tuple(one or other for one, other in LITERAL.findall(clause)):
        slots = [how for how, pattern in SLOTS if pattern.search(clause)]
        if not slots and NAMES.search(clause):
            slots = ["start" if literals[0].endswith("_") else "end" if literals[0].startswith("_") else "include"]
        return slots[0] if slots else "use", literals, ""
    if case := CASES.search(clause):
        return "case", (re.sub(r"[-_ ]", "", case[0].casefold()),), ""
    if not things and (found := PURPOSE.search(clause)):
        return "for", tuple(sorted(stems(found[1]))), found[2]
    numbers = tuple(NUMBER.findall(clause.casefold()))
    choice = CHOICE.fullmatch(clause) if mood in (ASK, ALSO) and not numbers and not things else None
    if choice and (choice[1] or (contrasts and " " not in choice[2])):
        return "", tuple(sorted(stems(choice[2]))), ""
    return "", numbers, clause


def pack(wish: Wish) -> tuple[object, ...]:
    """All of a wish but its text and where it was said, to be kept beside these."""
    return wish[1:7]


def unpack(text: str, packed: Sequence[Any]) -> Wish:
    """A wish as it was kept."""
    mood, slot, *named, changes = packed
    topic, wanted, rejected = (tuple(map(str, some)) for some in named)
    return Wish(text, str(mood), (str(slot[0]), str(slot[1])), topic, wanted, rejected, changes is True)


# --- two wishes -------------------------------------------------------------------------------------------------------

# of each of these a project has one; not of linters, which are used together
ALTERNATIVES = tuple(
    frozenset(map(_stem, names.split()))
    for names in (
        "npm yarn pnpm bun",
        "pip uv poetry pipenv conda pdm",
        "tabs spaces",
        "single double",
        "jest vitest mocha ava",
        "pytest unittest nose",
        "black yapf",
        "sqlite postgres postgresql mysql mariadb mongodb",
        "gradle maven bazel",
        "english german french spanish korean japanese chinese portuguese italian",
    )
)


def compare(new: Wish, old: Wish) -> str:
    """What a later wish is to an earlier one: SAME, REVERSES, or "" for another matter."""
    if new[1:6] == old[1:6] or new.text.casefold() == old.text.casefold():
        return SAME
    if (new.cite, new.at) == (old.cite, old.at):
        return ""  # who says two things in one breath wants both
    if DROP in (new.mood, old.mood):
        return REVERSES if old.mood != DROP and _share({*new.topic}, _words(old)) >= ALIKE else ""
    if new.mood == ALLOW != old.mood and _share(_words(new), _words(old), within=True) >= ALIKE:
        return REVERSES
    if _overturns(new, old, new, old) or _overturns(new, old, old, new) or _are_alternatives(new, old):
        return REVERSES
    return SAME if _implies(new, old) or _implies(old, new) else _likeness(new, old)


def says_less(new: Wish, old: Wish) -> bool:
    """Whether one of two that are the same leaves out what the other says."""
    return bool(old.rejected and not new.rejected) or (new.mood == FORBID != old.mood)


@lru_cache(4096)
def marks(wish: Wish) -> tuple[str, ...]:
    """What two wishes share, one of them at least, that have anything to do with each other."""
    said = {*_content(wish), *_rejected(wish), *_words(wish), f"= {wish.text.casefold()}", repr(wish[1:6])}
    families = [f"one of {number}" for number, family in enumerate(ALTERNATIVES) if said & family]
    return (*sorted(said), *families, *([" ".join(wish.slot)] if wish.slot[0] in FIRM else []))


def _overturns(new: Wish, old: Wish, refusing: Wish, asking: Wish) -> bool:
    """Whether one of two wishes rejects what the other wants, in whatever order they came; not where the later one
    speaks only of a part of what the earlier one is about."""
    hit = _rejected(refusing) & (_content(asking) - _rejected(asking))
    if not hit or asking.mood not in (ASK, ALSO):
        return False
    narrower = {*new.topic} - hit - _content(old) - _rejected(old)
    beside = (
        set()
        if hit & {_stem(value.casefold()) for value in asking.wanted}
        else _content(asking) - hit - _content(refusing)
    )
    return not narrower and len(beside) < 2


def _are_alternatives(new: Wish, old: Wish) -> bool:
    """Whether two are wanted of which a project has one."""
    mine, theirs = _content(new), _content(old)
    if new.mood != ASK or old.mood not in (ASK, ALSO):
        return False
    mine, theirs = mine | _things(new), theirs | _things(old)
    for family in ALTERNATIVES:
        apart = mine & family and theirs & family and not mine & theirs & family
        if apart and (mine - family == theirs - family or (new.changes and not mine - family)):
            return True
    instead = _rejected(new) & _rejected(old) and new.wanted and old.wanted and not {*new.wanted} & {*old.wanted}
    return bool(instead) and new.topic == old.topic


def _implies(more: Wish, less: Wish) -> bool:
    """Whether who wants one thing instead of another forbids no more than that other."""
    return more.mood in (ASK, ALSO) and less.mood == FORBID and _content(less) <= _rejected(more)


def _likeness(new: Wish, old: Wish) -> str:
    """What two wishes are to each other by what they speak of."""
    if new.slot != old.slot:
        return SAME if _is_same_matter(new, old) else ""
    value = SAME if (_mood(new), {*new.wanted}) == (_mood(old), {*old.wanted}) else REVERSES
    if new.slot[0] in FIRM:
        return value
    if new.slot[0] in ("include", "use"):
        return value if {*new.wanted} == {*old.wanted} else ""
    valued = new.wanted and old.wanted and new.topic and old.topic
    alike = _share({*new.topic}, {*old.topic}) if valued else _share(_content(new), _content(old))
    if not valued:
        value = SAME if _mood(new) == _mood(old) else REVERSES
    # prohibitions add up, and so does what is wanted "also": a second one is not instead of the first
    adds = new.mood == ALSO or new.mood == old.mood == FORBID
    if alike < (CHANGED if (new.slot[0] == "for" or new.changes) and not adds else ALIKE):
        return ""
    return value if alike >= ALIKE else REVERSES


def _is_same_matter(new: Wish, old: Wish) -> bool:
    """Whether two that are put differently ask for the same: with the kind of thing or without, with a purpose or
    without."""
    if _mood(new) != _mood(old) or {*new.wanted} != {*old.wanted}:
        return False
    if {new.slot[0], old.slot[0]} == {"", "for"}:
        return bool(new.wanted) and new.slot[1] == old.slot[1] and not (new.topic and old.topic)
    mine, theirs = _content(new) | _things(new), _content(old) | _things(old)
    alike = mine == theirs if _mood(new) != FORBID else _share(mine, theirs) >= ALIKE
    return new.slot[0] == old.slot[0] == "" and len(mine & theirs) > 1 and alike


def _things(wish: Wish) -> frozenset[str]:
    """The kinds of things that a wish is about, as words of it."""
    return frozenset(map(_stem, filter(None, wish.slot[1].split("+"))))


def _share(mine: frozenset[str] | set[str], theirs: frozenset[str] | set[str], within: bool = False) -> float:
    """How much two have in common, of both or of the smaller one."""
    return len(mine & theirs) / ((min(len(mine), len(theirs)) if within else len(mine | theirs)) or 1)


def _mood(wish: Wish) -> str:
    return ASK if wish.mood == ALSO else wish.mood


@lru_cache(4096)
def _content(wish: Wish) -> frozenset[str]:
    """What a wish is about, and what it wants or forbids there."""
    return frozenset((*wish.topic, *(_stem(value.casefold()) for value in wish.wanted)))


@lru_cache(4096)
def _rejected(wish: Wish) -> frozenset[str]:
    return frozenset(map(_stem, wish.rejected))


@lru_cache(4096)
def _words(wish: Wish) -> frozenset[str]:
    return frozenset(stems(wish.text)) - CUES
