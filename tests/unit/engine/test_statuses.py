import hypothesis
import pytest
from hypothesis import strategies as st

from monitor.domain.answers import (
    MISSING,
    Breakdown,
    Broken,
    Completed,
    Exchange,
    Fault,
    Grade,
    Refused,
    Status,
    Ungraded,
)
from monitor.domain.suites import AnswerRules
from monitor.engine.statuses import (
    EndpointFault,
    FirstItems,
    Gradable,
    Reading,
    Retry,
    Settled,
    read_exchange,
    settle_grade,
)

RULES = AnswerRules()


def read(exchange: Exchange, **rules: bool) -> Reading:
    return read_exchange(exchange, AnswerRules(**rules))


def completed(
    content: str | None,
    finish_reason: str | None = "stop",
    *,
    refusal: str | None = None,
    reasoning: str | None = None,
) -> Completed:
    return Completed(
        content=content, finish_reason=finish_reason, refusal=refusal, reasoning=reasoning
    )


FAULTS = [
    (Refused(http_status=401), Fault.UNAUTHORIZED),
    (Refused(http_status=401, message="Invalid API key"), Fault.UNAUTHORIZED),
    (Refused(http_status=403), Fault.FORBIDDEN),
    (Refused(http_status=404, message="Not Found"), Fault.NOT_FOUND),
    (Refused(http_status=404, code="model_not_found"), Fault.UNKNOWN_MODEL),
    (Refused(http_status=404, message="The model `x` does not exist."), Fault.UNKNOWN_MODEL),
    (Refused(http_status=400, message="Invalid model name passed in model=x"), Fault.UNKNOWN_MODEL),
    (
        Refused(http_status=400, message="Server is pinned to './tiny'; requested 'x'."),
        Fault.UNKNOWN_MODEL,
    ),
    (Refused(http_status=402), Fault.QUOTA_EXHAUSTED),
    (Refused(http_status=429, code="insufficient_quota"), Fault.QUOTA_EXHAUSTED),
    (Refused(http_status=429, kind="billing_hard_limit_reached"), Fault.QUOTA_EXHAUSTED),
    (Refused(http_status=429, message="Insufficient balance"), Fault.QUOTA_EXHAUSTED),
]


@pytest.mark.parametrize(("refused", "fault"), FAULTS)
def test_what_no_attempt_can_mend_is_a_fault(refused: Refused, fault: Fault) -> None:
    reading = read(refused)
    assert isinstance(reading, EndpointFault)
    assert reading.fault == fault
    assert str(refused.http_status) in reading.detail


CHARGED = [
    (Refused(http_status=400, code="context_length_exceeded"), Status.CONTEXT_LENGTH),
    (
        Refused(http_status=400, message="This model's maximum context length is 256 tokens."),
        Status.CONTEXT_LENGTH,
    ),
    (
        Refused(http_status=422, kind="validation", message="`inputs` tokens + `max_new_tokens`"),
        Status.CONTEXT_LENGTH,
    ),
    (Refused(http_status=400, kind="exceed_context_size_error"), Status.CONTEXT_LENGTH),
    (Refused(http_status=400, code="content_filter"), Status.CONTENT_FILTER),
    (Refused(http_status=400, code="content_policy_violation"), Status.CONTENT_FILTER),
    (completed("No.", refusal="I can't help with that."), Status.REFUSAL),
    (completed(None, "content_filter"), Status.CONTENT_FILTER),
    (completed("", "length"), Status.TRUNCATED),
    (completed(None, "length", reasoning="Let me see"), Status.TRUNCATED),
]


@pytest.mark.parametrize(("exchange", "status"), CHARGED)
def test_what_the_version_did_is_wrong(exchange: Exchange, status: Status) -> None:
    reading = read(exchange)
    assert isinstance(reading, Settled)
    assert (reading.status, reading.score) == (status, 0.0)


RETRIED = [
    (Broken(cause=Breakdown.CONNECT), Status.CONNECT),
    (Broken(cause=Breakdown.TIMEOUT), Status.TIMEOUT),
    (Broken(cause=Breakdown.MALFORMED), Status.MALFORMED),
    (Broken(cause=Breakdown.NO_CHOICES), Status.MALFORMED),
    (Refused(http_status=408), Status.TIMEOUT),
    (Refused(http_status=429), Status.RATE_LIMITED),
    (Refused(http_status=429, kind="throttling_error"), Status.RATE_LIMITED),
    (
        Refused(http_status=429, message="Add a payment method at example.com/billing."),
        Status.RATE_LIMITED,
    ),
    (Refused(http_status=500), Status.SERVER_ERROR),
    (Refused(http_status=529), Status.SERVER_ERROR),
    (completed("half an ans", "abort"), Status.SERVER_ERROR),
]


@pytest.mark.parametrize(("exchange", "status"), RETRIED)
def test_what_may_pass_is_retried_and_then_missing(exchange: Exchange, status: Status) -> None:
    reading = read(exchange)
    assert isinstance(reading, Retry)
    assert (reading.give_up().status, reading.give_up().score) == (status, None)
    assert status in MISSING


def test_a_retry_waits_as_long_as_the_server_asks() -> None:
    reading = read(Refused(http_status=503, retry_after=2.5))
    assert isinstance(reading, Retry)
    assert reading.wait == 2.5


@pytest.mark.parametrize("http_status", [301, 400, 405, 409, 422])
def test_any_other_rejection_is_missing_at_once(http_status: int) -> None:
    reading = read(Refused(http_status=http_status, message="no"))
    assert isinstance(reading, Settled)
    assert (reading.status, reading.score) == (Status.REJECTED, None)
    assert reading.detail == f"HTTP {http_status}: no"


def test_a_picture_that_cannot_be_sent_is_missing_at_once() -> None:
    reading = read(Broken(cause=Breakdown.IMAGE, detail="it has changed"))
    assert reading == Settled(status=Status.IMAGE, detail="it has changed")
    assert Status.IMAGE in MISSING


def test_text_is_to_be_graded() -> None:
    assert read(completed("B")) == Gradable(text="B")
    assert read(completed("B", None)) == Gradable(text="B")
    assert read(completed("The answer is", "length")) == Gradable(
        text="The answer is", truncated=True
    )


@pytest.mark.parametrize("reasoning", ["", "B, because"])
def test_empty_content_is_missing(reasoning: str) -> None:
    reading = read(completed(" \n", reasoning=reasoning))
    assert isinstance(reading, Settled)
    assert (reading.status, reading.score) == (Status.EMPTY_CONTENT, None)


def test_a_suite_may_have_reasoning_graded() -> None:
    reasoned = completed(None, "length", reasoning="B, because")
    assert read(reasoned, grade_reasoning=True) == Gradable(text="B, because", truncated=True)
    assert read(completed("A", reasoning="B"), grade_reasoning=True) == Gradable(text="A")
    assert isinstance(read(completed(None), grade_reasoning=True), Settled)


@pytest.mark.parametrize(
    "exchange", [completed(None, refusal="No."), Refused(http_status=400, code="content_filter")]
)
def test_a_suite_may_hold_a_refusal_right(exchange: Exchange) -> None:
    reading = read_exchange(exchange, AnswerRules(refusal_score=1.0))
    assert isinstance(reading, Settled)
    assert reading.score == 1.0


def test_too_slow_is_wrong_only_under_an_objective_and_with_full_time() -> None:
    slow, rules = Broken(cause=Breakdown.TIMEOUT), AnswerRules(latency_objective=True)
    assert read_exchange(slow, rules) == Settled(status=Status.TOO_SLOW, score=0.0)
    assert read_exchange(slow, rules, full_time=False) == Retry(status=Status.TIMEOUT)
    assert read_exchange(Refused(http_status=408), rules) == Retry(
        status=Status.TIMEOUT, detail="HTTP 408"
    )


GRADES = [
    (Grade(score=0.5), False, Status.GRADED, 0.5),
    (Grade(score=1.0), True, Status.GRADED, 1.0),
    (Grade(ungraded=Ungraded.NO_ANSWER), False, Status.NO_ANSWER, 0.0),
    (Grade(ungraded=Ungraded.NO_ANSWER), True, Status.TRUNCATED, 0.0),
    (Grade(ungraded=Ungraded.FAILED), False, Status.GRADER, None),
    (Grade(ungraded=Ungraded.TIME_LIMIT), True, Status.GRADER, None),
]


@pytest.mark.parametrize(("grade", "truncated", "status", "score"), GRADES)
def test_a_grade_settles(
    grade: Grade, *, truncated: bool, status: Status, score: float | None
) -> None:
    settled = settle_grade(Gradable(text="B", truncated=truncated), grade)
    assert (settled.status, settled.score) == (status, score)


texts = st.none() | st.text(max_size=3)
exchanges = st.one_of(
    st.builds(Completed, content=texts, finish_reason=texts, refusal=texts, reasoning=texts),
    st.builds(Refused, http_status=st.integers(100, 599), code=st.text(), message=st.text()),
    st.builds(Broken, cause=st.sampled_from(Breakdown)),
)


@hypothesis.given(
    exchange=exchanges,
    rules=st.builds(AnswerRules, refusal_score=st.floats(0.0, 1.0)),
    full_time=st.booleans(),
)
def test_every_exchange_means_something(
    *, exchange: Exchange, rules: AnswerRules, full_time: bool
) -> None:
    reading = read_exchange(exchange, rules, full_time=full_time)
    if isinstance(reading, Retry):
        reading = reading.give_up()
    if isinstance(reading, Settled):
        assert (reading.score is None) == (reading.status in MISSING)
    else:
        assert isinstance(reading, Gradable | EndpointFault)


def rejected(code: str = "bad_request", http_status: int = 400) -> Settled:
    reading = read(Refused(http_status=http_status, code=code))
    assert isinstance(reading, Settled)
    return reading


def first_items(*readings: tuple[int, Gradable | Settled]) -> FirstItems:
    seen = FirstItems()
    for item, reading in readings:
        seen = seen.absorb(item, reading)
    return seen


def test_the_same_rejection_of_three_items_is_a_fault() -> None:
    seen = first_items((7, rejected()), (2, rejected()))
    assert seen.fault is None
    fault = seen.absorb(5, rejected()).fault
    assert fault is not None
    assert fault.fault == Fault.REJECTS_EVERYTHING
    assert "HTTP 400 bad_request" in fault.detail


def test_too_long_prompts_from_the_start_are_a_fault_as_well() -> None:
    too_long = rejected("context_length_exceeded")
    assert first_items((1, too_long), (2, too_long), (3, too_long)).fault is not None


NO_FAULT = [
    [(1, rejected()), (1, rejected()), (2, rejected())],
    [(1, rejected()), (2, rejected("other")), (3, rejected()), (4, rejected())],
    [(1, rejected()), (2, rejected(http_status=422)), (3, rejected())],
    [(1, Gradable(text="B")), (2, rejected()), (3, rejected()), (4, rejected())],
    [(1, rejected()), (2, rejected()), (3, Gradable(text="B")), (4, rejected())],
]


@pytest.mark.parametrize("readings", NO_FAULT)
def test_an_endpoint_that_answers_has_no_fault(
    readings: list[tuple[int, Gradable | Settled]],
) -> None:
    assert first_items(*readings).fault is None


def test_an_item_that_failed_otherwise_says_nothing_about_rejections() -> None:
    failed = Settled(status=Status.CONNECT)
    seen = first_items((1, rejected()), (2, failed), (3, rejected()), (4, rejected()))
    assert seen.fault is not None
