import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from pydantic import BaseModel, TypeAdapter, ValidationError

from monitor.domain.plans import Plan
from monitor.domain.results import Interval
from monitor.wire import records
from tests.unit.wire import examples


class Moment(records.Record):
    at: records.Instant


class Bounds(records.Record):
    interval: Interval


@given(examples.plans())
def test_a_plan_comes_back_beside_what_stands_beside_it(plan: Plan) -> None:
    stored = records.from_plan(plan).to_bytes()
    record = records.read(
        TypeAdapter(records.PlanRecord), stored[:-1] + b',"version":1}', what="plan"
    )
    again = records.to_plan(record, subject=plan.subject, weights=plan.weights, strata=plan.strata)
    assert again == plan


def test_a_signal_that_was_not_used_is_not_written() -> None:
    """Records of before there was any must replay to the byte."""
    assert "signal_digest" not in records.from_plan(examples.PLAN).document()
    assert "signal_digest" in records.from_plan(examples.STRATIFIED_PLAN).document()


def test_the_usual_floor_is_not_written_and_another_is() -> None:
    """Records of before there was another must replay to the byte."""
    usual = records.from_plan(examples.PLAN).document()["inference"]
    inference = replace(examples.INFERENCE, floor=0.25)
    other = records.from_plan(replace(examples.PLAN, inference=inference)).document()["inference"]
    assert "floor" not in usual
    assert other == usual | {"floor": 0.25}


def test_times_are_written_in_utc() -> None:
    noon = datetime(2026, 11, 29, 12, tzinfo=timezone(timedelta(hours=2)))
    assert Moment(at=noon).to_bytes() == b'{"at":"2026-11-29T10:00:00Z"}'


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_times_that_utc_does_not_have_are_refused(at: str) -> None:
    with pytest.raises(ValidationError, match="must lie in the years 1 to 9999 of UTC"):
        Moment.model_validate_json(f'{{"at":"{at}"}}')


def test_times_without_an_offset_are_refused() -> None:
    with pytest.raises(ValidationError, match="timezone"):
        Moment(at=datetime(2026, 11, 29, tzinfo=UTC).replace(tzinfo=None))


def test_a_domain_value_cannot_smuggle_in_what_is_not_finite() -> None:
    interval = Interval(lower=0.0, upper=float("inf"), level=0.95, method="none")
    with pytest.raises(ValidationError, match="finite"):
        Bounds(interval=interval)


class Secret(records.Record):
    credential: int


def problems(model: type[BaseModel], value: bytes, **options: frozenset[str]) -> str:
    with pytest.raises(ValidationError) as caught:
        model.model_validate_json(value)
    return records.describe(caught.value, **options)


def test_a_description_names_the_field_and_not_the_value() -> None:
    found = problems(Secret, b'{"credential":"sk-1234"}')
    assert found.startswith("credential: Input should be a valid integer")
    assert "1234" not in found


class Shares(records.Record):
    by_name: dict[str, float]


def test_a_description_is_short_whatever_was_sent() -> None:
    sent = {"by_name": {str(number) * 900: "x" for number in range(9)}}
    found = problems(Shares, json.dumps(sent).encode())
    assert found.endswith("; and 4 more")
    assert len(found) < 5 * 2 * records.TEXT_SHOWN


def test_steps_that_are_no_fields_can_be_left_out() -> None:
    assert problems(Secret, b"{}", omit=frozenset({"credential"})) == "Field required"
