"""Named tuples of our own: importing `typing` costs more than everything else a hook does.

To the type checker they are the same thing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from _collections import _tuplegetter

    class _Fields(type):
        """Makes a class body of annotated names into a tuple with those names."""

        def __new__(mcs, name, bases, space):
            if not bases:
                return super().__new__(mcs, name, (tuple,), space)
            fields = tuple(space.get("__annotations__", ()))
            defaults = {field: space.pop(field) for field in fields if field in space}
            space.update({field: _tuplegetter(place, "") for place, field in enumerate(fields)})
            space.update(__slots__=(), _fields=fields, _defaults=defaults, _usual=tuple(defaults.values()))
            return super().__new__(mcs, name, bases, space)

    class NamedTuple(metaclass=_Fields):
        __slots__ = ()
        _fields = ()
        _defaults = {}  # noqa: RUF012  (never changed)
        _usual = ()  # the defaults alone

        def __new__(cls, *values, **named):
            left = len(cls._usual) - len(cls._fields) + len(values)  # defaults that are not wanted
            if not named and 0 <= left <= len(cls._usual):
                return tuple.__new__(cls, values + cls._usual[left:])
            rest = cls._fields[len(values) :]
            if len(values) > len(cls._fields) or not named.keys() <= set(rest):
                raise TypeError(f"{cls.__name__} takes {', '.join(cls._fields)}")
            defaults = cls._defaults
            try:
                return tuple.__new__(cls, (*values, *[named[f] if f in named else defaults[f] for f in rest]))
            except KeyError as missing:
                raise TypeError(f"{cls.__name__} needs {missing}") from None

        def __getnewargs__(self):
            return tuple(self)

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(f'{f}={v!r}' for f, v in zip(self._fields, self, strict=True))})"

        def _replace(self, **named):
            made = tuple.__new__(type(self), map(named.pop, self._fields, self))
            if named:
                raise TypeError(f"{type(self).__name__} takes {', '.join(self._fields)}")
            return made

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        @classmethod
        def _make(cls, values):
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"{cls.__name__} takes {', '.join(cls._fields)}")
            return made
