"""What a draw costs, of FAQ and by the default guide, and a fit of factors, on one core.

    python -m benchmarks.speed

A draw is scoring all items, choosing one, updating the posterior, and the exact variance that
back-tests want. It is given as a multiple of one float32 matrix-vector product, timed in the same
run; of FAQ once for an evaluation alone and once for evaluations side by side, as back-tests run
them. FAQ's authors' own code took 2.2 to 2.9 ms a draw on a core like ours.
"""

import argparse
import dataclasses
import resource
import sys
import time
from collections.abc import Callable

import numpy as np
import torch

from monitor.stats import factor_models, faq, faq_draws, rehearsals, sampling
from monitor.stats.answers import History
from monitor.stats.designs import WithoutReplacement
from monitor.stats.factor_models import Factors
from monitor.stats.factor_settings import FactorSettings
from monitor.stats.feature_model import FeatureModel
from monitor.stats.rehearsals import Pool

ITEMS, FACTORS = 12_032, 64
EARLIER, GROUPS = 30, 14
REFERENCE_MS = (2.2, 2.9)
PUBLISHED_STEPS = 2_000
SETTINGS = faq.Settings(tau=0.05)


def made_up_factors() -> Factors:
    rng = np.random.default_rng(0)
    return Factors.from_arrays(
        rng.normal(0.0, 0.3, (2_000, FACTORS)), rng.normal(0.0, 0.3, (ITEMS, FACTORS))
    )


def made_up_history(models: int, items: int, observed: float) -> History:
    rng = np.random.default_rng(0)
    outcomes = np.full((models, items), np.nan)
    for row in outcomes:
        seen = rng.random(items) < observed
        row[seen] = rng.integers(0, 2, int(seen.sum()))
    return History.from_matrix(outcomes)


def seconds(action: Callable[[], object], device: str, *, repetitions: int) -> float:
    """Shortest time of an action, after one that does not count.

    On the CPU it is CPU time, so that other processes do not count.
    """
    clock = time.perf_counter if device == "cuda" else time.process_time
    action()
    taken = []
    for _ in range(repetitions):
        start = clock()
        action()
        taken.append(clock() - start)
    return min(taken)


def product_seconds(factors: Factors, device: str) -> float:
    """One matrix-vector product V u."""
    items = torch.tensor(factors.items, device=device)
    vector = torch.tensor(factors.models[0], device=device)
    count = 200

    def multiply() -> None:
        for _ in range(count):
            items @ vector
        if device == "cuda":
            torch.cuda.synchronize()

    return seconds(multiply, device, repetitions=20) / count


def draw_seconds(factors: Factors, *, side_by_side: int, draws: int, device: str) -> float:
    """One draw of one evaluation."""
    scores = np.random.default_rng(1).integers(0, 2, (side_by_side, ITEMS)).astype(np.float64)

    def evaluate() -> None:
        faq_draws.draw(
            factors,
            scores,
            settings=SETTINGS,
            n=draws,
            seeds=range(side_by_side),
            device=torch.device(device),
        )

    return seconds(evaluate, device, repetitions=20) / draws / side_by_side


def report_draws(device: str, *, side_by_side: int, draws: int) -> float:
    """Return the seconds of a matrix-vector product."""
    factors = made_up_factors()
    product = product_seconds(factors, device)
    sys.stdout.write(
        f"N = {ITEMS:,}, k = {FACTORS}, {device}: matrix-vector product {1e6 * product:.0f} us\n"
    )
    for width in (1, side_by_side):
        draw = draw_seconds(factors, side_by_side=width, draws=draws, device=device)
        gains = [milliseconds / 1e3 / draw for milliseconds in REFERENCE_MS]
        sys.stdout.write(
            f"{width:>4} side by side: {1e6 * draw:>6.1f} us a draw = {draw / product:.1f} "
            f"products, {1 / draw:,.0f} draws/s, {gains[0]:.0f} to {gains[1]:.0f} times the "
            f"reference\n"
        )
    return product


def report_default(product: float, *, items: int, draws: int) -> None:
    """The guide that history fits by default, in lagged rounds, up to a number of draws."""
    history = made_up_history(EARLIER, items, 1.0)
    labelled = dataclasses.replace(history, groups=np.arange(items) % GROUPS)
    guide = FeatureModel.fit(labelled)
    pool = Pool.of(history.outcomes[0])
    bits = np.random.default_rng(2).integers(0, 2**sampling.CLOCK_BITS, items)

    def evaluate() -> None:
        rehearsals.rehearse(pool, guide, design=WithoutReplacement(), bits=bits, size=draws)

    draw = seconds(evaluate, "cpu", repetitions=3) / draws
    gains = [milliseconds / 1e3 / draw for milliseconds in REFERENCE_MS]
    sys.stdout.write(
        f"default guide, N = {items:,}, n = {draws:,}: {1e6 * draw:.1f} us a draw = "
        f"{draw / product:.1f} products, {gains[0]:.0f} to {gains[1]:.0f} times the reference\n"
    )


def report_fit(device: str, *, models: int, items: int, observed: float, steps: int) -> None:
    history = made_up_history(models, items, observed)
    settings = FactorSettings(k=FACTORS, decay=0.1, steps=steps)

    def fit() -> None:
        factor_models.fit(history, settings, device=device)

    taken = seconds(fit, device, repetitions=1) / steps
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sys.stdout.write(
        f"fit of {models:,} x {items:,}, {observed:.0%} observed, k = {FACTORS}: "
        f"{1e3 * taken:.0f} ms a step, {taken * PUBLISHED_STEPS:.0f} s for {PUBLISHED_STEPS:,}; "
        f"peak memory of the process {peak:,.0f} MB, {history.outcomes.nbytes / 1e6:,.0f} MB of "
        f"it the history\n"
    )


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--steps", type=int, default=20, help="of the fit that is timed")
    given = parser.parse_args()
    torch.set_num_threads(1)
    side_by_side = faq.width(ITEMS, on_cpu=True)
    product = report_draws("cpu", side_by_side=side_by_side, draws=given.draws)
    report_default(product, items=ITEMS, draws=ITEMS // 10)
    report_default(product, items=80_000, draws=8_000)
    report_fit("cpu", models=2_200, items=12_000, observed=0.05, steps=given.steps)


if __name__ == "__main__":
    main()
