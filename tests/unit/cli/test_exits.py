import pytest

from monitor.cli.exits import ExitCode, code_for, code_of
from monitor.domain.errors import MonitorError, ReplayMismatch, StateLocked, UsageError
from monitor.domain.results import Outcome

VERDICTS = [
    (Outcome.MET, 0),
    (Outcome.NOT_MET, 1),
    (Outcome.INCONCLUSIVE, 3),
    (Outcome.FAULTED, 4),
    (Outcome.CANCELLED, 5),
]


@pytest.mark.parametrize(("outcome", "code"), VERDICTS)
def test_a_verdict_has_its_code(outcome: Outcome, code: int) -> None:
    assert code_for(outcome) == code


def test_every_verdict_has_a_code() -> None:
    assert {outcome for outcome, _ in VERDICTS} == set(Outcome)


ERRORS: list[tuple[MonitorError, int]] = [
    (UsageError(""), 2),
    (StateLocked(""), 2),
    (ReplayMismatch(""), 6),
]


@pytest.mark.parametrize(("error", "code"), ERRORS)
def test_an_error_has_its_code(error: MonitorError, code: int) -> None:
    assert code_of(error) == code


def test_interruption_is_what_shells_expect() -> None:
    assert int(ExitCode.INTERRUPTED) == 130
