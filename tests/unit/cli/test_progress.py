from dataclasses import replace

import pytest

from monitor.cli.progress import ProgressTelemetry
from monitor.domain import facts
from tests.unit.adapters import examples

DRAWS = 100
AWAITED = facts.EndpointAwaited(
    evaluation_id=examples.EVALUATION, detail="HTTP 503: [loading]", waited=1.0
)


def settled(answered: int) -> facts.AnswerSettled:
    return replace(examples.SETTLED, answered=answered, draws=DRAWS)


@pytest.fixture
def progress() -> ProgressTelemetry:
    return ProgressTelemetry()


def test_lines_are_few_and_on_standard_error(
    progress: ProgressTelemetry, capsys: pytest.CaptureFixture[str]
) -> None:
    for answered in range(1, DRAWS + 1):
        progress.record(settled(answered))
    progress.close()
    written = capsys.readouterr()
    assert written.out == ""
    assert [line.split(": ")[1] for line in written.err.splitlines()] == [
        "25 of 100",
        "50 of 100",
        "75 of 100",
        "100 of 100",
    ]


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
