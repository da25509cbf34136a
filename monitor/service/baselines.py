"""Which earlier result a new version is compared with."""

from collections.abc import Sequence
from dataclasses import dataclass

from monitor.domain.identifiers import Digest, VersionName
from monitor.domain.results import Baseline, NoBaseline, NoBaselineReason
from monitor.wire.results import CompletedEvaluation

LOOK_BACK = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What is to be compared: a version on a state of a suite, at a level.

    judges: models that judge its answers, sorted.
    """

    version: VersionName
    previous_version: VersionName | None
    suite_digest: Digest
    level: float
    judges: tuple[str, ...] = ()


def choose(earlier: Sequence[CompletedEvaluation], wanted: Comparison) -> Baseline | NoBaseline:
    """The newest usable result of the version before.

    A version whose evaluation was cancelled or faulted is passed over, unless the event names it
    as the version before.

    Args:
        earlier: results of the variant on the suite, newest first.
        wanted: the new version, and the version before where the event names it.
    """
    named = wanted.previous_version
    candidates = [
        each
        for each in earlier
        if (_version(each) == named if named else _version(each) != wanted.version)
    ]
    if not candidates:
        reason = NoBaselineReason.NOT_EVALUATED if named else NoBaselineReason.FIRST_VERSION
        return NoBaseline(reason=reason)
    usable = [(each, baseline) for each in candidates if (baseline := each.baseline()) is not None]
    if not usable:
        return NoBaseline(reason=NoBaselineReason.NO_ESTIMATE)
    newest, baseline = usable[0]
    if newest.data.statistics.subject.suite_digest != wanted.suite_digest:
        return NoBaseline(reason=NoBaselineReason.SUITE_CHANGED)
    if _judges(newest) != wanted.judges:
        return NoBaseline(reason=NoBaselineReason.JUDGES_CHANGED)
    if baseline.interval.level != wanted.level:
        return NoBaseline(reason=NoBaselineReason.OTHER_LEVEL)
    return baseline


def _judges(completed: CompletedEvaluation) -> tuple[str, ...]:
    return tuple(sorted(each.model for each in completed.data.judging.values()))


def _version(completed: CompletedEvaluation) -> VersionName:
    return completed.data.statistics.subject.version
