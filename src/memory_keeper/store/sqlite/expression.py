"""What is looked for in words and in a scope, as an expression of FTS5 over the columns and tags that `index` makes.

Only letters and digits of a query ever get here, and they stand in quotes: no query is a syntax error. Two names may
share a tag, and a time is told by its days, so who finds rows by an expression looks at them again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import time

from memory_keeper.model import DAY, Phrase, Scope
from memory_keeper.store.index import AGAIN, file_words, span, tag


def expression(wanted: Sequence[Sequence[Phrase]], scope: Scope, kinds: Sequence[str], notes: bool, deep: bool) -> str:
    """One phrase of each group, inside a scope; empty when nothing is asked for."""
    groups = [*(_either(map(_quoted, group)) for group in wanted), *_file(scope)]
    found = [f"{{text parts}} : ({' AND '.join(groups)})"] if groups else []
    if tags := _tags(scope, kinds, notes):
        found.append(f"tags : ({' AND '.join(tags)})")
    again = "" if deep or kinds or not found else f" NOT tags : {AGAIN}"
    return " AND ".join(found) + again


def _quoted(phrase: Phrase) -> str:
    column = f"{phrase.column} : " if phrase.column else ""
    return f'{column}"{phrase.words}"' + " *" * phrase.begins


def _file(scope: Scope) -> list[str]:
    return [f'text : "{words}"'] if (words := " ".join(file_words(scope.file))) else []


def _tags(scope: Scope, kinds: Sequence[str], notes: bool) -> list[str]:
    found: list[str] = []
    if scope.project is not None:
        found.append(tag("p", scope.project))
    if scope.session:
        found.append(tag("s", scope.session))
    if kinds:
        found.append(_either(tag("k", kind) for kind in kinds))
    if scope.tool:
        found.append(tag("t", scope.tool.lower()))
    if notes and scope.level is not None:
        found.append(f"l{scope.level}")
    if scope.since or scope.until:
        found.append(_either(span(scope.since, scope.until or time() + DAY)) or "never")
    return found


def _either(names: Iterable[str]) -> str:
    text = " OR ".join(names)
    return f"({text})" if text else ""
