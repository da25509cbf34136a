from dataclasses import replace
from datetime import timedelta

import pytest

from monitor.domain.answers import Answer, Judged, Status, Usage
from monitor.domain.errors import DeadLetterReason, InvalidEvent
from monitor.domain.identifiers import EndpointName
from monitor.domain.plans import Answered, Drawn, Ended, Planned, Resumed, Row
from monitor.domain.results import (
    Findings,
    Money,
    NoEstimate,
    NoEstimateReason,
    Price,
    Purpose,
)
from monitor.ports import Commit, Entry, Message, Record
from monitor.service import publishing
from monitor.service.catalog import Judge
from monitor.service.publishing import Publication
from monitor.settings import TopicSettings
from monitor.wire import journal as wire, outcomes, results
from tests.unit.service.test_journals import ROWS, kept
from tests.unit.service.worlds import world
from tests.unit.wire.examples import (
    ANSWERS,
    CANCELLED,
    DRAWS,
    ESTIMATE,
    EVALUATION,
    FINDINGS,
    PLAN,
    SPEND,
    SUBJECT,
    TIMES,
)

TOPICS = TopicSettings()
SIXTH = Answer(step=5, status=Status.GRADED, score=1.0)
COMPLETE: list[Row] = [*ROWS, Answered(answers=(ANSWERS[1], ANSWERS[3], SIXTH))]


def publish(
    rows: list[Row], findings: Findings = FINDINGS, *, record_limit: int = 900_000
) -> Commit:
    publication = Publication(
        subject=SUBJECT,
        journal=kept(*rows),
        findings=findings,
        spend=SPEND,
        times=TIMES,
        software="test",
    )
    return publishing.publish(
        publication, topics=TOPICS, source="/monitor", record_limit=record_limit
    )


def test_a_complete_evaluation_publishes_its_result_and_its_record() -> None:
    commit = publish(COMPLETE)
    assert [message.topic for message in commit.messages] == [TOPICS.evaluations, TOPICS.outcomes]
    assert [message.key for message in commit.messages] == [
        b"support-chat/arithmetic",
        EVALUATION.encode(),
    ]
    assert commit.partition == SUBJECT.partition
    assert commit.settled is None


def test_the_result_can_be_read_back() -> None:
    completed = results.decode(publish(COMPLETE).messages[0].value)
    assert completed.findings() == FINDINGS
    assert (completed.source, completed.id) == ("/monitor", EVALUATION)
    assert (completed.data.spend, completed.data.times) == (
        SPEND,
        results.Times.model_validate(TIMES),
    )


def test_every_message_can_be_routed_by_its_headers() -> None:
    for message in publish(COMPLETE).messages:
        headers = dict(message.headers)
        assert headers["content-type"].startswith(b"application/cloudevents+json")
        assert headers["evaluation_id"] == EVALUATION.encode()
        assert headers["variant"] == b"support-chat"
        assert headers["suite"] == b"arithmetic"
        assert headers["version"] == b"2026-11-29.1"


def test_the_record_holds_what_the_result_was_computed_from() -> None:
    _, *parts = publish(COMPLETE).messages
    record = outcomes.decode([part.value for part in parts])
    assert (record.plan, record.draws) == (PLAN, DRAWS)
    assert [answer.step for answer in record.answers] == list(range(PLAN.draws))
    assert record.quantile == ESTIMATE.quantile


def test_a_record_without_an_estimate_has_no_quantile() -> None:
    nothing = replace(FINDINGS, estimate=NoEstimate(reason=NoEstimateReason.NO_ANSWERS))
    _, *parts = publish(COMPLETE, nothing).messages
    assert outcomes.decode([part.value for part in parts]).quantile is None


def test_a_record_over_the_limit_is_split_into_numbered_parts() -> None:
    limit = outcomes.largest_size(PLAN, steps=2)
    _, *parts = publish(COMPLETE, record_limit=limit).messages
    assert [dict(part.headers)["part"] for part in parts] == [b"1", b"2", b"3"]
    assert outcomes.decode([part.value for part in parts]).draws == DRAWS


@pytest.mark.parametrize("rows", [[], ROWS[:1], ROWS])
def test_an_evaluation_that_ended_early_has_no_record(rows: list[Row]) -> None:
    (result,) = publish(rows, CANCELLED).messages
    completed = results.decode(result.value)
    assert completed.findings() == CANCELLED
    assert (completed.data.statistics.plan is not None) == bool(rows)


@pytest.mark.parametrize("rows", [[], ROWS[:1], COMPLETE])
def test_the_journal_is_cleared_down_to_its_end(rows: list[Row]) -> None:
    commit = publish(rows)
    *gone, last = commit.entries
    assert gone == [
        Entry(evaluation_id=EVALUATION, sequence=number, value=None) for number in range(len(rows))
    ]
    assert (last.evaluation_id, last.sequence) == (EVALUATION, len(rows))


@pytest.mark.parametrize("rows", [[], COMPLETE])
def test_the_last_row_names_outcome_and_digest_of_what_is_published(rows: list[Row]) -> None:
    commit = publish(rows)
    assert commit.entries[-1].value is not None
    statistics = results.statistics_of(commit.messages[0].value)
    assert wire.decode(commit.entries[-1].value) == Ended(
        outcome=FINDINGS.verdict.outcome, statistics_digest=results.statistics_digest(statistics)
    )


def test_spend_is_what_the_journal_knows() -> None:
    price = Price(input_per_million=2.0, output_per_million=10.0, currency="EUR")
    rows: list[Row] = [
        Planned(plan=PLAN, at=TIMES.started),
        Drawn(draws=DRAWS),
        Resumed(pending=2),
        Answered(answers=ANSWERS),
    ]
    spend = publishing.spend_of(kept(*rows), price)
    assert (spend.attempts, spend.maybe_repeated) == (6, 2)
    assert (spend.prompt_tokens, spend.completion_tokens) == (90, 12)
    assert spend.cost == Money(amount=0.0003, currency="EUR")


EUROS = Price(input_per_million=1e4, output_per_million=1e4, currency="EUR")
DOLLARS = replace(EUROS, currency="USD")


@pytest.mark.parametrize(
    ("prices", "cost"),
    [
        ((EUROS, EUROS), Money(amount=0.5, currency="EUR")),
        ((EUROS, None), None),
        ((EUROS, DOLLARS), None),
    ],
)
def test_judges_cost_together_what_is_known_of_each(
    prices: tuple[Price | None, Price | None], cost: Money | None
) -> None:
    usage = Usage(attempts=2, prompt_tokens=20, completion_tokens=5)
    judged = tuple(
        Judged(judge=name, calls=2, unusable=0, flipped=None, usage=usage) for name in ("a", "b")
    )
    answer = replace(ANSWERS[0], judged=judged)
    rows: list[Row] = [Planned(plan=PLAN, at=TIMES.started), Drawn(draws=DRAWS)]
    judges = [
        Judge(name=EndpointName(name), target=replace(world().catalog.endpoint, price=price))
        for name, price in zip("ab", prices, strict=True)
    ]
    spend = publishing.spend_of(kept(*rows, Answered(answers=(answer,))), None, judges)
    line = spend.others[Purpose.JUDGE]
    assert (line.attempts, line.prompt_tokens, line.completion_tokens) == (4, 40, 10)
    assert line.cost == cost


def test_without_a_price_the_cost_is_unknown() -> None:
    assert publishing.spend_of(kept(), None).cost is None


@pytest.mark.parametrize(("later", "seconds"), [(90.5, 90.5), (0.0, 0.0), (-3.0, 0.0)])
def test_times_are_never_negative(later: float, seconds: float) -> None:
    times = publishing.times_of(TIMES.started, TIMES.started + timedelta(seconds=later))
    assert times.seconds == seconds


def test_a_dead_letter_is_the_record_with_its_reason() -> None:
    record = Record(
        topic="model-versions",
        partition=3,
        offset=41,
        key=None,
        value=b"\xffnot json",
        headers=(("ce_id", b"7"),),
    )
    error = InvalidEvent(DeadLetterReason.NOT_JSON, "Ümlaut at line 1")
    letter = publishing.put_aside(record, error, topic="dead", software="test/1")
    assert (letter.topic, letter.key, letter.value) == ("dead", None, b"\xffnot json")
    assert letter == Message(
        topic="dead",
        key=None,
        value=record.value,
        headers=(
            ("ce_id", b"7"),
            ("dead-letter-reason", b"not_json"),
            ("dead-letter-detail", "Ümlaut at line 1".encode()),
            ("dead-letter-topic", b"model-versions"),
            ("dead-letter-partition", b"3"),
            ("dead-letter-offset", b"41"),
            ("dead-letter-software", b"test/1"),
        ),
    )
