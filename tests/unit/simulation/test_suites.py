import re
from collections import Counter

import numpy as np
import pytest

from monitor.domain import errors
from monitor.simulation import answers, suites


def test_arithmetic_targets_are_right() -> None:
    for item in suites.arithmetic_suite(200).items:
        asked = re.fullmatch(r"What is (\d+) ([-+*/]) (\d+)\?", str(item.input))
        assert asked
        first, second = int(asked[1]), int(asked[3])
        expected = {
            "+": first + second,
            "-": first - second,
            "*": first * second,
            "/": first / second,
        }
        assert float(item.target[0]) == expected[asked[2]]


def test_arithmetic_questions_differ() -> None:
    suite = suites.arithmetic_suite(3000)
    assert len({item.input for item in suite.items}) == 3000
    assert len({item.digest for item in suite.items}) == 3000
    assert len({item.id for item in suite.items}) == 3000


def test_arithmetic_groups_are_even() -> None:
    suite = suites.arithmetic_suite(10)
    assert suite.groups == ("addition", "division", "multiplication", "subtraction")
    assert sorted(Counter(item.group for item in suite.items).values()) == [2, 2, 3, 3]


def test_the_seed_makes_the_suite() -> None:
    assert suites.arithmetic_suite(20, seed=3) == suites.arithmetic_suite(20, seed=3)
    assert suites.arithmetic_suite(20, seed=3).digest != suites.arithmetic_suite(20, seed=4).digest


@pytest.mark.parametrize("items", [0, suites.MOST_QUESTIONS + 1])
def test_a_suite_has_items_but_not_too_many(items: int) -> None:
    with pytest.raises(errors.UsageError, match="items"):
        suites.arithmetic_suite(items)


def test_recorded_items_are_the_columns() -> None:
    suite = suites.recorded_suite(["x/1", "x/2"], groups=["g", "h"], name="taken")
    assert [(item.id, item.group) for item in suite.items] == [("x/1", "g"), ("x/2", "h")]
    assert (suite.name, suite.grader.kind) == ("taken", "exact")
    assert suites.recorded_suite(["x/1"]).items[0].group is None


def test_synthetic_history_has_the_form_of_a_file() -> None:
    items = [f"item-{index}" for index in range(500)]
    history = suites.synthetic_history(items, models=20, missing=0.2, seed=5)
    assert history.outcomes.shape == (20, 500)
    assert np.isnan(history.outcomes).mean() == pytest.approx(0.2, abs=4 * (0.16 / 10_000) ** 0.5)
    assert list(history.dates) == sorted(set(history.dates))


def test_synthetic_history_knows_the_items() -> None:
    items = [f"item-{index}" for index in range(500)]
    model = answers.SimulatedModel(name="m", accuracy=0.7)
    for seed, agrees in ((5, True), (6, False)):
        history = suites.synthetic_history(items, models=30, missing=0.0, seed=5)
        outcomes = answers.item_response_book([model], items=items, seed=seed).outcomes[0]
        correlation = np.corrcoef(history.outcomes.mean(axis=0), outcomes)[0, 1]
        assert bool(correlation > 0.4) is agrees
