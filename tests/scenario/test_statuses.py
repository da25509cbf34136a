"""What becomes of each way of not answering, from the socket to the published result."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from monitor.domain.answers import MISSING, Status
from monitor.domain.results import NoEstimate, Outcome, Reason
from monitor.domain.suites import GraderSpec, Suite
from monitor.simulation import replies, suites
from monitor.simulation.knobs import Fault, Knobs, Trigger
from monitor.simulation.replies import Reply
from tests.scenario.single_runs import Seen, Setting, on, run

SUITE = suites.arithmetic_suite(60)
IDS = [str(item.id) for item in SUITE.items]
FEW = IDS[::10]
CONCURRENCY = 4

STATUSES = {
    Fault.CONTEXT_LENGTH: Status.CONTEXT_LENGTH,
    Fault.CONTENT_FILTER: Status.CONTENT_FILTER,
    Fault.REFUSAL: Status.REFUSAL,
    Fault.TRUNCATED: Status.TRUNCATED,
    Fault.NO_ANSWER: Status.NO_ANSWER,
    Fault.RATE_LIMIT: Status.RATE_LIMITED,
    Fault.SERVER_ERROR: Status.SERVER_ERROR,
    Fault.DISCONNECT: Status.CONNECT,
    Fault.MALFORMED: Status.MALFORMED,
    Fault.NO_CHOICES: Status.MALFORMED,
    Fault.EMPTY_CONTENT: Status.EMPTY_CONTENT,
    Fault.REASONING_ONLY: Status.EMPTY_CONTENT,
    Fault.HANG: Status.TIMEOUT,
}
REPEATED = [
    Fault.RATE_LIMIT,
    Fault.SERVER_ERROR,
    Fault.DISCONNECT,
    Fault.MALFORMED,
    Fault.NO_CHOICES,
]


def assert_counted(seen: Seen, status: Status, *, draws: int = 40) -> None:
    """The few items have this status, the others their grade, and the estimate says no more."""
    few = set(seen.asked) & set(FEW)
    missing = len(few) if status in MISSING else 0
    found = seen.findings
    assert few
    assert found.counts == {"graded": draws - len(few), str(status): len(few)}
    assert (found.answered, found.missing) == (draws - missing, missing)
    others = set(seen.asked) - few
    assert seen.estimate.value == pytest.approx(seen.share_right(others, of=draws - missing))


@pytest.mark.parametrize("fault", STATUSES)
async def test_each_fault_has_its_status_and_no_other_effect(fault: Fault, tmp_path: Path) -> None:
    knobs = on(FEW, fault, retry_after=None)
    limits = {"item_seconds": 2.0} if fault is Fault.HANG else {}
    seen = await run(Setting(suite=SUITE, knobs=knobs, limits=limits), tmp_path)
    assert_counted(seen, STATUSES[fault])
    assert seen.attempts == seen.requests == 40


async def test_a_hang_is_tried_again_while_its_item_has_time(tmp_path: Path) -> None:
    knobs, limits = on(FEW, Fault.HANG), {"item_seconds": 2.5, "attempt_seconds": 1.0}
    policy = {"attempt_margin": 1.0}
    seen = await run(Setting(suite=SUITE, knobs=knobs, limits=limits, policy=policy), tmp_path)
    assert_counted(seen, Status.TIMEOUT)
    assert 1 < max(seen.asked.values()) <= 3


@pytest.mark.parametrize("fault", REPEATED)
async def test_what_passes_is_asked_again(fault: Fault, tmp_path: Path) -> None:
    knobs = on(FEW, fault, first=1, retry_after=None)
    policy = {"attempt_margin": 0.2}
    seen = await run(Setting(suite=SUITE, knobs=knobs, policy=policy), tmp_path)
    assert seen.findings.counts == {"graded": 40}
    assert {item for item, count in seen.asked.items() if count == 2} == set(seen.asked) & set(FEW)
    assert 40 < seen.attempts == seen.requests <= seen.allowed == 48


async def test_the_allowance_is_never_exceeded(tmp_path: Path) -> None:
    knobs = Knobs(faults={Fault.SERVER_ERROR: Trigger(first=1)})
    seen = await run(Setting(suite=SUITE, knobs=knobs, policy={"attempt_margin": 0.1}), tmp_path)
    assert seen.findings.counts == {"graded": 4, "server_error": 36}
    assert seen.attempts == seen.requests == seen.allowed == 44


async def test_the_endpoint_is_given_the_time_that_it_asks_for(tmp_path: Path) -> None:
    knobs = on(IDS, Fault.RATE_LIMIT, first=1, retry_after=1.5)
    setting = Setting(
        suite=SUITE,
        budget=1,
        knobs=knobs,
        policy={"attempt_margin": 1.0, "objective": {"kind": "estimate"}},
    )
    seen = await run(setting, tmp_path)
    assert seen.findings.counts == {"graded": 1}
    # Its own wait would be one second at most.
    assert seen.completed.data.times.seconds >= 1.5


def cut_off(_: int, reply: Reply) -> Reply:
    body = reply.body.replace(b'"finish_reason": "stop"', b'"finish_reason": "length"')
    return dataclasses.replace(reply, body=body)


async def test_an_answer_before_the_cut_counts(tmp_path: Path) -> None:
    seen = await run(Setting(suite=SUITE, replying=cut_off), tmp_path)
    assert seen.findings.counts == {"graded": 40}
    assert seen.estimate.value == pytest.approx(seen.share_right(seen.asked, of=40))


def with_endless_grader(suite: Suite) -> Suite:
    """The few items are graded by a pattern that does not come to an end on what they are told."""
    endless = GraderSpec(kind="regex", options={"pattern": r"(\d+)$|(\w+\s?)+!$", "group": 1})
    items = tuple(
        dataclasses.replace(item, grader=endless) if item.id in FEW else item
        for item in suite.items
    )
    return dataclasses.replace(suite, items=items)


def babble(_: int, reply: Reply) -> Reply:
    said = b'"content": "'
    return dataclasses.replace(reply, body=reply.body.replace(said, said + b"word " * 40))


async def test_a_grader_that_does_not_end_charges_nobody(tmp_path: Path) -> None:
    setting = Setting(
        suite=with_endless_grader(SUITE), replying=babble, limits={"grader_seconds": 0.2}
    )
    assert_counted(await run(setting, tmp_path), Status.GRADER)


def refusing(status: int, code: str, *, after: int) -> Callable[[int, Reply], Reply]:
    """Answers as it should until it has answered so many, then with an error each time."""
    refusal = replies.error(status, "No.", code=code)
    return lambda number, reply: reply if number < after else refusal


@pytest.mark.parametrize("after", [0, 10])
@pytest.mark.parametrize(
    ("status", "code", "cause"),
    [
        (401, "invalid_api_key", "unauthorized"),
        (403, "forbidden", "forbidden"),
        (404, "not_found", "not_found"),
        (400, "model_not_found", "unknown_model"),
        (429, "insufficient_quota", "quota_exhausted"),
    ],
)
async def test_nothing_more_is_bought_once_the_endpoint_turns_away(
    status: int, code: str, cause: str, after: int, tmp_path: Path
) -> None:
    replying = refusing(status, code, after=after)
    seen = await run(Setting(suite=SUITE, replying=replying), tmp_path)
    assert seen.verdict == (Outcome.FAULTED, Reason.ENDPOINT_FAULT)
    assert f"({cause}): HTTP {status}" in seen.findings.verdict.sentence
    assert isinstance(seen.findings.estimate, NoEstimate)
    # What was in flight beside the first refusal is all that came after it.
    assert after < seen.requests <= after + CONCURRENCY


@pytest.mark.parametrize("status", [400, 422])
async def test_three_items_rejected_alike_are_enough(status: int, tmp_path: Path) -> None:
    replying = refusing(status, "unsupported_parameter", after=0)
    setting = Setting(suite=SUITE, replying=replying, limits={"concurrency": 1})
    seen = await run(setting, tmp_path)
    assert seen.verdict == (Outcome.FAULTED, Reason.ENDPOINT_FAULT)
    assert seen.requests == 3


async def test_a_later_rejection_is_the_affair_of_its_item(tmp_path: Path) -> None:
    replying = refusing(400, "unsupported_parameter", after=30)
    seen = await run(Setting(suite=SUITE, replying=replying), tmp_path)
    assert seen.findings.counts == {"graded": 30, "rejected": 10}


@pytest.mark.parametrize(
    ("setting", "cause"),
    [
        ({"api_key": "sk-somebody-else"}, "unauthorized"),
        ({"model": "v9"}, "unknown_model"),
        ({"down": True}, "unreachable"),
    ],
    ids=["key", "model", "down"],
)
async def test_an_endpoint_that_never_opens_is_asked_nothing(
    setting: dict[str, Any], cause: str, tmp_path: Path
) -> None:
    seen = await run(Setting(suite=SUITE, **setting), tmp_path)
    assert seen.verdict == (Outcome.FAULTED, Reason.ENDPOINT_FAULT)
    assert f"({cause})" in seen.findings.verdict.sentence
    assert seen.requests == seen.attempts == 0


async def test_no_answer_at_all_is_a_fault_and_no_zero(tmp_path: Path) -> None:
    knobs = Knobs(faults={Fault.SERVER_ERROR: Trigger()})
    seen = await run(Setting(suite=SUITE, knobs=knobs), tmp_path)
    assert seen.verdict == (Outcome.FAULTED, Reason.NO_ANSWERS)
    assert isinstance(seen.findings.estimate, NoEstimate)
    assert seen.findings.counts == {"server_error": 40}


LARGE = suites.arithmetic_suite(1000)
EASY = {"objective": {"kind": "at_least", "threshold": 0.5}}


async def run_with_failures(every: int, folder: Path, *, history: bool) -> Seen:
    """An endpoint that fails on one item in so many, right and wrong ones alike."""
    items = [str(item.id) for item in LARGE.items[::every]]
    knobs = on(items, Fault.SERVER_ERROR)
    setting = Setting(suite=LARGE, budget=300, knobs=knobs, policy=EASY, history=history)
    return await run(setting, folder)


@pytest.mark.parametrize("history", [False, True])
async def test_missing_answers_are_not_wrong_ones(history: bool, tmp_path: Path) -> None:  # noqa: FBT001
    seen = await run_with_failures(10, tmp_path, history=history)
    found, truth = seen.estimate, seen.share_right(seen.right, of=1000)
    assert found.interval.lower < truth < found.interval.upper
    # Taken for wrong they would have pulled it down by eight points.
    assert abs(found.value - truth) < 0.04
    assert found.worst_lower_shift < -0.05 < 0 < found.worst_upper_shift
    assert found.worst_case.lower < found.interval.lower
    assert found.worst_case.upper > found.interval.upper
    assert seen.verdict == (Outcome.INCONCLUSIVE, Reason.TOO_MANY_MISSING)


@pytest.mark.parametrize("history", [False, True])
async def test_a_few_missing_answers_leave_the_verdict(history: bool, tmp_path: Path) -> None:  # noqa: FBT001
    seen = await run_with_failures(40, tmp_path, history=history)
    assert 0 < seen.findings.missing <= 0.05 * 300
    assert seen.verdict == (Outcome.MET, Reason.ABOVE_THRESHOLD)
