"""Patterns that are compiled when they are first used are the same patterns."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys

import pytest

import memory_keeper
from memory_keeper import regex


def modules() -> list[str]:
    """Those that have such patterns."""
    for found in pkgutil.walk_packages(memory_keeper.__path__, "memory_keeper."):
        if found.name != "memory_keeper.hooks.start":  # which is a program
            importlib.import_module(found.name)
    return [name for name, module in sys.modules.items() if vars(module).get("re") is regex]


def test_every_pattern_can_be_compiled() -> None:
    values = [(name, value) for name in modules() for value in vars(sys.modules[name]).values()]
    patterns = [(name, value) for name, value in values if isinstance(value, regex._Pattern)]
    assert len(patterns) > 100
    for name, pattern in patterns:
        assert isinstance(pattern.pattern, str), name


def test_it_does_what_re_does() -> None:
    ours, theirs = regex.compile("(a+)b", regex.I), re.compile("(a+)b", re.I)
    for text in ("xaAby", "b", "", "ab ab"):
        assert ours.findall(text) == theirs.findall(text)
        assert ours.sub(r"<\1>", text) == theirs.sub(r"<\1>", text)
        assert ours.split(text) == theirs.split(text)
        assert [found.span() for found in ours.finditer(text)] == [found.span() for found in theirs.finditer(text)]
        for method in ("match", "fullmatch", "search"):
            found, wanted = getattr(ours, method)(text), getattr(theirs, method)(text)
            assert (found and found.groups()) == (wanted and wanted.groups())
    assert (ours.pattern, ours.flags, ours.groups) == (theirs.pattern, theirs.flags, theirs.groups)


def test_a_mistake_shows_at_the_first_use() -> None:
    pattern = regex.compile("(")
    with pytest.raises(re.error):
        pattern.search("x")
