"""What tokens cost: a dated table of list prices, which the user's own `prices.json` replaces as a whole.

A model that the table does not name has no price: nothing is guessed. Money is counted in decimals.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from datetime import date
from decimal import Decimal

import memory_keeper
from memory_keeper.model import Json, NamedTuple, Spending
from memory_keeper.text import clean, one_line

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
        said = f"{own} cannot be used: {_in_words(error)}; the prices that we ship are in force"
        return _read(SHIPPED)._replace(problem=said)


def problem(home: str) -> str:
    """Why the user's own prices are not in force; empty when they are, or there are none."""
    return read_prices(home).problem


def _in_words(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"it is no JSON, line {error.lineno}, column {error.colno}"
    if isinstance(error, KeyError):
        return f"it lacks {str(error.args[0])[:40]!r}"
    if isinstance(error, OSError):
        return f"{error.strerror or error}"
    said = one_line(clean(str(error)), 100) if type(error) is ValueError else ""
    return said or "it is no table of models and their prices"


def _read(path: str) -> Prices:
    with open(path, encoding="utf-8") as file:
        said = json.loads(file.read(LARGEST), parse_float=Decimal, parse_int=Decimal)
    models: dict[tuple[str, int], Price] = {}
    for name, given in said["models"].items():
        models[name, 0] = _price(name, given)
        if "above" in given:
            models[name, int(given["above"]["tokens"])] = _price(name, given["above"])
    currency = said.get("currency", "USD")
    if not (isinstance(currency, str) and len(currency) == 3 and currency.isascii() and currency.isalpha()):
        raise ValueError("its currency is none such as USD")
    try:
        as_of = date.fromisoformat(said["as_of"]).isoformat()
    except (ValueError, TypeError):
        raise ValueError("its as_of is no day such as 2027-01-31") from None
    return Prices(as_of, currency, path, models)


def _price(name: str, given: Json) -> Price:
    missing = [field for field in Price._fields if field not in given]
    if missing:
        raise ValueError(f"its model {name[:40]!r} has no price for {missing[0]}")
    found = Price(*(Decimal(given[field]) for field in Price._fields))
    if not all(price.is_finite() and 0 <= price < MILLION for price in found):
        raise ValueError(f"its model {name[:40]!r} has a price that is none")
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
    size = abs(amount)
    said = f"{size.quantize(CENT):,}" if size >= CENT or not size else "0.01"
    begin = "-" * (amount < 0) + "<" * (0 < size < CENT)
    return f"{begin}${said}" if currency == "USD" else f"{begin}{said} {currency}"


def exact(amount: Decimal) -> str:
    """An amount for programs."""
    return str(amount.quantize(EXACT))
