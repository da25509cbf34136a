from dataclasses import dataclass, field, replace

import pytest

from monitor.domain.answers import ChatRequest, Completed, Exchange, Refused, Status
from monitor.domain.policies import AtLeast, Budget, Policy
from monitor.domain.results import Outcome, Purpose, Reason
from monitor.engine import evaluations
from monitor.service import judging, questions
from monitor.service.questions import Questions
from tests.unit.engine.examples import SUITE, begun
from tests.unit.service.fakes import MemoryBus
from tests.unit.service.judges import RATED, JudgeEndpoint, is_right, judged_world
from tests.unit.service.worlds import wanted, world


@dataclass
class Recording:
    """Implements `ports.Endpoint`: answers everything alike, and keeps what it was asked."""

    requests: list[ChatRequest] = field(default_factory=list)

    async def ask(self, request: ChatRequest, *, seconds: float) -> Exchange:  # noqa: ARG002 - of the port
        self.requests.append(request)
        return Completed(content="0", finish_reason="stop")

    async def models(self, *, seconds: float) -> tuple[str, ...]:  # noqa: ARG002 - of the port
        return ("tiny",)


async def confirm() -> None:
    """Nobody else asks."""


async def test_an_item_is_asked_in_its_own_way() -> None:
    items = [replace(item, generation={"max_tokens": 1 + n}) for n, item in enumerate(SUITE.items)]
    evaluation = begun(suite=replace(SUITE, items=tuple(items)))
    seen, endpoint = world(), Recording()
    asked = Questions(
        evaluation,
        seen.surroundings(MemoryBus(seen.store)).tools,
        target=replace(seen.catalog.endpoint, endpoint=endpoint),
        judges=(),
        confirm=confirm,
        confirm_judge=confirm,
    )
    drawn = evaluations.draw_round(evaluation)
    assert drawn is not None
    for draw in drawn[0].draws:
        await asked.answer(draw)
    limits = [request.generation.max_tokens for request in endpoint.requests]
    assert limits == [1 + draw.item for draw in drawn[0].draws]


async def test_judges_have_retries_of_their_own() -> None:
    failures = [Refused(http_status=503, message="busy")] * 2
    seen = judged_world(lambda shown: failures.pop() if failures else is_right(shown), RATED)
    seen.submit(wanted("1", "sums"))
    await seen.serve()
    data = seen.published[0].data
    assert data.statistics.counts == {Status.GRADED: 20}
    assert data.spend.others[Purpose.JUDGE].attempts == 22


@pytest.mark.parametrize(
    ("failures", "outcome", "asked"),
    [
        (questions.FAILED_GRADINGS - 1, Outcome.INCONCLUSIVE, 20),
        (100, Outcome.FAULTED, questions.FAILED_GRADINGS),
    ],
)
async def test_a_grader_that_always_fails_buys_no_more(
    failures: int, outcome: Outcome, asked: int
) -> None:
    seen = world(policy=Policy(budget=Budget(count=20), objective=AtLeast(threshold=0.5)))
    seen.catalog.endpoint = replace(seen.catalog.endpoint, concurrency=1)
    seen.graders.failures = failures
    seen.submit(wanted("1"))
    await seen.serve()
    verdict = seen.published[0].data.statistics.verdict
    assert verdict.outcome is outcome
    assert (verdict.reason is Reason.GRADER_FAULT) == (outcome is Outcome.FAULTED)
    assert len(seen.endpoint.asked) == asked


async def test_a_judge_that_was_of_use_before_a_crash_may_fail_on_answers_after_it() -> None:
    seen = judged_world(is_right, RATED)
    seen.submit(wanted("1", "sums"))
    process = seen.process()
    process.start()
    await process.run(until=6.0)
    await process.kill()
    (judge,) = seen.catalog.panel
    assert isinstance(judge.target.endpoint, JudgeEndpoint)
    judge.target.endpoint.decide = lambda _: "?"
    await seen.serve()
    counts = seen.published[0].data.statistics.counts
    assert counts[Status.GRADER] > judging.NEVER_OF_USE
    assert counts[Status.GRADED] + counts[Status.GRADER] == 20
