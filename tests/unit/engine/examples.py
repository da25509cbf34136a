"""Whole evaluations without a world around them: a pool of questions, its history, its answers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy import special

from monitor.domain.answers import Answer, Status, Usage
from monitor.domain.identifiers import (
    Digest,
    EvaluationId,
    ItemId,
    SuiteName,
    VariantName,
    VersionName,
    digest,
)
from monitor.domain.plans import Answered, Draw, Drawn, Row, Subject
from monitor.domain.policies import Budget, Method, Policy
from monitor.domain.results import (
    Baseline,
    Difference,
    Estimate,
    Interval,
    NoBaseline,
    NoBaselineReason,
)
from monitor.domain.suites import (
    Generation,
    GraderSpec,
    Item,
    Prompt,
    Suite,
    item_digest,
    suite_digest,
)
from monitor.engine import evaluations, planning
from monitor.stats import guides, signals, stratification
from monitor.stats.answers import History
from monitor.stats.arrays import FloatArray
from monitor.stats.replays import Figure
from monitor.stats.selection import Fit
from monitor.stats.signals import Signal

FIRST = NoBaseline(reason=NoBaselineReason.FIRST_VERSION)
POPULATION = 60
SUBJECT = Subject(
    evaluation_id=EvaluationId("e2"),
    variant=VariantName("chat"),
    version=VersionName("2"),
    suite=SuiteName("sums"),
    suite_digest=Digest("not looked at"),
    model="tiny",
    event_source="/registry",
    event_id="2",
    topic="model-versions",
    partition=0,
    offset=0,
)


def suite(population: int = POPULATION, name: str = "sums") -> Suite:
    """Questions "0", "1", ..., each of which has itself as its answer."""
    items = tuple(
        Item(
            id=ItemId(text),
            input=text,
            target=(text,),
            group="even" if number % 2 == 0 else None,
            digest=item_digest(input=text, target=[text]),
        )
        for number, text in enumerate(map(str, range(population)))
    )
    prompt, generation, grader = Prompt(), Generation(), GraderSpec(kind="exact")
    return Suite(
        name=SuiteName(name),
        items=items,
        prompt=prompt,
        generation=generation,
        grader=grader,
        digest=suite_digest(items=items, prompt=prompt, generation=generation, grader=grader),
    )


SUITE = suite()


def chances(rng: np.random.Generator, models: int, population: int) -> FloatArray:
    """(models, population) chances of a right answer, by an item-response model."""
    easiness = rng.normal(0.8, 1.5, population)
    return np.asarray(special.expit(rng.normal(0.0, 0.6, (models, 1)) + easiness))


def history(population: int = POPULATION, seed: int = 0) -> planning.History:
    """A guide that knows which questions are hard."""
    rng = np.random.default_rng(seed)
    outcomes = (rng.random((12, population)) < chances(rng, 12, population)).astype(np.float64)
    return learnt(guides.GUIDES["item_mean"].fit(History.from_matrix(outcomes)), digest(seed))


def learnt(
    guide: guides.Guide, history: Digest, *, ess_ratio: float | None = 1.5, **changes: object
) -> planning.History:
    """A guide with what its replays have shown of evaluations of 30 draws; None without any."""
    figure = Figure(n=30, ess_ratio=ess_ratio or 1.0, error=0.01, share_below=0.0, models=12)
    figures = () if ess_ratio is None else (figure,)
    usual = Fit(guide=guide, candidate="", profile=None, floor=0.1, figures=figures)
    return planning.History(fit=replace(usual, **changes), digest=history)  # type: ignore[arg-type]


HISTORY = history()


def scores(population: int = POPULATION, seed: int = 1) -> list[float]:
    """0/1 answers of one more model to the questions of `history`."""
    rng = np.random.default_rng(0)
    likely = chances(rng, 12, population)[0]
    right = np.random.default_rng(seed).random(population) < likely
    return [float(each) for each in right]


def surrogate(
    population: int = POPULATION, *, names: tuple[str, ...] = ("small",)
) -> planning.Surrogate:
    """What ten answers of one of the models of `history` to each question tell, right or wrong."""
    likely = chances(np.random.default_rng(0), 12, population)[1]
    rates = np.random.default_rng(2).binomial(10, likely) / 10
    signal = Signal.from_columns(
        entropy=special.entr(rates) + special.entr(1.0 - rates),
        consistency=np.maximum(rates, 1.0 - rates),
        single=(rates == 0.0) | (rates == 1.0),
        pass_rate=rates,
    )
    return planning.Surrogate(
        signal=signal,
        settings=stratification.Settings(),
        digest=Digest(signals.digest(signal)),
        names=names,
    )


SURROGATE = surrogate()


def request(**changes: object) -> planning.PlanRequest:
    usual = planning.PlanRequest(
        subject=SUBJECT,
        policy=Policy(budget=Budget(count=30)),
        suite=SUITE,
        history=HISTORY,
        baseline=FIRST,
        software="test",
    )
    return replace(usual, **changes)  # type: ignore[arg-type]


def begun(**changes: object) -> evaluations.Evaluation:
    """An evaluation with its plan and nothing more."""
    asked = request(**changes)
    plan, guide = planning.plan(asked)
    return evaluations.begin(plan, suite=asked.suite, guide=guide)


def simple_policy(count: int) -> Policy:
    return Policy(method=Method.SIMPLE, budget=Budget(count=count))


def published_policy(count: int) -> Policy:
    return Policy(method=Method.FAQ_PUBLISHED, budget=Budget(count=count))


def stratified_policy(count: int) -> Policy:
    return Policy(method=Method.NEYMAN, budget=Budget(count=count))


Reply = Callable[[Draw], float | None]


def replies(known: Sequence[float | None]) -> Reply:
    """Answers by item; None for one that never comes."""
    return lambda draw: known[draw.item]


def answer(draw: Draw, score: float | None) -> Answer:
    status = Status.TIMEOUT if score is None else Status.GRADED
    return Answer(step=draw.step, status=status, score=score, usage=Usage(prompt_tokens=9))


def steps(
    evaluation: evaluations.Evaluation, reply: Reply
) -> Iterator[tuple[Row, evaluations.Evaluation]]:
    """Rows of an evaluation with the state after each: all is drawn that can be, then asked."""
    while not evaluation.is_complete:
        while (drawn := evaluations.draw_round(evaluation)) is not None:
            row, evaluation = drawn
            yield row, evaluation
        out = evaluation.pending
        came = [draw for draw in out if draw.round == out[0].round]
        if came:
            answered = Answered(answers=tuple(answer(draw, reply(draw)) for draw in came))
            evaluation = evaluations.absorb(evaluation, answered)
            yield answered, evaluation


def complete(evaluation: evaluations.Evaluation, reply: Reply) -> evaluations.Evaluation:
    for _, after in steps(evaluation, reply):
        evaluation = after
    return evaluation


def in_order(evaluation: evaluations.Evaluation) -> tuple[Answer, ...]:
    return tuple(evaluation.answers[step] for step in sorted(evaluation.answers))


def drawn_rounds(rows: Sequence[Row]) -> list[Drawn]:
    return [row for row in rows if isinstance(row, Drawn)]


def interval(lower: float, upper: float, level: float = 0.95) -> Interval:
    return Interval(lower=lower, upper=upper, level=level, method="made up")


def estimate(lower: float, upper: float, value: float | None = None, **changes: object) -> Estimate:
    """An estimate whose interval already holds the worst case."""
    usual = Estimate(
        value=(lower + upper) / 2 if value is None else value,
        interval=interval(lower, upper),
        worst_case=interval(lower, upper),
        worst_lower_shift=0.0,
        worst_upper_shift=0.0,
        variance=None,
        quantile=None,
        degrees=None,
        ess_ratio=None,
    )
    return replace(usual, **changes)  # type: ignore[arg-type]


def baseline(value: float = 0.8, **changes: object) -> Baseline:
    usual = Baseline(
        evaluation_id=EvaluationId("e1"),
        version=VersionName("1"),
        value=value,
        interval=interval(value - 0.05, value + 0.05),
        worst_case=interval(value - 0.05, value + 0.05),
        worst_lower_shift=0.0,
        worst_upper_shift=0.0,
    )
    return replace(usual, **changes)  # type: ignore[arg-type]


def difference(lower: float, upper: float, value: float, **changes: object) -> Difference:
    usual = Difference(
        value=value,
        interval=interval(lower, upper),
        worst_case=interval(lower, upper),
        worst_lower_shift=0.0,
        worst_upper_shift=0.0,
        pairing="independent",
        previous_version=VersionName("1"),
        previous_evaluation_id=EvaluationId("e1"),
    )
    return replace(usual, **changes)  # type: ignore[arg-type]
