"""Our named tuple, which spares every hook an import, behaves like the one of `typing`."""

from __future__ import annotations

import copy
import pickle
import typing
from typing import Any

import pytest

from memory_keeper import model, request


class Ours(model.NamedTuple):
    """A point."""

    x: int
    y: int = 2
    name: str = ""

    @property
    def sum(self) -> int:
        """A method of its own."""
        return self.x + self.y


class Theirs(typing.NamedTuple):
    """A point."""

    x: int
    y: int = 2
    name: str = ""

    @property
    def sum(self) -> int:
        """A method of its own."""
        return self.x + self.y


BOTH: tuple[Any, ...] = (Ours, Theirs)
VALUES = [
    value for value in (vars(model) | vars(request)).values() if isinstance(value, type) and hasattr(value, "_fields")
]
VALUES.remove(model.NamedTuple)


@pytest.mark.parametrize(
    ("values", "named"),
    [((1,), {}), ((1, 3), {}), ((1, 3, "n"), {}), ((), {"x": 1}), ((1,), {"name": "n"}), ((), {"name": "n", "x": 5})],
)
def test_making(values: tuple[Any, ...], named: dict[str, Any]) -> None:
    ours, theirs = (kind(*values, **named) for kind in BOTH)
    assert tuple(ours) == tuple(theirs)
    assert ours == theirs
    assert hash(ours) == hash(theirs)
    assert (ours.x, ours.y, ours.name, ours.sum) == (theirs.x, theirs.y, theirs.name, theirs.sum)
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
    assert ours._asdict() == theirs._asdict()
    assert list(ours._asdict()) == list(theirs._asdict())
    assert (ours[0], ours[-1], len(ours), ours[:2]) == (theirs[0], theirs[-1], len(theirs), theirs[:2])
    assert tuple(ours._replace(y=9)) == tuple(theirs._replace(y=9))


@pytest.mark.parametrize(
    ("values", "named"),
    [((), {}), ((), {"y": 1}), ((1, 2, "n", 4), {}), ((1,), {"x": 1}), ((1,), {"z": 1}), ((1, 2, "n"), {"name": "m"})],
)
def test_making_wrongly(values: tuple[Any, ...], named: dict[str, Any]) -> None:
    for kind in BOTH:
        with pytest.raises(TypeError):
            kind(*values, **named)


def test_making_from_a_row() -> None:
    for kind in BOTH:
        made = kind._make(["a", "b", "c"])
        assert type(made) is kind
        assert made == ("a", "b", "c")
        for wrong in ((), (1,), (1, 2, 3, 4)):
            with pytest.raises(TypeError):
                kind._make(wrong)


def test_what_it_is() -> None:
    assert Ours._fields == Theirs._fields
    assert Ours.__doc__ == Theirs.__doc__
    assert Ours.__name__ == "Ours"
    assert issubclass(Ours, tuple)
    assert not hasattr(Ours(1), "__dict__")


def test_it_does_not_change() -> None:
    for kind in BOTH:
        one = kind(1)
        for name in ("x", "other"):
            with pytest.raises(AttributeError):
                setattr(one, name, 5)
        with pytest.raises((TypeError, ValueError)):
            one._replace(other=1)
        assert one == (1, 2, "")


def test_copies() -> None:
    for kind in BOTH:
        one = kind(1, name="n")
        for twin in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
            assert twin == one
            assert type(twin) is kind


def test_taking_apart() -> None:
    for kind in BOTH:
        match kind(1, 2, "n"):
            case (x, y, name):
                assert (x, y, name) == (1, 2, "n")
        x, *rest = kind(1, 2, "n")
        assert (x, rest) == (1, [2, "n"])


@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: kind.__name__)
def test_every_value_says_what_it_is(kind: Any) -> None:
    assert kind.__doc__
    made = kind._make(range(len(kind._fields)))
    assert list(made) == list(range(len(kind._fields)))
    assert [getattr(made, field) for field in kind._fields] == list(made)


def test_every_kind_of_event_is_explained() -> None:
    assert all(model.KINDS.values())
