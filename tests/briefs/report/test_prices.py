"""What tokens cost: a dated table, exact in money, and no price for what it does not name."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.briefs.report.prices import Price, Prices, cost, exact, money, price_of, problem, read_prices
from memory_keeper.model import Spending
from tests.rows import rows

COUNTS = st.integers(0, 10**12)


@pytest.fixture
def shipped(tmp_path: Path) -> Prices:
    return read_prices(str(tmp_path))


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("claude-opus-4-5-20251101", 5),
        ("claude-opus-4-5", 5),
        ("claude-sonnet-4-20250514", 3),
        ("claude-opus-4-20250514", 15),
        ("claude-opus-4-1-20250805", 15),
        ("claude-sonnet-4-5[1m]", 3),
        ("claude-haiku-4-5@20251001", 1),
        ("claude-3-5-haiku-latest", Decimal("0.8")),
    ],
)
def test_a_model_by_the_beginning_of_its_name(shipped: Prices, model: str, price: int) -> None:
    found = price_of(shipped, model)
    assert found
    assert found.input == price


@pytest.mark.parametrize(
    "model", ["claude-opus-4-10", "claude-opus-6", "claude-opus-4-9-20270101", "claude-opus", "gpt-9", "", "<b>"]
)
def test_no_other_version_is_guessed(shipped: Prices, model: str) -> None:
    assert price_of(shipped, model) is None
    assert cost(shipped, [Spending("", model, 0, 1, 1, 2, 3, 4)]) == (Decimal(0), 10)


def test_a_large_context_may_cost_more(shipped: Prices) -> None:
    small, large = (price_of(shipped, "claude-haiku-5-5", above) for above in (0, 100_000))
    assert small
    assert large
    assert (small.input, large.input) == (Decimal("0.1"), Decimal("0.5"))
    assert shipped.sizes == (100_000,)


def test_every_price_is_whole(shipped: Prices) -> None:
    assert shipped.as_of == "2026-11-13"
    assert not shipped.problem
    for price in shipped.models.values():
        assert price.cache_read < price.input < price.cache_write < price.output


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_money_is_exact(fresh: int, read: int, written: int, output: int) -> None:
    one = Price(Decimal("0.1"), Decimal("0.5"), Decimal("0.01"), Decimal("0.125"))
    prices = Prices("2026-01-01", "USD", "", {("m", 0): one})
    found, unpriced = cost(prices, [Spending("", "m", 0, 1, fresh, read, written, output)] * 3)
    assert found * 10**9 == 3 * (100 * fresh + 10 * read + 125 * written + 500 * output)
    assert unpriced == 0


def own(home: Path, text: str) -> Prices:
    (home / "prices.json").write_text(text)
    return read_prices(str(home))


def test_the_users_own_table_replaces_ours(tmp_path: Path) -> None:
    mine = {"input": 1, "output": 2.5, "cache_read": 0, "cache_write": 1}
    said = {"as_of": "2027-01-31", "currency": "EUR", "models": {"claude-opus-4-5": mine}}
    prices = own(tmp_path, json.dumps(said))
    assert prices.label == "estimate, prices of 2027-01-31"
    assert price_of(prices, "claude-opus-4-5") == Price(Decimal(1), Decimal("2.5"), Decimal(0), Decimal(1))
    assert price_of(prices, "claude-sonnet-4-5") is None
    assert money(Decimal("1234.5"), prices.currency) == "1,234.50 EUR"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"as_of": "2027-01-31"}',
        '{"as_of": 3, "models": {}}',
        '{"as_of": "2027-01-31", "models": {"m": {"input": 1}}}',
        '{"as_of": "2027-01-31", "models": {"m": {"input": "x", "output": 1, "cache_read": 1, "cache_write": 1}}}',
        '{"as_of": "2027-01-31", "models": {"m": {"input": -1, "output": 1, "cache_read": 1, "cache_write": 1}}}',
        '{"as_of": "2027-01-31", "models": {"m": {"input": NaN, "output": 1, "cache_read": 1, "cache_write": 1}}}',
        '{"as_of": "2027\\u001b[31m", "models": {}}',
        "[" * 100_000,
    ],
)
def test_a_broken_table_says_so_and_ours_is_in_force(tmp_path: Path, shipped: Prices, text: str) -> None:
    prices = own(tmp_path, text)
    assert prices._replace(problem="") == shipped
    assert prices.problem.startswith(f"{tmp_path}/prices.json cannot be used: it")
    assert "\n" not in prices.problem and "Error" not in prices.problem
    assert problem(str(tmp_path)) == prices.problem


@rows("text", "said")
def test_what_is_wrong_with_a_table_is_said_in_words(tmp_path: Path, text: str, said: str) -> None:
    assert f"cannot be used: {said}; the prices that we ship" in own(tmp_path, text).problem


@rows("amount", "said")
def test_money_for_people(amount: str, said: str) -> None:
    assert money(Decimal(amount)) == said


def test_money_for_programs() -> None:
    assert exact(Decimal("0.1") + Decimal("0.2")) == "0.300000"
