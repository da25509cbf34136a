"""Answers judged over HTTP: by judges that favour the first answer, that fail, that are gone."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from monitor.adapters.suite_files import write_suite
from monitor.app.single import evaluate_once
from monitor.domain.answers import Status
from monitor.domain.errors import SuiteError
from monitor.domain.events import EvaluationWanted, EventIdentity
from monitor.domain.identifiers import EndpointName, VariantName, VersionName
from monitor.domain.results import Estimate, Outcome, Purpose, Reason
from monitor.domain.suites import GraderSpec
from monitor.settings import Settings
from monitor.simulation import answers, serving, suites
from monitor.simulation.judges import JudgeSimulation
from monitor.simulation.knobs import Fault, Knobs, Trigger
from monitor.simulation.server import Simulation
from monitor.wire import results

POOL = suites.arithmetic_suite(200, seed=3)
TARGETS = {target for item in POOL.items for target in item.target}
RATING: Mapping[str, Any] = {"mode": "rating", "scale": [1, 5]}
PAIRWISE: Mapping[str, Any] = {"mode": "pairwise"}
BIAS = 0.4
PRICE = {"input_per_million": 1000.0, "output_per_million": 2000.0}


def quality(answer: str) -> float:
    """An answer that says why is better than the reference, which is better than none."""
    return 0.5 if answer in TARGETS else float(answer.endswith("this is why."))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An evaluation of a pool's every item, with a share of right answers, by one judge."""

    options: Mapping[str, Any]
    judge: JudgeSimulation
    accuracy: float = 0.5
    items: int = len(POOL.items)
    judges: tuple[str, ...] = ("strict",)


async def evaluate(case: Case, folder: Path, *, judged: str | None = None) -> results.Completion:
    """Run it; `judged` is where the judge is said to be, if not where it is."""
    grader = GraderSpec(kind="judge", options=case.options)
    suite = replace(POOL, items=POOL.items[: case.items], grader=grader)
    write_suite(suite, folder / "suite")
    items = [str(item.id) for item in suite.items]
    model = answers.SimulatedModel(name="v1", accuracy=case.accuracy)
    target = Simulation(suite, answers.item_response_book([model], items=items))
    async with (
        serving.serving_async(target) as base_url,
        serving.serving_async(case.judge) as judge_url,
    ):
        settings = settings_of(case, folder, base_url, judged or judge_url)
        published = await evaluate_once(settings, WANTED)
    return results.decode(published.result).data


WANTED = EvaluationWanted(
    identity=EventIdentity(
        source="/registry", id="e", time=dt.datetime(2026, 11, 29, tzinfo=dt.UTC)
    ),
    variant=VariantName("support-chat"),
    version=VersionName("1"),
    endpoint=EndpointName("v1"),
    suites=(POOL.name,),
)


def settings_of(case: Case, folder: Path, base_url: str, judge_url: str) -> Settings:
    return Settings.model_validate(
        {
            "suites": [{"path": folder / "suite", "judges": case.judges}],
            "endpoints": {
                "v1": {"base_url": base_url, "model": "v1"},
                "strict": {"base_url": judge_url, "model": "judge", "price": PRICE},
            },
            "state": {"directory": folder / "state"},
            "policies": [{"budget": case.items, "missing_limit": 0.9, "attempt_margin": 0.0}],
            "limits": {"max_event_age_hours": 800_000},
            "http": {"port": None},
        }
    )


def value(found: results.Completion) -> float:
    estimate = found.statistics.estimate
    assert isinstance(estimate, Estimate)
    return estimate.value


async def test_both_orders_cancel_what_a_judge_gives_to_the_first_answer(tmp_path: Path) -> None:
    judge = JudgeSimulation(quality=quality, position_bias=BIAS)
    found = await evaluate(Case(options=PAIRWISE, judge=judge), tmp_path)
    figures = found.judging["strict"]
    assert (figures.calls, figures.comparisons) == (400, 200)
    # Every item is drawn, so all that is left to chance is whom the bias meets: at most four
    # standard deviations of half the difference of two binomial counts of a hundred items each.
    assert abs(value(found) - 0.5) < 4 * (200 * BIAS * (1 - BIAS)) ** 0.5 / 400
    first = [each for each in judge.rulings if each.answers[0] not in TARGETS]
    one_order = sum(each.says == "Verdict: A" for each in first) / 200
    assert one_order > 0.5 + BIAS / 4
    # A pair turns where the bias meets the order in which it is against the truth.
    assert abs(figures.flips / 200 - BIAS) < 4 * (BIAS * (1 - BIAS) / 200) ** 0.5


async def test_a_judge_that_only_goes_by_the_position_decides_nothing(tmp_path: Path) -> None:
    judge = JudgeSimulation(quality=quality, position_bias=1.0)
    found = await evaluate(Case(options=PAIRWISE, judge=judge, items=20), tmp_path)
    assert value(found) == 0.5
    assert found.judging["strict"].flips == 20


async def test_ratings_are_the_quality_of_the_answers(tmp_path: Path) -> None:
    found = await evaluate(
        Case(options=RATING, judge=JudgeSimulation(quality=quality), accuracy=0.75, items=40),
        tmp_path,
    )
    assert value(found) == 0.75
    line = found.spend.others[Purpose.JUDGE]
    assert (found.spend.attempts, line.attempts, found.spend.cost) == (40, 40, None)
    assert line.cost is not None
    assert line.cost.amount == (line.prompt_tokens + 2 * line.completion_tokens) / 1000


FAULTS = [
    Fault.SERVER_ERROR,
    Fault.MALFORMED,
    Fault.EMPTY_CONTENT,
    Fault.REFUSAL,
    Fault.TRUNCATED,
    Fault.NO_ANSWER,
    Fault.DISCONNECT,
    Fault.CONTENT_FILTER,
]


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_judge_that_fails_leaves_answers_missing_and_none_wrong(
    fault: Fault, tmp_path: Path
) -> None:
    knobs = Knobs(faults={fault: Trigger(share=0.5)}, seed=5)
    judge = JudgeSimulation(quality=quality, knobs=knobs)
    found = await evaluate(Case(options=RATING, judge=judge, accuracy=1.0, items=30), tmp_path)
    assert found.statistics.counts.keys() == {Status.GRADED, Status.GRADER}
    assert found.statistics.missing == found.statistics.counts[Status.GRADER]
    assert value(found) == 1.0
    assert found.judging["strict"].calls >= found.spend.others[Purpose.JUDGE].attempts >= 30


@pytest.mark.parametrize("fault", [Fault.QUOTA, Fault.SERVER_ERROR, Fault.NO_ANSWER])
async def test_a_judge_that_never_judges_ends_the_evaluation(fault: Fault, tmp_path: Path) -> None:
    judge = JudgeSimulation(quality=quality, knobs=Knobs(faults={fault: Trigger()}))
    found = await evaluate(Case(options=RATING, judge=judge), tmp_path)
    verdict = found.statistics.verdict
    assert (verdict.outcome, verdict.reason) == (Outcome.FAULTED, Reason.JUDGE_FAULT)
    assert "The judge strict fails" in verdict.sentence
    assert found.spend.attempts < 40


async def test_a_judge_that_is_not_there_ends_the_evaluation(tmp_path: Path) -> None:
    case = Case(options=RATING, judge=JudgeSimulation(quality=quality))
    found = await evaluate(case, tmp_path, judged="http://127.0.0.1:1/v1")
    assert found.statistics.verdict.reason is Reason.JUDGE_FAULT
    assert found.spend.attempts < 40


async def test_nothing_is_asked_without_judges(tmp_path: Path) -> None:
    case = Case(options=RATING, judge=JudgeSimulation(quality=quality), judges=())
    with pytest.raises(SuiteError, match="wants 1 judge, but the configuration names 0"):
        await evaluate(case, tmp_path)
