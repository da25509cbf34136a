"""Strata by a surrogate on real models: what arXiv 2605.10075 reports, and what is below it."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from monitor.app import backtests as running
from monitor.app.backtests import Source
from monitor.domain.policies import Budget
from monitor.history import backtests, stratified_designs
from monitor.history.gains import TELLING
from monitor.history.lessons import Lesson
from monitor.history.pools import TargetPool
from monitor.history.splits import SplitKind
from monitor.history.surrogates import EveryRow
from monitor.stats import effective

DRAWS = 160


class Recorded:
    """Every model asked ten times an item as a surrogate of every model of another maker."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.ratios = cache(self._ratios)

    def pools(self, design: str, *, together: int, is_shuffled: bool) -> Iterable[TargetPool]:
        wanted = backtests.Wanted(
            designs=(design,),
            budgets={str(DRAWS): Budget(count=DRAWS)},
            runs=1,
            seed=0,
            same_prefix=8,
            is_complete=True,
        )
        source = Source(
            outcomes=self._file,
            split=SplitKind.MODEL,
            surrogate=EveryRow(together=together),
            is_shuffled=is_shuffled,
            asks_first=True,
        )
        prepared = running.prepare(source, wanted)
        unlearnt = [Lesson(fit=None, factors=None)] * len(prepared.backtest.split.folds)
        return map(TargetPool.of, backtests.all_trials(prepared.backtest, unlearnt))

    def _ratios(self, design: str, *, together: int = 1, is_shuffled: bool = False) -> np.ndarray:
        """Variance over that of plain draws, and share explained, of each pair: (pairs, 2)."""
        pairs = []
        for pool in self.pools(design, together=together, is_shuffled=is_shuffled):
            layout = stratified_designs.lay_out(pool, DRAWS)
            variance = stratified_designs.exact_variance(pool.scores, layout)
            plain = effective.srs_variance(pool.scores, DRAWS)
            pairs.append((variance / plain, stratified_designs.explained(pool)))
        return np.array(pairs)

    def means(self, design: str) -> tuple[float, float]:
        """Mean ratio of all pairs, and of those whose strata explain something."""
        ratios, explained = self.ratios(design).T
        return float(ratios.mean()), float(ratios[explained > TELLING].mean())


@pytest.fixture(scope="module")
def recorded(shared_data: Path) -> Recorded:
    return Recorded(shared_data / "outcomes" / "cruxeval_repeats.npz")


def test_the_paper_is_reproduced(recorded: Recorded) -> None:
    assert len(recorded.ratios("stratified_published")) == 3472
    assert recorded.means("stratified_published") == pytest.approx((0.816, 0.760), abs=0.01)
    assert recorded.means("stratified_oracle") == pytest.approx((0.791, 0.742), abs=0.01)


def test_the_product_is_below_the_oracle_of_the_papers_strata(recorded: Recorded) -> None:
    product, oracle = recorded.means("stratified"), recorded.means("stratified_oracle")
    assert product[0] < oracle[0] - 0.03
    assert product[1] < oracle[1] - 0.04


def test_several_surrogates_tell_more_than_one(recorded: Recorded) -> None:
    three = recorded.ratios("stratified", together=3)
    assert three[:, 0].mean() < recorded.means("stratified")[0] - 0.05


def test_a_useless_signal_costs_next_to_nothing(recorded: Recorded) -> None:
    ratios = recorded.ratios("stratified", together=3, is_shuffled=True)[:, 0]
    assert ratios.mean() < 1.01
    assert ratios.max() < 1.03
