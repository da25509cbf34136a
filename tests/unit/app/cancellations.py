"""An archive in memory, of evaluations that ended before they had a plan."""

from collections.abc import Sequence
from datetime import UTC, datetime

from monitor.domain.identifiers import Digest, EvaluationId, SuiteName, VariantName, VersionName
from monitor.domain.plans import Subject
from monitor.domain.results import NoEstimateReason, Outcome, Reason, Spend, Verdict
from monitor.engine import concluding
from monitor.ports import Published
from monitor.wire import results

AT = datetime(2026, 1, 1, tzinfo=UTC)
SPEND = Spend(attempts=0, maybe_repeated=0, prompt_tokens=0, completion_tokens=0, cost=None)


def result(name: str, variant: str, outcome: Outcome) -> Published:
    """A result with a verdict, of a version that is called as the evaluation."""
    subject = Subject(
        evaluation_id=EvaluationId(name),
        variant=VariantName(variant),
        version=VersionName(name),
        suite=SuiteName("arithmetic"),
        suite_digest=Digest("0" * 64),
        model="model",
        event_source="/test",
        event_id=name,
        topic="model-versions",
        partition=0,
        offset=0,
        labels={},
    )
    verdict = Verdict(outcome=outcome, reason=Reason.WITHDRAWN, sentence="It was so.")
    findings = concluding.stop(verdict, reason=NoEstimateReason.NOT_STARTED)
    statistics = results.unplanned_statistics_bytes(subject, findings, software="test")
    times = results.Times(started=AT, ended=AT, seconds=0.0)
    value = results.encode(statistics, spend=SPEND, times=times, source="/test")
    return Published(evaluation_id=subject.evaluation_id, result=value, outcomes=())


class FakeArchive:
    """The `Archive` port over a list, oldest first."""

    def __init__(self, stored: Sequence[Published]) -> None:
        self._stored = [(each, results.decode(each.result)) for each in stored]

    async def find(self, evaluation_id: EvaluationId) -> Published | None:
        found = (each for each, _ in self._stored if each.evaluation_id == evaluation_id)
        return next(found, None)

    async def recent(
        self, variant: VariantName, suite: SuiteName, *, limit: int
    ) -> Sequence[Published]:
        wanted = f"{variant}/{suite}"
        found = [each for each, completed in reversed(self._stored) if completed.subject == wanted]
        return found[:limit]

    async def newest(self) -> Sequence[Published]:
        newest = {completed.subject: each for each, completed in self._stored}
        return list(newest.values())
