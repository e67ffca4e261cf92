"""Our shortcut to the C scanner and encoder reads and writes exactly what `json` does."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_keeper import wire

SRC = Path(wire.__file__).parents[1]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
BROKEN = [
    "", " ", "{", "}", "[1,", '{"a"}', '{"a":}', "nul", "tru", "'a'", '"a', "01", "1.", "+1", "{} {}", "[]x",
    "\ufeff{}",
    '{"a":1,}', "[1,]", "\x0c1", "NaN1", "\\", '"\\x"', '"\\u12"', "-", "--1", "{1:2}",
]  # fmt: skip


@given(VALUES)
@example({"": {"": [[], {}]}, "\ud83d": "\0\x1f\x7f\u2028", "n": [0.1, 1e300, -0.0, 10**30]})
def test_it_reads_and_writes_as_json_does(value: Any) -> None:
    written = wire.dumps(value)
    assert written == json.dumps(value, separators=(",", ":"))
    assert written.isascii()
    assert "\n" not in written
    assert wire.loads(written) == value
    assert wire.loads(json.dumps(value, indent=1, ensure_ascii=False)) == value


@given(st.text(alphabet='{}[]",:\\ntrue0123.eE+-fals u\n\t\x00é', max_size=30))
def test_any_text_is_read_or_refused_as_json_does(text: str) -> None:
    try:
        wanted = json.loads(text, strict=False)
    except ValueError:
        with pytest.raises(ValueError):
            wire.loads(text)
    else:
        assert repr(wire.loads(text)) == repr(wanted)


@pytest.mark.parametrize("text", BROKEN)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        wire.loads(text)


def test_what_is_no_json_is_refused_where_json_was_never_loaded() -> None:
    """There the C scanner has no error to raise, as in a hook."""
    code = f"""
import sys
sys.path.insert(0, {str(SRC)!r})
from memory_keeper import wire
assert "json" not in sys.modules
for text in {BROKEN!r}:
    try:
        wire.loads(text)
    except ValueError:
        continue
    raise AssertionError(text)
"""
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True, timeout=60)


def test_white_space_around_it_is_nothing() -> None:
    assert wire.loads(' \t\r\n{"a":1} \n') == {"a": 1}


def test_control_characters_in_a_string_are_taken() -> None:
    assert wire.loads('"a\nb\0"') == "a\nb\0"


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_are_none(name: str) -> None:
    ours, theirs = wire.loads(name), json.loads(name)
    assert type(ours) is float
    assert ours == theirs or (math.isnan(ours) and math.isnan(theirs))
    assert wire.dumps(ours) == name


@pytest.mark.parametrize("key", [1, 1.5, True, None])
def test_keys_that_are_no_text(key: Any) -> None:
    assert wire.dumps({key: 1}) == json.dumps({key: 1}, separators=(",", ":"))


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", {"a": [object()]}, {(1, 2): 3}])
def test_what_json_cannot_say_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        wire.dumps(value)


def test_depth_is_refused_not_survived_by_luck() -> None:
    with pytest.raises(RecursionError):
        wire.loads("[" * 200_000)
    with pytest.raises(ValueError):
        wire.loads("9" * 5000)


def test_nothing_is_remembered_between_two_texts() -> None:
    assert wire.loads('{"a":1}') == {"a": 1}
    assert wire.loads('{"b":1}') == {"b": 1}
    first = wire.loads('{"a":[]}')
    first["a"].append(1)
    assert wire.loads('{"a":[]}') == {"a": []}
