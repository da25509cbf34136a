"""An evaluation whose answers are known beforehand: for back-tests, forecasts and coverage tests.

It runs the very steps of a real one, lagged rounds included; only the asking is left out.
"""

from collections.abc import Sequence

from monitor.domain.answers import Answer, Status
from monitor.domain.plans import Answered, Plan
from monitor.domain.results import Findings
from monitor.domain.suites import Suite
from monitor.engine import concluding, evaluations
from monitor.stats import guides


def rehearse(
    plan: Plan, *, suite: Suite, guide: guides.Guide, scores: Sequence[float | None]
) -> Findings:
    """Findings of an evaluation on known outcomes.

    Args:
        plan: what to do.
        suite: the pool.
        guide: the guide that the plan names.
        scores: (N,) outcome of each item, None where no answer would come.
    """
    evaluation = evaluations.begin(plan, suite=suite, guide=guide)
    while (drawn := evaluations.draw_round(evaluation)) is not None:
        _, evaluation = drawn
        answers = tuple(_answer(draw.step, scores[draw.item]) for draw in evaluation.pending)
        evaluation = evaluations.absorb(evaluation, Answered(answers=answers))
    in_order = [evaluation.answers[draw.step] for draw in evaluation.draws]
    return concluding.conclude(plan, evaluation.draws, in_order)


def _answer(step: int, score: float | None) -> Answer:
    status = Status.SERVER_ERROR if score is None else Status.GRADED
    return Answer(step=step, status=status, score=score)
