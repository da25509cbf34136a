from dataclasses import replace

import numpy as np
import pytest

from monitor.history import trials
from monitor.history.lessons import Lesson
from monitor.history.paper_designs import VARIANTS
from monitor.history.pools import PaperSettings, Trial
from monitor.stats.factor_models import Factors
from tests.unit.history import recorded

ITEM_MEANS = recorded.scores()[:8].mean(axis=0)


def trial(*budgets: str, design: str = "with_replacement", rho: float = 0.0) -> Trial:
    """Draws by one factor, how easy an item was for the older half."""
    items = np.column_stack([np.ones(recorded.ITEMS), 4.0 * ITEM_MEANS - 2.0])
    factors = Factors.from_arrays([[0.0, 0.5], [0.5, 1.0], [1.0, 2.0]], items)
    return replace(
        recorded.trial(*budgets, design=design, seeds=(3, 4)),
        lesson=Lesson(fit=None, factors=factors),
        paper=PaperSettings(rho=rho),
    )


@pytest.mark.parametrize("design", VARIANTS)
def test_every_variant_has_its_records(design: str) -> None:
    found = trials.run(trial("40", "390", design=design))
    assert [(each.seed, each.n) for each in found] == [(3, 40), (3, 390), (4, 40), (4, 390)]
    assert [each.drawn_by for each in found] == [design, "census"] * 2
    assert all(each.guide == "factor_model" for each in found if each.n == 40)
    assert all(each.estimate is not None for each in found)


def test_a_repeated_item_is_paid_for_once() -> None:
    found = trials.run(trial("200"))
    assert all(each.queries < each.n == 200 for each in found)


@pytest.mark.parametrize("rho", [0.0, 0.5])
def test_a_budget_gives_the_same_beside_others(rho: float) -> None:
    together = [each for each in trials.run(trial("40", "80", rho=rho)) if each.n == 40]
    assert together == list(trials.run(trial("40", rho=rho)))


def test_without_factors_there_is_nothing_to_draw_by() -> None:
    blind = replace(trial("40"), lesson=Lesson(fit=None, factors=None))
    with pytest.raises(ValueError, match="with_replacement: no factors were fitted"):
        trials.run(blind)
