from dataclasses import replace

import pytest

from monitor.cli.progress import Bars, ProgressTelemetry
from monitor.domain import facts
from monitor.domain.answers import Status
from tests.unit.adapters import examples

DRAWS = 100
AWAITED = facts.EndpointAwaited(
    evaluation_id=examples.EVALUATION, detail="HTTP 503: [loading]", waited=1.0
)

SAMPLED = facts.SurrogateAnswered(
    suite=examples.PLAN.subject.suite, surrogate="", status=Status.GRADED, settled=1, wanted=4
)


def settled(answered: int) -> facts.AnswerSettled:
    return replace(examples.SETTLED, answered=answered, draws=DRAWS)


@pytest.fixture
def progress() -> ProgressTelemetry:
    return ProgressTelemetry()


def test_lines_are_few_and_on_standard_error(
    progress: ProgressTelemetry, capsys: pytest.CaptureFixture[str]
) -> None:
    progress.record(examples.STARTED)
    for answered in range(1, DRAWS + 1):
        progress.record(settled(answered))
    progress.close()
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err.splitlines()[1:] == [
        f"faq: support-chat 2026-11-29.1, {answered} of 100 answers"
        for answered in (25, 50, 75, 100)
    ]


def test_leaps_are_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    bars = Bars()
    bars.begin(examples.PLAN, 30)
    for answered in (30, 49, 80, 90):
        bars.advance(examples.EVALUATION, answered)
    bars.close()
    assert [line.split(", ")[1] for line in capsys.readouterr().err.splitlines()[1:]] == [
        "80 of 100 answers"
    ]


def test_what_has_not_begun_is_not_shown(
    progress: ProgressTelemetry, capsys: pytest.CaptureFixture[str]
) -> None:
    progress.record(settled(DRAWS))
    progress.close()
    assert capsys.readouterr().err == ""


def test_waiting_and_the_end_are_told(
    progress: ProgressTelemetry, capsys: pytest.CaptureFixture[str]
) -> None:
    progress.record(examples.STARTED)
    progress.record(AWAITED)
    progress.record(examples.ENDED)
    progress.close()
    started, awaited, ended = capsys.readouterr().err.splitlines()
    assert examples.STARTED.plan.reason in started
    assert awaited == f"waiting for the endpoint: {AWAITED.detail}"
    assert ended.endswith(f"({examples.ENDED.findings.verdict.reason})")


def test_a_surrogate_has_a_bar_of_its_own(
    progress: ProgressTelemetry, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("small", "tiny"):
        for answered in (1, 2, 3, 4):
            progress.record(replace(SAMPLED, surrogate=name, settled=answered))
    progress.close()
    assert capsys.readouterr().err.splitlines() == [
        f"faq: surrogate {name}, {answered} of 4 answers"
        for name in ("small", "tiny")
        for answered in (1, 2, 3, 4)
    ]
