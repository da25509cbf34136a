from collections.abc import Sequence
from dataclasses import replace

import pytest

from monitor.domain.identifiers import VersionName, digest
from monitor.domain.results import (
    Baseline,
    Findings,
    JudgeFigures,
    NoBaseline,
    NoBaselineReason,
)
from monitor.service import baselines
from monitor.service.baselines import Comparison
from monitor.wire import results
from monitor.wire.results import CompletedEvaluation
from tests.unit.wire.examples import CANCELLED, ESTIMATE, FINDINGS, PLAN, SPEND, TIMES

SUITE = digest("suite as it is")


def published(
    version: str, findings: Findings = FINDINGS, suite: str = "suite as it is"
) -> CompletedEvaluation:
    subject = replace(PLAN.subject, version=VersionName(version), suite_digest=digest(suite))
    statistics = results.statistics_bytes(replace(PLAN, subject=subject), findings)
    return results.decode(results.encode(statistics, spend=SPEND, times=TIMES, source="/monitor"))


def choose(
    *earlier: CompletedEvaluation,
    previous: str | None = None,
    level: float = 0.95,
    judges: tuple[str, ...] = (),
) -> Baseline | NoBaseline:
    wanted = Comparison(
        version=VersionName("3"),
        previous_version=None if previous is None else VersionName(previous),
        suite_digest=SUITE,
        level=level,
        judges=judges,
    )
    return baselines.choose(earlier, wanted)


def version_of(found: Baseline | NoBaseline) -> str:
    assert isinstance(found, Baseline)
    return found.version


def valued(value: float) -> Findings:
    return replace(FINDINGS, estimate=replace(ESTIMATE, value=value))


def test_the_newest_other_version_is_the_one_before() -> None:
    assert version_of(choose(published("2"), published("1"))) == "2"


def test_a_version_is_not_compared_with_itself() -> None:
    assert version_of(choose(published("3"), published("2"))) == "2"


def test_the_event_may_name_the_version_before() -> None:
    assert version_of(choose(published("2"), published("1"), previous="1")) == "1"


def test_a_version_may_be_named_as_the_one_before_itself() -> None:
    """A check of an endpoint against its own earlier result."""
    assert version_of(choose(published("3"), published("2"), previous="3")) == "3"


def test_of_several_results_of_a_version_the_newest_counts() -> None:
    found = choose(published("2", valued(0.7)), published("2", valued(0.6)))
    assert isinstance(found, Baseline)
    assert found.value == 0.7


@pytest.mark.parametrize("previous", [None, "2"])
def test_results_without_an_estimate_are_passed_over(previous: str | None) -> None:
    earlier = [published("2", CANCELLED), published("2", valued(0.6)), published("1")]
    assert version_of(choose(*earlier, previous=previous)) == "2"


def test_a_cancelled_version_is_passed_over_unless_it_is_named() -> None:
    earlier = [published("2", CANCELLED), published("1")]
    assert version_of(choose(*earlier)) == "1"
    assert choose(*earlier, previous="2") == NoBaseline(reason=NoBaselineReason.NO_ESTIMATE)


def test_everything_that_the_comparison_needs_is_taken_over() -> None:
    found = choose(published("2"))
    assert isinstance(found, Baseline)
    assert (found.evaluation_id, found.value) == (PLAN.subject.evaluation_id, ESTIMATE.value)
    assert (found.interval, found.worst_case) == (ESTIMATE.interval, ESTIMATE.worst_case)
    shifts = found.worst_lower_shift, found.worst_upper_shift
    assert shifts == (ESTIMATE.worst_lower_shift, ESTIMATE.worst_upper_shift)


@pytest.mark.parametrize(
    ("earlier", "previous", "reason"),
    [
        ([], None, NoBaselineReason.FIRST_VERSION),
        ([published("3")], None, NoBaselineReason.FIRST_VERSION),
        ([], "2", NoBaselineReason.NOT_EVALUATED),
        ([published("1")], "2", NoBaselineReason.NOT_EVALUATED),
        ([published("2", CANCELLED)], None, NoBaselineReason.NO_ESTIMATE),
        ([published("2", suite="as it was")], None, NoBaselineReason.SUITE_CHANGED),
        ([published("2", suite="as it was")], "2", NoBaselineReason.SUITE_CHANGED),
    ],
)
def test_why_there_is_none(
    earlier: Sequence[CompletedEvaluation], previous: str | None, reason: NoBaselineReason
) -> None:
    assert choose(*earlier, previous=previous) == NoBaseline(reason=reason)


def test_results_by_other_judges_are_not_compared() -> None:
    figures = {"strict": JudgeFigures(model="judge-1")}
    judged = published("2")
    judged = judged.model_copy(update={"data": judged.data.model_copy(update={"judging": figures})})
    assert version_of(choose(judged, judges=("judge-1",))) == "2"
    for judges in ((), ("judge-2",), ("judge-1", "judge-1")):
        assert choose(judged, judges=judges) == NoBaseline(reason=NoBaselineReason.JUDGES_CHANGED)


def test_intervals_of_another_level_are_not_compared() -> None:
    assert choose(published("2"), level=0.9) == NoBaseline(reason=NoBaselineReason.OTHER_LEVEL)
