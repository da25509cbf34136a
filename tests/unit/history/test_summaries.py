import math
from dataclasses import replace

import pytest

from monitor.history import summaries
from monitor.history.records import Record
from tests.unit.history.recorded import HIT, MISS, UNKNOWN


def summary(*records: Record) -> summaries.Summary:
    (found,) = summaries.summarise(records)
    return found


def test_what_a_cell_comes_to() -> None:
    found = summary(HIT, HIT, MISS, UNKNOWN)
    assert (found.coverage.targets, found.coverage.evaluations) == (1, 4)
    assert found.coverage.share == pytest.approx(2 / 3)
    assert found.coverage.error is None
    assert found.no_estimate == 0.25
    assert found.width == pytest.approx((0.4 + 0.4 + 0.25) / 3)
    assert found.bias == pytest.approx((0.1 + 0.1 + 0.2) / 3)
    assert found.ess_ratio == pytest.approx(2.0)
    assert found.ess_ratio_mse == pytest.approx(3 * 0.02 / (0.1**2 + 0.1**2 + 0.2**2))
    assert found.paper_ratio == pytest.approx(5.0)
    assert found.below_one == 0.0
    assert found.worst == pytest.approx(2.0)


def test_targets_are_clusters() -> None:
    other = replace(MISS, target=1)
    found = summary(HIT, HIT, other, other)
    # Means 1 and 0: the standard error of the mean of two, not of four.
    assert found.coverage.error == pytest.approx(math.sqrt(0.5) / math.sqrt(2))


def test_targets_worse_than_plain_are_counted() -> None:
    found = summary(HIT, replace(HIT, target=1, exact_variance=0.04), replace(MISS, target=2))
    assert found.below_one == pytest.approx(1 / 3)
    assert found.worst == pytest.approx(0.5)
    assert found.ess_ratio == pytest.approx(0.06 / 0.06)


def test_repeats_are_compared_at_what_was_paid() -> None:
    found = summary(replace(HIT, queries=8))
    assert found.ess_ratio_queries == pytest.approx(2.0 * (1 / 8 - 1 / 100) / (1 / 10 - 1 / 100))


def test_a_census_has_no_ratio() -> None:
    asked = replace(HIT, n=100, queries=100, exact_variance=0.0, srs_variance=0.0)
    found = summary(asked)
    assert (found.ess_ratio, found.ess_ratio_queries, found.worst) == (None, None, None)


def test_without_any_estimate_all_is_unknown() -> None:
    found = summary(UNKNOWN)
    assert (found.coverage.share, found.width, found.bias, found.ess_ratio_mse) == (None,) * 4
    assert found.no_estimate == 1.0


def test_cells_stay_in_order() -> None:
    found = summaries.summarise([HIT, replace(HIT, budget="5"), replace(HIT, design="simple")])
    named = [(each.design, each.budget) for each in found]
    assert named == [("without_replacement", "10"), ("without_replacement", "5"), ("simple", "10")]


def test_the_share_drawn_by_a_guide() -> None:
    assert summary(HIT, replace(HIT, drawn_by="simple")).by_guide == 0.5


def test_ability_bands_hold_their_lower_end() -> None:
    truths = {0: 0.0, 1: 0.25, 2: 0.8999, 3: 0.9, 4: 1.0}
    assert summaries.ability_bands(truths) == {
        0: "0 - 0.25",
        1: "0.25 - 0.5",
        2: "0.75 - 0.9",
        3: "0.9 - 1",
        4: "0.9 - 1",
    }


def test_date_bands_are_of_like_size() -> None:
    dates = ["2024-05", "", "2023", "2024-01", "2024-02", "2024-03"]
    assert summaries.date_bands([5, 4, 3, 2, 1, 0], dates) == {
        2: "2023 to 2024-01",
        3: "2023 to 2024-01",
        4: "2024-02",
        5: "2024-03",
        0: "2024-05",
        1: "undated",
    }


def test_coverage_by_band() -> None:
    found = summaries.coverage_by_band([HIT, replace(MISS, target=1)], {0: "low", 1: "high"})
    assert [(each.band, each.coverage.share) for each in found] == [("low", 1.0), ("high", 0.0)]
