"""Whether a text says only what its sources say.

It looks at what can be checked without understanding: files, numbers, identifiers, commits, addresses, quoted words and
names. Our own notes must have none that their events lack, and a model's answer with one is not taken.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence

from memory_keeper.text import clean

# --- what is said of things that can be looked up --------------------------------------------------------------------

_URL = r"[a-z][a-z0-9+.-]{1,9}://[^\s<>\"'`|\\]+"
_QUOTED = (
    r"`[^`\n]{1,300}`|\"[^\"\n]{2,300}\"|“[^”\n]{2,300}”|「[^」\n]{2,300}」|‘[^’\n]{2,300}’"
    r"|(?<![A-Za-z0-9])'[^'\n]{2,300}'(?![A-Za-z])"
)
_TOKEN = r"[$@~./-]{0,12}[A-Za-z0-9_][A-Za-z0-9_$@~/.%*+-]*"
_TOKENS = re.compile(
    rf"(?P<url>{_URL})|(?P<quoted>{_QUOTED})|(?P<number>[~$€£]?\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?(?!\w))|(?P<token>{_TOKEN})"
)
_NUMBER = re.compile(r"(?:(?<![\w.])\.)?\d+(?:[.,_]\d+)*", re.ASCII)
_THOUSANDS = re.compile(r"\d{1,3}(?:[,_]\d{3})+(?:\.\d+)?$", re.ASCII)
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}$")
_HUMPS = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_HASH = re.compile(r"[0-9a-f]{7,40}$")
_BEGINS = re.compile(r"(?:^|[.!?:;。！？\n\"'“”‘(`*|>•→-]|\d[.)])\s*[*_#>\s-]*$")  # what stands before a first word
_WORD = re.compile(r"[a-z0-9_]+")
_SPOKEN = re.compile(r"[^\W_]+")
_MARKS = re.compile(r"(?<!\S)#{2,6}(?!\S)")
_HEX = re.compile(
    r"(?<![a-z0-9])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=\d*[a-f])[0-9a-f]{7,64})(?![a-z0-9])"
)
_LAYOUT = re.compile(r"^[ \t>]*(?:[-*+•]|\(?\d{1,3}[.)]|\[[ xX]\])[ \t]+(?:\[[ xX]\][ \t]+)?|\]\([^)\n]*\)", re.M)
# letters that are others, of the plain alphabet, once upper and lower case are one: ß is ss
_LETTERS = {ord(letter): letter.casefold() for letter in "ß\u0130ŉſǰẖẗẘẙẚẞ\u212aﬀﬁﬂﬃﬄﬅﬆ"}
_SHORT = frozenset(("e.g", "i.e", "a.m", "p.m", "u.s", "etc"))
# Latin words with a capital that are no names of something the sources would have to speak of
PLAIN = frozenset(map(str.casefold, (
    "I", "It", "That", "The", "These", "This", "Those", "I'm", "AI", "API", "CLI", "CPU", "CSS", "HTML", "HTTP",
    "HTTPS", "ID", "JSON", "OK", "SQL", "TODO", "UI", "URL", "UTC", "UTF", "AND", "NOT", "OR", "NO", "YES", "MUST",
    "NEVER", "ALWAYS", "ONLY", "ALL", "Claude", "Code", "User", "Users", "Assistant", "English", "Korean", "Monday",
    "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "January", "February", "March", "April",
    "May", "June", "July", "August", "September", "October", "November", "December",
)))  # fmt: skip


def ungrounded(sentence: str, sources: Sequence[str], allowed: Collection[str] = ()) -> list[str]:
    """What a sentence, or several, names that no source does; `allowed` is ours to say: words, counts such as `3x`."""
    known = Known(sources)
    given = {word.casefold() for word in allowed}
    missing: dict[str, None] = {}
    for kind, name, cut in named(sentence, given):
        if name.casefold() not in given and not known.has(kind, name, cut):
            missing[name] = None
    return list(missing)


def named(sentence: str, allowed: Collection[str]) -> Iterator[tuple[str, str, bool]]:
    """Everything that can be looked up: its kind, itself, and whether the sentence was cut off after it."""
    sentence = sentence.translate(_LETTERS)
    for found in _TOKENS.finditer(sentence):
        said, after = found[0], sentence[found.end() : found.end() + 3]
        cut = after[:1] == "…" or after == "..." or after[:1].isalnum()  # it goes on in another script
        if said.casefold() in allowed:
            continue
        if found["url"]:
            yield "url", said.rstrip(".,;:!?)]}*…"), cut
        elif found["quoted"]:
            inner = said[1:-1].strip()
            if inner.casefold() in allowed:
                continue
            if said[0] == "`" or " " in inner or _looks_like_code(inner):
                yield "quoted", inner, False
        elif found["number"]:
            yield "number", said.lstrip("~$€£"), cut
        else:
            token = said.rstrip(".-+%*@$")
            if sentence[: found.start()][-1:].isalnum():  # goes on from a word in another script
                token = token.lstrip("./")
            yield from _of_token(token, sentence[: found.start()], cut, allowed)


def _of_token(token: str, before: str, cut: bool, allowed: Collection[str]) -> Iterator[tuple[str, str, bool]]:
    bare = token.lstrip("$@")
    if not any(map(str.isalnum, bare)) or bare.casefold() in allowed or bare.casefold() in _SHORT:
        return
    if token.startswith("-") and not before[-1:].isalnum():
        if token.startswith("--"):
            yield "name", token, cut
        return
    bare = bare.strip("-+~%")
    parts = bare.split("/")
    if "/" in bare and (bare.count("/") > 1 or bare.startswith((".", "/", "~")) or _EXTENSION.search(bare)):
        yield "file", bare, cut
    elif "/" in bare:  # read/write, 3/4, client/Server.py
        for part in parts:
            yield from _of_token(part, before or "x", cut, allowed)
    elif bare.replace(".", "").replace(",", "").replace("_", "").isdecimal():
        yield "number", bare, cut
    elif _EXTENSION.search(bare) and not bare[0].isdecimal():
        yield "file", bare, cut
    elif "_" in bare.strip("_") or "." in bare or _HUMPS.search(bare):
        yield "name", bare, cut
    elif _HASH.match(bare) and any(map(str.isdecimal, bare)):
        yield "commit", bare, cut
    elif any(map(str.isdecimal, bare)):
        yield "mixed", bare, cut
    elif bare[0].isupper():
        for number, word in enumerate(bare.split("-")):
            first = not number and (not before.strip() or bool(_BEGINS.search(before[-40:])))
            if word[:1].isupper() and len(word) > 2 and not first and word.casefold() not in PLAIN:
                yield "proper", word, cut


def _looks_like_code(inner: str) -> bool:
    return any(char in "_./()[]{}<>=$" or char.isdecimal() for char in inner) or bool(_HUMPS.search(inner))


class Known:
    """What sources say, made easy to look up."""

    def __init__(self, sources: Sequence[str]) -> None:
        cleaned = [plain for text in sources if (plain := clean(text)) != text]
        whole = "\n".join([*sources, *cleaned])  # the code of a colour is glued to the name behind it
        self.said = _fold(whole)
        self.whole = whole
        self.told = ""  # words alone, without the marks of lists and links: made when a quotation asks for it
        self.whole_words = set(_WORD.findall(self.said))
        self.words = sorted(self.whole_words)
        counted = _HEX.sub(" ", self.said)  # the digits of a hash are no numbers
        self.numbers = set[str]()
        for found in _NUMBER.finditer(counted):
            self.numbers |= _numbers(found[0])
            beside = counted[found.start() - 1 : found.start()] + counted[found.end() : found.end() + 1]
            if found[0][0] == "." or any(char.isalnum() or char in "_-" for char in beside):
                # of x1,234 it is 234 that looks like a number, of .1,234 it is .1
                self.numbers |= {*re.split(r"[.,_]", found[0]), *re.findall(r"^\.\d+", found[0])}

    def has(self, kind: str, name: str, cut: bool) -> bool:
        said = _fold(name)
        if kind == "quoted":
            return self.quotes(said)
        if kind == "file":
            said = said.removeprefix("./").removeprefix("…/").rstrip("/")
            return not said.strip("~./") or self.occurs(said, cut) or ("*" in said and self.occurs_wild(said))
        if kind == "commit":
            return self.occurs(said, True)
        if kind == "number":
            return self.counts(said)
        if kind == "mixed":  # 30s, v2, R13b, 3x
            digits = _NUMBER.findall(said)
            return self.occurs(said, cut) or (all(map(self.counts, digits)) and self.begins(said))
        if kind == "proper":
            return self.begins(said)
        return self.occurs(said, cut)

    def occurs(self, said: str, cut: bool = False) -> bool:
        """Whether it stands there by itself; a part of a path does, a part of a word does not."""
        at = self.said.find(said)
        while at >= 0:
            end = at + len(said)
            if not _joined(self.said[at - 1 : at], said[0]) and (
                cut or not _joined(self.said[end : end + 1], said[-1])
            ):
                return True
            at = self.said.find(said, at + 1)
        return False

    def occurs_wild(self, said: str) -> bool:
        return all(
            self.occurs(part.strip("/"), True) or part.strip("/") in self.said for part in said.split("*") if part
        )

    def quotes(self, said: str) -> bool:
        """Whether somebody said that, perhaps with something between its parts."""
        said = said.removesuffix("()").strip(" .,;:!?")
        parts = [part.strip(" .,;:!?") for part in re.split(r"…|\.\.\.", said)]
        return all(part in self.said for part in parts) or self.tells(parts)

    def tells(self, parts: Sequence[str]) -> bool:
        """Whether it is what somebody said but for layout: items of a list, the words of a link."""
        self.told = self.told or _words(_LAYOUT.sub(" ", self.whole))
        return all(_words(part) in self.told for part in parts)

    def counts(self, said: str) -> bool:
        mine = _numbers(said)
        return bool(mine & self.numbers) or (
            said.count(".") < 2 and any(number.startswith(said + ".") for number in self.numbers)
        )

    def begins(self, said: str) -> bool:
        """Whether a word begins like that: Postgres is in PostgreSQL; a plural or a genitive is no other name."""
        stem = re.sub(r"[^a-z0-9_].*|(?<=..[a-rt-z])s$", "", said) or said
        if not stem.isascii():
            return stem in self.said
        digits = re.sub(r"[a-z_]", "", stem)
        if digits and digits == re.sub(r"[^0-9]", "", stem) and len(stem) - len(digits) < 4:
            return True  # a number and its unit, whose number was looked up
        if said in self.whole_words:
            return True
        at = bisect_left(self.words, stem)
        return at < len(self.words) and (self.words[at] == stem or (len(stem) > 3 and self.words[at].startswith(stem)))


def _fold(text: str) -> str:
    """A text without what only lays it out."""
    return " ".join(_MARKS.sub(" ", text.casefold().replace("’", "'").replace("**", "")).split())


def _words(text: str) -> str:
    return " " + " ".join(_SPOKEN.findall(text.casefold()))


def _joined(outside: str, edge: str) -> bool:
    """Whether a character beside an edge makes one word with it."""
    if not outside.isascii() or not (edge.isalnum() or edge == "_"):
        return False
    return outside.isalnum() or outside == "_"


def _numbers(said: str) -> set[str]:
    """A number without separators; of what is no single number, each one."""
    if _THOUSANDS.match(said):
        return {said.replace(",", "").replace("_", "")}
    if said.count(".") == 1 and "," not in said and "_" not in said:
        return {said, said.lstrip("0") if said.startswith("0.") else said, said.partition(".")[0] or said}
    return {said, *re.split(r"[.,_]", said)} if not said.isdecimal() else {said}
