"""What tokens cost: a dated table of list prices, which the user's own `prices.json` replaces as a whole.

A model that the table does not name has no price: nothing is guessed. Money is counted in decimals.
"""

from __future__ import annotations

import json
import os
from datetime import date
from decimal import Decimal

import memory_keeper
from memory_keeper.model import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memory_keeper.keep.spending import Spending
    from memory_keeper.model import Json

SHIPPED = os.path.join(os.path.dirname(memory_keeper.__file__), "data", "prices.json")
NAME = "prices.json"
MILLION = Decimal(1_000_000)
CENT, EXACT = Decimal("0.01"), Decimal("0.000001")
LARGEST = 1 << 20  # bytes


class Price(NamedTuple):
    """What a million tokens of a model cost."""

    input: Decimal
    output: Decimal
    cache_read: Decimal
    cache_write: Decimal


class Prices(NamedTuple):
    """A table of prices, and when it held."""

    as_of: str
    currency: str
    file: str
    models: dict[tuple[str, int], Price]  # by how a model's name begins, and the size its context is above
    problem: str = ""  # why the user's own table is not in force

    @property
    def label(self) -> str:
        """What has to be said wherever a cost is."""
        return f"estimate, prices of {self.as_of}"

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of a context above which some model costs more."""
        return tuple(sorted({above for _, above in self.models if above}))


def read_prices(home: str) -> Prices:
    """The user's own prices, else those that we ship."""
    own = os.path.join(home, NAME)
    try:
        return _read(own)
    except FileNotFoundError:
        return _read(SHIPPED)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        said = f"{type(error).__name__}: {error}"[:200]
        return _read(SHIPPED)._replace(problem=f"{own} cannot be used ({said}); the prices that we ship are in force")


def _read(path: str) -> Prices:
    with open(path, encoding="utf-8") as file:
        said = json.loads(file.read(LARGEST), parse_float=Decimal, parse_int=Decimal)
    models: dict[tuple[str, int], Price] = {}
    for name, given in said["models"].items():
        models[name, 0] = _price(given)
        if "above" in given:
            models[name, int(given["above"]["tokens"])] = _price(given["above"])
    currency = said.get("currency", "USD")
    if not (isinstance(currency, str) and len(currency) == 3 and currency.isascii() and currency.isalpha()):
        raise ValueError("no currency such as USD")
    return Prices(date.fromisoformat(said["as_of"]).isoformat(), currency, path, models)


def _price(given: Json) -> Price:
    found = Price(*(Decimal(given[field]) for field in Price._fields))
    if not all(price.is_finite() and 0 <= price < MILLION for price in found):
        raise ValueError(f"no price: {given}")
    return found


def price_of(prices: Prices, model: str, above: int = 0) -> Price | None:
    """What a model costs; None when the table does not name it."""
    name = max((name for name, _ in prices.models if _names(name, model)), key=len, default="")
    sizes = [size for of, size in prices.models if of == name and size <= above]
    return prices.models[name, max(sizes)] if sizes else None


def _names(name: str, model: str) -> bool:
    """Whether a name in the table means a model: what follows it may be a date or a variant, not another version."""
    rest = model.removeprefix(name) if name and model.startswith(name) else "?"
    dated = rest[:1] == "-" and len(rest) > 8 and rest[1:9].isdecimal()
    return dated or rest in ("", "-latest") or rest[0] in "@[:"


def cost(prices: Prices, spent: Iterable[Spending]) -> tuple[Decimal, int]:
    """What was spent costs, and how many tokens of it are of models without a price."""
    total, unpriced = Decimal(0), 0
    for one in spent:
        price = price_of(prices, one.model, one.above)
        if price:
            total += sum((getattr(one, kind) * getattr(price, kind) for kind in Price._fields), Decimal(0)) / MILLION
        else:
            unpriced += one.input + one.output + one.cache_read + one.cache_write
    return total, unpriced


def money(amount: Decimal, currency: str = "USD") -> str:
    """An amount for people; less than a cent is said to be that."""
    sign = "-" * (amount < 0)
    size = abs(amount)
    said = f"{size.quantize(CENT):,}" if size >= CENT or not size else "0.01"
    less = "<" if 0 < size < CENT else ""
    return f"{less}{sign}${said}" if currency == "USD" else f"{less}{sign}{said} {currency}"


def exact(amount: Decimal) -> str:
    """An amount for programs."""
    return str(amount.quantize(EXACT))
