"""Every setting has what a person needs to set it, and takes no value that it cannot have."""

from __future__ import annotations

import pytest

from memory_keeper.settings import ALIASES, DEFAULTS, FEWEST, SETTINGS, USERS_ONLY, problem, read_value, variable


@pytest.mark.parametrize("key", SETTINGS)
def test_every_setting_has_a_type_a_variable_and_a_reason_when_it_is_wrong(key: str) -> None:
    assert problem(key, DEFAULTS[key]) == ""
    assert key in problem(key, None)
    assert variable(key).replace("_", "").isupper()
    assert len({variable(other) for other in DEFAULTS}) == len(DEFAULTS)


@pytest.mark.parametrize("key", SETTINGS)
def test_every_setting_says_in_one_sentence_what_it_means(key: str) -> None:
    meaning = SETTINGS[key].meaning
    assert meaning.endswith(".") and ". " not in meaning and "\n" not in meaning and "|" not in meaning


@pytest.mark.parametrize("key", [key for key, setting in SETTINGS.items() if type(setting.default) is int])
def test_a_number_is_between_its_bounds(key: str) -> None:
    least, most = SETTINGS[key].least, SETTINGS[key].most
    assert problem(key, least) == problem(key, most) == ""
    assert problem(key, least - 1) == f"{key} is at least {least}"
    assert problem(key, most + 1) == f"{key} is at most {most}"
    assert read_value(str(most), DEFAULTS[key]) == most


@pytest.mark.parametrize("key", ["context.warnTokens", "context.criticalTokens"])
def test_a_fixed_number_is_none_or_more_than_any_context_begins_with(key: str) -> None:
    assert problem(key, 1) == problem(key, FEWEST - 1) == f"{key} is 0 or at least {FEWEST}"
    assert problem(key, 0) == problem(key, FEWEST) == ""


def test_what_only_the_user_sets_and_what_was_called_otherwise_is_among_them() -> None:
    assert SETTINGS.keys() > USERS_ONLY
    assert {ours for ours, _ in ALIASES.values()} < SETTINGS.keys()
