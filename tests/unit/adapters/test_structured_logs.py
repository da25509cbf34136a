import io
import json
import logging
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, get_args

import pytest
import structlog

from monitor.adapters import structured_logs
from monitor.adapters.structured_logs import LogTelemetry, event_name
from monitor.domain import facts
from monitor.domain.errors import DeadLetterReason
from monitor.domain.results import Purpose
from monitor.settings import LogSettings
from tests.unit.adapters import examples

SECRET = "hunter2-hunter2"


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    root, ours = logging.getLogger(), logging.getLogger(structured_logs.LOGGER)
    handlers, levels = root.handlers[:], (root.level, ours.level)
    yield
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    ours.setLevel(levels[1])
    logging.captureWarnings(capture=False)
    structlog.reset_defaults()


class Log:
    """Telemetry that writes into memory."""

    def __init__(self, **settings: str) -> None:
        self.stream = io.StringIO()
        configured = LogSettings.model_validate(settings)
        structured_logs.configure(configured, secrets=[SECRET, ""], stream=self.stream)
        self.telemetry = LogTelemetry()

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]

    def written(self, fact: facts.Fact) -> dict[str, Any]:
        self.telemetry.record(fact)
        (line,) = self.lines()
        return line


def test_lines_have_time_level_and_name() -> None:
    line = Log().written(examples.EVENT)
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "event_taken",
        "level": "info",
        "topic": "model-versions",
        "partition": 3,
        "offset": 7,
        "result": "accepted",
        "at": "2026-11-29T12:00:00+00:00",
    }


def test_result_is_told_in_numbers_and_a_sentence() -> None:
    line = Log().written(examples.ENDED)
    expected = {
        "event": "evaluation_ended",
        "level": "warning",
        "variant": "support-chat",
        "verdict": "NOT_MET",
        "sentence": "It is worse.",
        "estimate": 0.8,
        "estimate_lower": 0.75,
        "interval_level": 0.95,
        "difference_upper": -0.05,
        "count_timeout": 5,
        "draws": 100,
        "cost": 0.25,
        "currency": "EUR",
    }
    assert expected.items() <= line.items()


def test_every_purpose_has_its_own_spend() -> None:
    spend = replace(examples.SPEND, others={Purpose.JUDGE: examples.JUDGE_LINE})
    line = Log().written(replace(examples.ENDED, spend=spend))
    assert {"attempts": 101, "judge_attempts": 3, "judge_cost": 0.5}.items() <= line.items()


def test_unknown_numbers_are_left_out() -> None:
    spend = replace(examples.SPEND, cost=None)
    ended = replace(examples.ENDED, findings=examples.nothing_found(), spend=spend, plan=None)
    line = Log().written(ended)
    assert line["no_estimate"] == "no_answers"
    assert line.keys().isdisjoint({"estimate", "difference", "cost", "currency", "draws"})


def test_plan_is_told_without_its_weights() -> None:
    line = Log().written(examples.STARTED)
    assert line["plan_reason"] == "history promises a narrower interval"
    assert line.keys().isdisjoint({"weights", "round_sizes", "plan", "clock_seed"})


DEAD_LETTER = facts.DeadLettered(
    topic="t", partition=0, offset=0, reason=DeadLetterReason.NOT_JSON, detail="no JSON"
)
LEVELS = [
    (examples.ATTEMPTED, "debug"),
    (examples.SETTLED, "debug"),
    (examples.JUDGED, "debug"),
    (examples.STARTED, "info"),
    (DEAD_LETTER, "warning"),
    (examples.FAILED, "error"),
]


@pytest.mark.parametrize(("fact", "level"), LEVELS)
def test_facts_have_their_level(fact: facts.Fact, level: str) -> None:
    assert Log(level="debug").written(fact)["level"] == level


@pytest.mark.parametrize("fact", [examples.ATTEMPTED, examples.SETTLED])
def test_single_answers_are_not_told_of_by_default(fact: facts.Fact) -> None:
    log = Log()
    log.telemetry.record(fact)
    assert log.lines() == []


EVENT_NAMES = {
    "event_taken",
    "dead_lettered",
    "evaluation_started",
    "attempted",
    "answer_settled",
    "answers_not_kept",
    "query_settled",
    "surrogate_attempted",
    "surrogate_answered",
    "surrogate_ended",
    "endpoint_awaited",
    "evaluation_ended",
    "evaluation_failed",
    "partition_assigned",
    "partition_revoked",
    "bus_awaited",
    "partition_restored",
    "transaction_ended",
    "lag_measured",
    "service_started",
    "service_stopping",
}


def test_names_of_events_are_stable() -> None:
    assert {event_name(kind) for kind in get_args(facts.Fact)} == EVENT_NAMES


LEAKS = [SECRET, f"key {SECRET}.", "Authorization: Bearer abc.DEF-123", "sk-proj-0123456789abcdef"]


@pytest.mark.parametrize("detail", LEAKS)
def test_secrets_are_written_over(detail: str) -> None:
    written = str(Log().written(replace(examples.FAILED, detail=detail)))
    assert structured_logs.REDACTED in written
    assert not any(secret in written for secret in (SECRET, "abc.DEF", "0123456789abcdef"))


def test_secrets_of_libraries_are_written_over() -> None:
    log = Log()
    logging.getLogger("httpx2").warning("sent %s", {"authorization": SECRET}, extra={"a": [SECRET]})
    assert SECRET not in log.stream.getvalue()
    assert log.lines()[0]["event"] == "sent {'authorization': '[redacted]'}"


def test_secrets_in_tracebacks_are_written_over() -> None:
    log = Log()
    try:
        int(SECRET)
    except ValueError:
        logging.getLogger("asyncio").exception("failed")
    assert "with base 10: '[redacted]'" in log.lines()[0]["exception"]


def test_libraries_are_heard_from_warnings_upwards() -> None:
    log = Log(level="debug")
    logging.getLogger("uvicorn.error").info("chatter")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    (line,) = log.lines()
    assert line["logger"] == "py.warnings"


def test_console_lines_are_for_people() -> None:
    log = Log(format="console")
    log.telemetry.record(examples.FAILED)
    assert "evaluation_failed" in log.stream.getvalue()
    assert "IndexError" in log.stream.getvalue()
    assert not log.stream.getvalue().startswith("{")


def test_first_words_of_a_longer_secret_do_not_save_it() -> None:
    redaction = structured_logs.Redaction(["abcdef", "abcdef-long"])
    assert redaction(None, "info", {"event": "abcdef-long"}) == {"event": "[redacted]"}


def test_configuring_again_does_not_write_twice() -> None:
    Log()
    assert Log().written(examples.FAILED)["detail"] == "IndexError"
