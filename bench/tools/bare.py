"""Bare names: the part of a text that only lists what there is, and says nothing about it.

A name is a word that is a path, an identifier or a reference, such as `src/app.rs`, `read_line`, `#12`; a plain word
such as `build` is none, even where it is a program. An item is what stands between commas, semicolons, colons and the
ends of a line. Bare are

    an item of names alone             Seen in output: src/a.go; b.go read_line
    three names and more in a row      Read a.go b.go c.go before the change
    a name before a colon              src/a.go: read_line parse_line           (where bare names follow it)

and not bare is a name that words are about: inside a sentence, in code with a `=`, before a colon with words after it,
in a heading, or alone in a line that has words (`Branch: feat/retry`). A citation, `[1f2e3d4c]`, is neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_keeper.text import tokens

IN_A_ROW = 3
TAG, CITED = re.compile(r"</?[a-z-]+(?: [^<>]*)?>"), re.compile(r"\[(?:\w-)?[0-9a-f]{8}\]")
HEADING = re.compile(r"\s*#+\s")
BULLET = re.compile(r"^[\s|>]*(?:[-*+•]|\d+[.)])?\s+")
ITEM = re.compile(r"([,;:](?=\s|$))")
AROUND = "`'\"“”‘’()[]<>*,;:!?…"
NAME = re.compile(
    r"[~.@\w+{},*$:-]*[/\\]\S*"  # a path, or an address
    r"|[\w.@+-]+\.[A-Za-z]\w{0,6}(?::\d[\d:-]*)?"  # a file
    r"|\.\w[\w.-]+"  # a file with a dot in front
    r"|#\d+|[A-Z]{2,}-\d+|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}"  # an issue, a commit
    r"|[\w$.:]*(?:\w_\w|[a-z\d][A-Z]|[A-Za-z]\w*(?:::|\.)[A-Za-z_])[\w$.:]*(?:\(\))?"  # joined: a_b, aB, a.b, a::b
    r"|[\w$]+\(\)"
)
ABBREVIATED = frozenset(("e.g", "i.e", "e.g.", "i.e.", "and/or"))


def bare_share(text: str, family: str) -> float:
    """The share of the tokens of a text that are bare names, with what separates them."""
    return tokens(bare_names(text), family) / max(1, tokens(text, family))


def bare_names(text: str) -> str:
    """The bare names of a text, line by line."""
    return "".join(part for line in TAG.sub("", text).splitlines(keepends=True) for part in bare_of(line))


def bare_of(line: str) -> list[str]:
    """Those of a line, each with the separator after it."""
    if HEADING.match(line):
        return []
    pieces = ITEM.split(BULLET.sub("", CITED.sub("", line), count=1))
    items = list(zip(pieces[::2], [*pieces[1::2], ""], strict=True))
    found: list[str] = []
    after = False  # whether what follows is bare
    for item, separator in reversed(items):
        if not words_of(item):
            continue
        bare = [item + separator] if all(map(is_name, words_of(item))) else list(rows_of(item))
        labels = separator == ":" and bare == [item + separator]
        if labels and not after:
            bare = []
        after = bool(bare)
        found[:0] = bare
    alone = len(words_of("".join(found))) == 1 and len(words_of(line)) > 1
    return [] if alone else found


def rows_of(item: str) -> Iterator[str]:
    """The names of an item with other words that stand in a row."""
    row: list[str] = []
    for word in [*words_of(item), "."]:
        if is_name(word):
            row.append(word)
            continue
        if len(row) >= IN_A_ROW:
            yield " ".join(row) + " "
        row = []


def words_of(item: str) -> list[str]:
    """Its words; a dash or a count is none, a `=` is one."""
    return [word for word in CITED.sub("", item).split() if re.search(r"[^\W\d_]|#\d|=", word)]


def is_name(word: str) -> bool:
    """Whether a word is a path, an identifier or a reference."""
    word = word.strip(AROUND)
    word = word if word.startswith(".") and word.count(".") == 1 else word.rstrip(".")
    return word not in ABBREVIATED and bool(NAME.fullmatch(word))
