"""FAQ is the method that its authors published: their code on the same targets gives the same.

Their table has Monte-Carlo errors of its own, so a mean may differ from theirs by 3.3 standard
errors of both sides together (a chance of 1 in 1,000).
"""

import math
from functools import cache
from pathlib import Path

import pytest

from benchmarks import faq_reference
from benchmarks.faq_reference import Measured, Reference

REPETITIONS = 3
BOUND = 3.3
SMALLEST_BUDGET = 0.025


@cache
def measured(folder: Path, suite: str) -> tuple[Reference, Measured]:
    """The line of the smallest budget, and our evaluations of its targets."""
    (line,) = (
        each
        for each in faq_reference.references(folder)
        if (each.suite, each.share) == (suite, SMALLEST_BUDGET)
    )
    return line, faq_reference.measure(folder, line, repetitions=REPETITIONS, device="cpu")


@pytest.fixture(params=list(faq_reference.FILES.values()))
def compared(request: pytest.FixtureRequest, shared_data: Path) -> tuple[Reference, Measured]:
    return measured(shared_data / "faq_reference", request.param)


def error_of_both(line: Reference, found: Measured, deviation: float) -> float:
    return deviation * math.sqrt(1.0 / line.runs + 1.0 / found.widths.size)


def test_intervals_are_as_wide(compared: tuple[Reference, Measured]) -> None:
    line, found = compared
    error = error_of_both(line, found, found.width_deviation)
    assert error < 0.02 * line.width
    assert abs(float(found.widths.mean()) - line.width) < BOUND * error


def test_the_variance_is_estimated_as_theirs_and_right(
    compared: tuple[Reference, Measured],
) -> None:
    line, found = compared
    variance = float(found.variances.mean())
    error = error_of_both(line, found, float(found.variances.std()))
    assert abs(variance - line.variance) < BOUND * error
    assert abs(variance - float(found.exact.mean())) < 0.05 * variance


def test_errors_are_as_large(compared: tuple[Reference, Measured]) -> None:
    line, found = compared
    error = error_of_both(line, found, float(found.errors.std()))
    assert abs(float(found.errors.mean()) - line.errors) < BOUND * error


def test_intervals_cover_as_often(compared: tuple[Reference, Measured]) -> None:
    line, found = compared
    error = error_of_both(line, found, math.sqrt(0.95 * 0.05))
    assert abs(float(found.covered.mean()) - line.coverage) < BOUND * error
