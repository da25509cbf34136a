import json
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from monitor.domain.answers import MISSING, Answer, Status, Usage
from monitor.domain.errors import InvalidPlan, StateCorrupt, StateTooNew
from monitor.domain.plans import Planned, Strata
from monitor.wire import journal, outcomes, tables
from monitor.wire.outcomes import Outcomes
from tests.unit.wire import examples

RECORD = examples.OUTCOMES
SMALL = outcomes.largest_size(RECORD.plan, steps=2)
PARTS = outcomes.encode(RECORD, limit=SMALL)


@given(examples.outcomes(), st.integers(1, 30))
def test_a_record_comes_back_in_parts_below_the_limit(record: Outcomes, steps: int) -> None:
    limit = outcomes.largest_size(record.plan, steps=steps)
    outcomes.check_size(record.plan, limit=limit)
    parts = outcomes.encode(record, limit=limit)
    assert max(map(len, parts)) <= limit
    assert len(parts) == -(-record.plan.draws // steps)
    assert outcomes.decode(parts) == record


def test_the_bound_holds_for_the_longest_answers() -> None:
    usage = Usage(attempts=2**63 - 1, prompt_tokens=2**62 + 1, completion_tokens=2**61 + 7)
    plan = replace(RECORD.plan, draws=len(Status), weights=(1 / 3,) * len(Status))
    draws = tuple(replace(examples.DRAWS[0], step=step) for step in range(plan.draws))
    answers = tuple(
        Answer(step=step, status=status, score=None if status in MISSING else 0.1)
        for step, status in enumerate(Status)
    )
    answers = tuple(replace(answer, usage=usage) for answer in answers)
    record = Outcomes(plan=plan, draws=draws, answers=answers, quantile=-1.2345678901234567e-300)
    (part,) = outcomes.encode(record, limit=10**6)
    assert len(part) <= outcomes.largest_size(plan)


def test_a_megabyte_holds_thousands_of_draws() -> None:
    plan = replace(RECORD.plan, draws=6_000, weights=(1 / 6_000,) * 6_000)
    assert outcomes.largest_size(plan) < 1_000_000


def test_strata_of_the_largest_suites_fit() -> None:
    """80,000 items in 2,000 strata, in the order that packs worst."""
    labels = tuple(label * 1_237 % 2_000 for label in range(80_000))
    draws, weights = 8_000, (1 / 8_000,) * 8_000
    plan = replace(
        examples.STRATIFIED_PLAN,
        draws=draws,
        weights=weights,
        strata=Strata(labels=labels, draws=(4,) * 2_000),
    )
    outcomes.check_size(plan, limit=900_000)
    row = Planned(plan=plan, at=examples.TIMES.started)
    assert len(journal.encode(row)) < 300_000


def test_the_strata_count_as_part_of_every_part() -> None:
    plan = examples.STRATIFIED_PLAN
    limit = outcomes.largest_size(plan, steps=2)
    assert limit > outcomes.largest_size(replace(plan, strata=None), steps=2)
    record = Outcomes(plan=plan, draws=examples.DRAWS, answers=(), quantile=2.0)
    parts = outcomes.encode(record, limit=limit)
    assert (len(parts), outcomes.decode(parts)) == (3, record)


def test_other_strata_than_those_of_the_digest_are_found() -> None:
    record = Outcomes(plan=examples.STRATIFIED_PLAN, draws=(), answers=(), quantile=None)
    (part,) = outcomes.encode(record, limit=900_000)
    table = json.loads(part)["strata"]
    moved = tables.from_strata(Strata(labels=(1, 0, 2, 0, 1, 2, 2, 0, 2), draws=(2, 1, 3)))
    assert moved is not None
    with pytest.raises(StateCorrupt, match="do not have the digest"):
        outcomes.decode([changed(part, strata=moved.document())])
    outcomes.decode([changed(part, strata=table)])


def test_a_plan_that_cannot_be_published_is_refused_beforehand() -> None:
    needed = outcomes.largest_size(RECORD.plan, steps=1)
    with pytest.raises(InvalidPlan, match=f"needs messages of {needed} bytes"):
        outcomes.check_size(RECORD.plan, limit=needed - 1)


def test_what_judges_were_asked_is_not_needed_to_replay() -> None:
    whole = examples.JUDGED_ANSWER.judged
    answers = tuple(replace(each, judged=whole) for each in RECORD.answers)
    assert outcomes.encode(replace(RECORD, answers=answers), limit=SMALL) == PARTS


def test_the_order_of_parts_does_not_matter() -> None:
    assert outcomes.decode(PARTS[::-1]) == RECORD


OTHER = outcomes.encode(replace(RECORD, quantile=None), limit=SMALL)
COARSER = outcomes.encode(RECORD, limit=outcomes.largest_size(RECORD.plan, steps=3))


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [
        ((), "there is no part"),
        (PARTS[:2], r"of 3 parts, these are missing: \[3\]"),
        (PARTS[1:], r"of 3 parts, these are missing: \[1\]"),
        ((*PARTS, PARTS[1]), "4 parts where 3 are announced"),
        ((*PARTS[:2], OTHER[2]), "parts of another record"),
        ((*PARTS[:2], COARSER[1]), "parts of another record"),
        ((*PARTS[:2], b"{}"), "version: Field required"),
    ],
)
def test_missing_repeated_and_foreign_parts_are_found(
    parts: tuple[bytes, ...], complaint: str
) -> None:
    with pytest.raises(StateCorrupt, match=f"outcomes record.*{complaint}"):
        outcomes.decode(parts)


def changed(value: bytes, **changes: object) -> bytes:
    return json.dumps(json.loads(value) | changes).encode()


def test_changed_contents_are_found() -> None:
    parts = tuple(changed(part, quantile=2.0) for part in PARTS)
    with pytest.raises(StateCorrupt, match="do not have the digest"):
        outcomes.decode(parts)


def test_parts_whose_numbers_were_exchanged_are_found() -> None:
    parts = (changed(PARTS[0], part=2), changed(PARTS[1], part=1), PARTS[2])
    with pytest.raises(StateCorrupt, match="not the first steps of the plan, in order"):
        outcomes.decode(parts)


def test_a_newer_record_is_refused() -> None:
    with pytest.raises(StateTooNew, match="outcomes record: written in format 2"):
        outcomes.decode([changed(PARTS[0], version=2)])


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"draws": examples.DRAWS[1:]}, "not the first steps"),
        ({"answers": examples.ANSWERS[::-1]}, "in order of their steps"),
        ({"answers": examples.ANSWERS[:1] * 2}, "one each"),
        ({"draws": examples.DRAWS[:3]}, "those of draws"),
        ({"plan": replace(RECORD.plan, weights=(1.0,))}, "1 weights for 6 planned draws"),
    ],
)
def test_a_record_that_contradicts_itself_is_not_written(
    changes: dict[str, object], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        outcomes.encode(replace(RECORD, **changes), limit=SMALL)  # type: ignore[arg-type]
