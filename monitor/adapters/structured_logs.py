"""Facts as log lines with stable event names, and one format for every library's lines."""

import logging
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from datetime import datetime
from typing import TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from monitor.domain import facts
from monitor.domain.answers import Usage
from monitor.domain.plans import Plan
from monitor.domain.results import (
    Estimate,
    Findings,
    Interval,
    NoEstimate,
    Outcome,
    Spend,
    SpendLine,
)
from monitor.settings import LogSettings

LOGGER = "monitor"
REDACTED = "[redacted]"
CONFIDENTIAL = r"(?i:(?<=bearer )[\w.~+/=-]+)|\bsk-[\w-]{16,}"
ALARMING = frozenset({Outcome.NOT_MET, Outcome.FAULTED})

LEVELS: Mapping[type[facts.Fact], int] = {
    facts.Attempted: logging.DEBUG,
    facts.AnswerSettled: logging.DEBUG,
    facts.QuerySettled: logging.DEBUG,
    facts.SurrogateAttempted: logging.DEBUG,
    facts.SurrogateAnswered: logging.DEBUG,
    facts.LagMeasured: logging.DEBUG,
    facts.TransactionEnded: logging.DEBUG,
    facts.AnswersNotKept: logging.WARNING,
    facts.BusAwaited: logging.WARNING,
    facts.DeadLettered: logging.WARNING,
    facts.EvaluationFailed: logging.ERROR,
}
"""Level of a class of facts; info where it is not named."""


class LogTelemetry:
    """Implements `ports.Telemetry`; `configure` says where lines go."""

    def __init__(self) -> None:
        self._logger = structlog.stdlib.get_logger(LOGGER)

    def record(self, fact: facts.Fact) -> None:
        """Write a fact as one line, named after its class."""
        level = LEVELS.get(type(fact), logging.INFO)
        if isinstance(fact, facts.EvaluationEnded) and fact.findings.verdict.outcome in ALARMING:
            level = logging.WARNING
        self._logger.log(level, event_name(type(fact)), **_flat(fact))


def event_name(kind: type[facts.Fact]) -> str:
    """`evaluation_ended` for EvaluationEnded."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


def _flat(fact: facts.Fact) -> dict[str, object]:
    """Fields of a fact on one level, without what is unknown."""
    flat: dict[str, object] = {}
    for declared in fields(fact):
        value = getattr(fact, declared.name)
        match value:
            case Plan():
                flat |= _plan(value)
            case Findings():
                flat |= _findings(value)
            case Spend():
                flat |= _spend(value)
            case Usage():
                flat |= asdict(value)
            case datetime():
                flat[declared.name] = value.isoformat()
            case _:
                flat[declared.name] = value
    return {name: value for name, value in flat.items() if value is not None}


def _plan(plan: Plan) -> dict[str, object]:
    return {
        "evaluation_id": plan.subject.evaluation_id,
        "variant": plan.subject.variant,
        "version": plan.subject.version,
        "suite": plan.subject.suite,
        "design": plan.inference.design,
        "draws": plan.draws,
        "population": plan.population,
        "plan_reason": plan.reason,
    }


def _findings(findings: Findings) -> dict[str, object]:
    verdict = findings.verdict
    flat: dict[str, object] = {
        "verdict": verdict.outcome,
        "reason": verdict.reason,
        "severity": verdict.severity,
        "sentence": verdict.sentence,
        "answered": findings.answered,
        "missing": findings.missing,
    }
    match findings.estimate:
        case Estimate() as estimate:
            flat |= _bounds("estimate", estimate.value, estimate.interval)
            flat |= {"interval_level": estimate.interval.level, "ess_ratio": estimate.ess_ratio}
        case NoEstimate() as unknown:
            flat["no_estimate"] = unknown.reason
    if findings.difference is not None:
        difference = findings.difference
        flat |= _bounds("difference", difference.value, difference.interval)
    return flat | {f"count_{status}": count for status, count in findings.counts.items()}


def _bounds(name: str, value: float, interval: Interval) -> dict[str, object]:
    return {name: value, f"{name}_lower": interval.lower, f"{name}_upper": interval.upper}


def _spend(spend: Spend) -> dict[str, object]:
    flat = _line(spend) | {"maybe_repeated": spend.maybe_repeated}
    for purpose, line in spend.others.items():
        flat |= {f"{purpose}_{name}": value for name, value in _line(line).items()}
    return flat


def _line(line: Spend | SpendLine) -> dict[str, object]:
    cost = line.cost
    return {
        "attempts": line.attempts,
        "prompt_tokens": line.prompt_tokens,
        "completion_tokens": line.completion_tokens,
        "cost": None if cost is None else cost.amount,
        "currency": None if cost is None else cost.currency,
    }


def configure(
    settings: LogSettings, *, secrets: Iterable[str] = (), stream: TextIO | None = None
) -> None:
    """Set up logging for the process, once; libraries are heard from warnings upwards.

    Args:
        settings: format and lowest level.
        secrets: texts that must never be written.
        stream: where to write; None takes standard error.
    """
    shared: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        Redaction(secrets),
    ]
    stream = stream or sys.stderr
    renderer: Processor = structlog.processors.JSONRenderer(ensure_ascii=False)
    if settings.format == "console":
        renderer = structlog.dev.ConsoleRenderer(colors=stream.isatty())
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            structlog.stdlib.add_logger_name,
            structlog.stdlib.ExtraAdder(),
            *shared,
        ],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.captureWarnings(capture=True)
    logging.getLogger(LOGGER).setLevel(settings.level.upper())
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )


class Redaction:
    """A structlog processor that writes over known secrets and what looks like one."""

    def __init__(self, secrets: Iterable[str]) -> None:
        # The longest first: one secret may be the beginning of another.
        known = sorted((re.escape(secret) for secret in secrets if secret), key=len, reverse=True)
        self._pattern = re.compile("|".join([*known, CONFIDENTIAL]))

    def __call__(self, _logger: WrappedLogger, _method: str, line: EventDict) -> EventDict:
        """Redact every text in a line, however deep."""
        return {key: self._redacted(value) for key, value in line.items()}

    def _redacted(self, value: object) -> object:
        if value is None or isinstance(value, bool | int | float | logging.LogRecord):
            return value
        if isinstance(value, Mapping):
            return {key: self._redacted(entry) for key, entry in value.items()}
        if isinstance(value, list | tuple):
            return [self._redacted(entry) for entry in value]
        return self._pattern.sub(REDACTED, str(value))
