"""One evaluation as a fold: a plan, then rows in the order of its journal.

Draws are made in lagged rounds: round k is drawn from the answers of rounds up to k-2, while
round k-1 is in flight. So the endpoint stays busy, and draws depend on seed and answers alone,
never on timing, a crash, or who ran the evaluation.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate
from types import MappingProxyType
from typing import assert_never

from monitor.domain.answers import Answer, Usage
from monitor.domain.errors import StateCorrupt
from monitor.domain.identifiers import digest
from monitor.domain.plans import Answered, Draw, Drawn, Ended, Plan, Planned, Resumed, Row
from monitor.domain.suites import Suite
from monitor.engine import repeats, strata
from monitor.stats import answers, designs, draws, guides, sampling

LAG = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """State of an evaluation: a function of its suite, its guide and its rows.

    groups: (N,) label of each item's group.
    answers: by step of the draw; an item drawn again has the answer of its first draw, at no cost.
    maybe_repeated: questions that were in flight when an owner died.
    """

    plan: Plan
    suite: Suite
    groups: tuple[int, ...]
    guide: guides.Guide
    pool: sampling.Pool
    draws: tuple[Draw, ...] = ()
    answers: Mapping[int, Answer] = field(default_factory=lambda: MappingProxyType({}))
    maybe_repeated: int = 0
    ended: Ended | None = None

    @property
    def pending(self) -> tuple[Draw, ...]:
        """Questions whose answer is still out, in order; an item drawn again is not asked again."""
        questions = repeats.first_draws(self.draws)
        return tuple(draw for draw in questions if draw.step not in self.answers)

    @property
    def is_complete(self) -> bool:
        """Whether every draw of the plan is made and answered."""
        return len(self.answers) == self.plan.draws

    @property
    def usage(self) -> Usage:
        """Everything known to have been used so far."""
        return sum((answer.usage for answer in self.answers.values()), Usage(attempts=0))

    @property
    def retries(self) -> int:
        """Attempts beyond the first of each answer."""
        return sum(max(0, answer.usage.attempts - 1) for answer in self.answers.values())


def begin(plan: Plan, *, suite: Suite, guide: guides.Guide) -> Evaluation:
    """The evaluation before its first draw."""
    pool = sampling.open_pool(suite.clock_bits(plan.clock_seed))
    # The labels of a large suite take longer than a round does.
    return Evaluation(plan=plan, suite=suite, groups=suite.group_labels, guide=guide, pool=pool)


def draw_round(evaluation: Evaluation) -> tuple[Drawn, Evaluation] | None:
    """Draw the next round; None while the answers it depends on are out, and when all are drawn.

    Returns:
        The row to be stored before any of its questions goes out, and the evaluation after it.
    """
    number = _rounds_drawn(evaluation)
    sizes = evaluation.plan.round_sizes
    if number == len(sizes) or not _answered_before(evaluation, number - LAG + 1):
        return None
    columns, pool = _design(evaluation).draw(
        evaluation.pool, _view(evaluation, number), size=sizes[number]
    )
    first = len(evaluation.draws)
    row = Drawn(
        draws=tuple(_draw(first + index, number, draw) for index, draw in enumerate(columns.rows()))
    )
    return row, _settled(replace(evaluation, pool=pool, draws=evaluation.draws + row.draws))


def absorb(evaluation: Evaluation, row: Row) -> Evaluation:
    """The evaluation after one more row of its journal.

    Raises:
        StateCorrupt: the row cannot follow those before it.
    """
    if evaluation.ended is not None:
        raise StateCorrupt(f"{_name(evaluation)}: a row in the journal after it has ended")
    match row:
        case Planned():
            raise StateCorrupt(f"{_name(evaluation)}: a second plan in the journal")
        case Drawn():
            return _absorb_drawn(evaluation, row)
        case Answered():
            return _absorb_answered(evaluation, row)
        case Resumed():
            return replace(evaluation, maybe_repeated=evaluation.maybe_repeated + row.pending)
        case Ended():
            return replace(evaluation, ended=row)
        case _:
            assert_never(row)


def fold(evaluation: Evaluation, rows: Iterable[Row]) -> Evaluation:
    """The evaluation after all of `rows`.

    Where its guide is no longer the plan's (its history has changed since), what is left of the
    clocks cannot be known: fresh ones are exponential as well, so the draws stay valid.
    """
    for row in rows:
        evaluation = absorb(evaluation, row)
    plan = evaluation.plan
    if not evaluation.draws or guides.digest(evaluation.guide) == plan.inference.guide_digest:
        return evaluation
    seed = digest(["renewed", plan.clock_seed, len(evaluation.draws)])
    pool = sampling.renew(evaluation.pool, evaluation.suite.clock_bits(seed))
    return replace(evaluation, pool=pool)


def _absorb_drawn(evaluation: Evaluation, row: Drawn) -> Evaluation:
    number = _rounds_drawn(evaluation)
    _check_round(evaluation, row, number)
    pool = _design(evaluation).advance(
        evaluation.pool,
        _view(evaluation, number),
        items=[draw.item for draw in row.draws],
    )
    return _settled(replace(evaluation, pool=pool, draws=evaluation.draws + row.draws))


def _check_round(evaluation: Evaluation, row: Drawn, number: int) -> None:
    name, first = f"{_name(evaluation)}: round {number}", len(evaluation.draws)
    last = first + sum(evaluation.plan.round_sizes[number : number + 1])
    places = [(draw.step, draw.round) for draw in row.draws]
    if not places or places != [(step, number) for step in range(first, last)]:
        raise StateCorrupt(f"{name} does not follow draw {first}")
    if not _answered_before(evaluation, number - LAG + 1):
        raise StateCorrupt(f"{name} stands before answers that it depends on")
    items = [draw.item for draw in (*evaluation.draws, *row.draws)]
    if not set(items) <= set(range(evaluation.plan.population)):
        raise StateCorrupt(f"{name} draws what is no item of the suite")
    if len(set(items)) != len(items) and not _design(evaluation).repeats:
        raise StateCorrupt(f"{name} draws an item twice")
    planned = evaluation.plan.strata
    if planned is not None and strata.is_exceeded(planned, items):
        raise StateCorrupt(f"{name} draws more of a stratum than was planned")


def _absorb_answered(evaluation: Evaluation, row: Answered) -> Evaluation:
    known = dict(evaluation.answers)
    for answer in row.answers:
        if answer.step in known or not _is_asked(evaluation, answer.step):
            raise StateCorrupt(
                f"{_name(evaluation)}: answer to draw {answer.step}, which is not waiting for one"
            )
        known[answer.step] = answer
    return _settled(replace(evaluation, answers=MappingProxyType(known)))


def _is_asked(evaluation: Evaluation, step: int) -> bool:
    """Whether this draw has been made and is not the repeat of another."""
    if step not in range(len(evaluation.draws)):
        return False
    return not (_design(evaluation).repeats and repeats.is_repeat(evaluation.draws, step))


def _settled(evaluation: Evaluation) -> Evaluation:
    """With an answer to every draw of an item that has one."""
    if not _design(evaluation).repeats:
        return evaluation
    known = repeats.settle(evaluation.draws, evaluation.answers)
    return replace(evaluation, answers=MappingProxyType(known))


def _rounds_drawn(evaluation: Evaluation) -> int:
    return evaluation.draws[-1].round + 1 if evaluation.draws else 0


def _answered_before(evaluation: Evaluation, rounds: int) -> bool:
    """Whether every draw of the first `rounds` rounds has its answer."""
    ends = (0, *accumulate(evaluation.plan.round_sizes))
    return all(step in evaluation.answers for step in range(ends[max(0, rounds)]))


def _view(evaluation: Evaluation, number: int) -> draws.ItemView:
    """What round `number` may know: answers of rounds up to `number` - LAG, and no later one."""
    usable = [
        (draw.item, score)
        for draw in evaluation.draws
        if draw.round <= number - LAG and (score := evaluation.answers[draw.step].score) is not None
    ]
    learnt = answers.Answers.from_columns(
        items=[item for item, _ in usable], scores=[score for _, score in usable]
    )
    return draws.ItemView.from_columns(
        evaluation.guide.predict(learnt),
        evaluation.groups,
        dispersion=evaluation.plan.inference.dispersion,
        floor=evaluation.plan.inference.floor,
        layout=strata.restore(evaluation.plan),
    )


def _design(evaluation: Evaluation) -> designs.Design:
    return designs.DESIGNS[evaluation.plan.inference.design]


def _draw(step: int, number: int, row: draws.DrawRow) -> Draw:
    return Draw(
        step=step,
        round=number,
        item=row.item,
        probability=row.probability,
        prediction=row.prediction,
        rest_prediction_sum=row.rest_prediction_sum,
        model_variance=row.model_variance,
        group_mass=row.group_mass,
        group_rest_prediction_sum=row.group_rest_prediction_sum,
        group_model_variance=row.group_model_variance,
    )


def _name(evaluation: Evaluation) -> str:
    return f"evaluation {evaluation.plan.subject.evaluation_id}"
