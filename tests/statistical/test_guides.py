"""What guides are worth: exact variances on real models newer than all that was learnt from."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from scipy import special

from monitor.history import outcomes, splits
from monitor.history.splits import SplitKind
from monitor.stats import effective, rehearsals, sampling, weights
from monitor.stats.answers import History
from monitor.stats.arrays import FloatArray
from monitor.stats.designs import WithoutReplacement
from monitor.stats.feature_model import FeatureModel
from monitor.stats.guides import Guide
from monitor.stats.item_groups import ItemGroups

# Pooled ess_ratio that the feature model must reach after 30 and 60 draws.
GOALS = {
    "bfcl_v1": (1.52, 1.64),
    "zeroeval": (1.92, 2.02),
    "math500_aime_amc": (1.49, 1.56),
    "cruxeval_repeats": (2.35, 2.48),
    "mmlu_pro_cot": (1.34, 1.38),
}
SIZES = (30, 60)


def divided(file: Path) -> tuple[History, FloatArray]:
    """History of the older models, and the outcomes of the newer ones."""
    matrix = outcomes.read_outcomes(file)
    division = splits.split(matrix, SplitKind.DATE, seed=0)
    (fold,) = division.folds
    older, newer = list(fold.history), list(fold.targets)
    history = History.from_matrix(
        matrix.outcomes[older],
        families=[division.families[row] for row in older],
        groups=np.unique(np.array(matrix.groups), return_inverse=True)[1],
    )
    return history, matrix.outcomes[newer]


def variances(guide: Guide, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Variance of plain sampling and by the guide, (targets, sizes) each."""
    plain, guided = [], []
    for row, scores in enumerate(targets):
        cells = np.flatnonzero(~np.isnan(scores))
        run = rehearsals.rehearse(
            rehearsals.Pool.of(scores[cells]),
            guide.of_items(cells),
            design=WithoutReplacement(),
            bits=np.random.default_rng(row).integers(0, 2**sampling.CLOCK_BITS, len(cells)),
            size=max(SIZES),
        )
        plain.append([effective.srs_variance(scores[cells], n) for n in SIZES])
        guided.append([run.exact_variance(weights.term_weights(n, len(cells))) for n in SIZES])
    return np.array(plain), np.array(guided)


@pytest.mark.parametrize("name", GOALS)
def test_the_feature_model_reaches_its_goals_on_newer_models(name: str, shared_data: Path) -> None:
    history, targets = divided(shared_data / "outcomes" / f"{name}.npz")
    plain, guided = variances(FeatureModel.fit(history), targets)
    pooled = plain.sum(axis=0) / guided.sum(axis=0)
    assert (pooled >= GOALS[name]).all()
    assert np.mean(plain[:, 0] < 0.9 * guided[:, 0]) <= 0.05


@pytest.mark.parametrize("name", GOALS)
def test_groups_alone_are_never_below_plain_sampling(name: str, shared_data: Path) -> None:
    history, targets = divided(shared_data / "outcomes" / f"{name}.npz")
    blind = History.from_matrix(np.empty((0, history.population)), groups=history.groups)
    plain, guided = variances(ItemGroups.fit(blind), targets)
    assert (plain.sum(axis=0) / guided.sum(axis=0) >= 0.995).all()


def judged(models: int, items: int) -> FloatArray:
    """Scores of a judge who seldom contradicts himself: a tenth of the variance of 0/1 answers."""
    rng = np.random.default_rng(0)
    abilities = rng.normal(0.0, 1.5, (models, 1)) * rng.lognormal(0.0, 0.4, items)
    talents = 0.5 * rng.normal(size=(models, 4)) @ rng.normal(size=(4, items))
    likely = special.expit(abilities + rng.normal(1.0, 1.5, items) + talents)
    return np.asarray(rng.beta(9.0 * likely, 9.0 * (1.0 - likely)))


def test_a_score_tells_more_than_an_answer() -> None:
    scores = judged(40, 400)
    guide = FeatureModel.fit(History.from_matrix(scores[:20]))
    assert guide.dispersion < 0.2
    plain, guided = variances(guide, scores[20:])
    _, as_answers = variances(dataclasses.replace(guide, dispersion=1.0), scores[20:])
    assert (plain.sum(axis=0) / guided.sum(axis=0) > 2.0).all()
    assert (guided.sum(axis=0) < 0.95 * as_answers.sum(axis=0)).all()


def test_newer_models_far_outside_the_history_lose_little() -> None:
    rng = np.random.default_rng(1)
    easiness = rng.normal(0.0, 1.5, 400)
    weak, strong = rng.normal(-1.5, 0.3, (20, 1)), rng.normal(2.5, 0.3, (10, 1))
    older = (rng.random((20, 400)) < special.expit(weak + easiness)).astype(np.float64)
    newer = (rng.random((10, 400)) < special.expit(strong - easiness)).astype(np.float64)
    plain, guided = variances(FeatureModel.fit(History.from_matrix(older)), newer)
    assert (plain.sum(axis=0) / guided.sum(axis=0) > (0.65, 0.75)).all()
