"""FAQ on the simulated targets that its authors' own code was run on, beside what that gave.

    python -m benchmarks.faq_reference ../shared/data/faq_reference

One line per set of factors and budget; in brackets the authors' number. `z` is the difference in
standard errors of both sides together.
"""

import argparse
import csv
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from monitor.stats import faq
from monitor.stats.arrays import FloatArray
from monitor.stats.factor_models import Factors

FILES = {"mmlu-pro": "mmlu_pro", "bbh+gpqa+ifeval+math+musr": "bbh_gpqa_ifeval_math_musr"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A line of the authors' table.

    errors: mean squared error of the estimates.
    """

    suite: str
    share: float
    n: int
    runs: int
    settings: faq.Settings
    width: float
    coverage: float
    errors: float
    variance: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """What the evaluations gave, columns of shape (targets, repetitions)."""

    widths: FloatArray
    covered: FloatArray
    errors: FloatArray
    variances: FloatArray
    exact: FloatArray

    @property
    def width_deviation(self) -> float:
        """Standard deviation of a width between evaluations of one target."""
        return float(np.sqrt(np.mean(np.var(self.widths, axis=1, ddof=1))))


def references(folder: Path) -> Iterator[Reference]:
    """Yield the table of the authors' code."""
    with (folder / "simulated_reference.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            yield Reference(
                suite=FILES[row["dataset"]],
                share=float(row["prop_budget"]),
                n=int(row["n_draws"]),
                runs=int(row["runs"]),
                settings=faq.Settings(
                    beta0=float(row["beta0"]),
                    rho=float(row["rho"]),
                    gamma=float(row["gamma"]),
                    tau=float(row["tau"]),
                ),
                width=float(row["mean_width"]),
                coverage=float(row["coverage"]),
                errors=float(row["mean_sq_err"]),
                variance=float(row["mean_est_variance"]),
            )


def factors(folder: Path, suite: str) -> Factors:
    with np.load(folder / f"factors_{suite}.npz") as arrays:
        return Factors.from_arrays(arrays["U"], arrays["V"])


def targets(folder: Path, suite: str) -> FloatArray:
    """Outcomes of the simulated targets, (targets, items)."""
    with np.load(folder / f"simulated_targets_{suite}.npz") as arrays:
        return np.asarray(arrays["outcomes"], dtype=np.float64)


def measure(folder: Path, line: Reference, *, repetitions: int, device: str = "auto") -> Measured:
    """Evaluate every target so often, each time with a seed of its own."""
    scores = targets(folder, line.suite)
    rows = np.repeat(np.arange(len(scores)), repetitions)
    found = faq.rehearse(
        factors(folder, line.suite),
        scores[rows],
        settings=line.settings,
        n=line.n,
        seeds=range(len(rows)),
        device=device,
    )
    estimates = [each.estimate(line.n, level=0.95) for each in found]
    truths = scores.mean(axis=1)[rows]

    def column(values: list[float]) -> FloatArray:
        return np.reshape(np.array(values, dtype=np.float64), (len(scores), repetitions))

    pairs = list(zip(estimates, truths, strict=True))
    return Measured(
        widths=column([each.upper - each.lower for each in estimates]),
        covered=column([each.lower <= truth <= each.upper for each, truth in pairs]),
        errors=column([(each.value - truth) ** 2 for each, truth in pairs]),
        variances=column([each.variance for each in estimates]),
        exact=column([each.exact_variance for each in estimates]),
    )


def as_run(line: Reference, column: FloatArray) -> float:
    """Mean over targets, each weighted by how often the reference ran it.

    Its runs are taken to go through the targets in turn, which fits its widths best: where `runs`
    is no multiple of the targets, the first ones count once more.
    """
    counts = np.bincount(np.arange(line.runs) % len(column), minlength=len(column))
    return float(counts @ column.mean(axis=1) / line.runs)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repetitions", type=int, default=4, help="evaluations of each target")
    parser.add_argument("--device", default="auto")
    given = parser.parse_args()
    sys.stdout.write(
        f"{'factors':<26}{'budget':>7}{'width':>20}{'ratio':>7}{'z':>6}{'coverage':>14}{'z':>6}"
        f"{'squared error':>22}{'z':>6}{'variance':>20}{'exact':>10}{'us/draw':>9}\n"
    )
    for line in references(given.folder):
        start = time.perf_counter()
        found = measure(given.folder, line, repetitions=given.repetitions, device=given.device)
        seconds = time.perf_counter() - start
        sys.stdout.write(_row(line, found, seconds / found.widths.size / line.n) + "\n")
        sys.stdout.flush()


def _row(line: Reference, found: Measured, seconds: float) -> str:
    both = 1.0 / line.runs + 1.0 / found.widths.size
    width, coverage = as_run(line, found.widths), as_run(line, found.covered)
    errors, exact = as_run(line, found.errors), as_run(line, found.exact)
    deviations = (
        found.width_deviation * math.sqrt(both),
        math.sqrt(0.95 * 0.05 * both),
        float(found.errors.std()) * math.sqrt(both),
    )
    z = [
        (ours - theirs) / deviation
        for ours, theirs, deviation in zip(
            (width, coverage, errors),
            (line.width, line.coverage, line.errors),
            deviations,
            strict=True,
        )
    ]
    return (
        f"{line.suite:<26}{line.share:>7.1%}{width:>10.5f} ({line.width:.5f})"
        f"{width / line.width:>6.3f}{z[0]:>6.1f}{coverage:>7.3f} ({line.coverage:.3f}){z[1]:>5.1f}"
        f"{errors:>11.2e} ({line.errors:.2e}){z[2]:>5.1f}"
        f"{as_run(line, found.variances):>10.2e} ({line.variance:.1e}){exact:>10.2e}"
        f"{1e6 * seconds:>8.0f}"
    )


if __name__ == "__main__":
    main()
