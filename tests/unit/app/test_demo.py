from pathlib import Path

import pytest

from monitor.adapters.system_clock import SystemClock
from monitor.app import demo
from monitor.app.demo import Demonstration, demonstrate
from monitor.domain.errors import UsageError
from monitor.domain.facts import AnswerSettled, Fact
from monitor.domain.results import Outcome
from monitor.wire import results

pytestmark = pytest.mark.slow

ITEMS, DRAWS = 1000, 200


class Answers:
    """Telemetry that counts answers."""

    def __init__(self) -> None:
        self.count = 0

    def record(self, fact: Fact) -> None:
        self.count += isinstance(fact, AnswerSettled)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "ITEMS", ITEMS)


async def shown(folder: Path, answers: Answers) -> Demonstration:
    async with demonstrate(folder, now=SystemClock().now(), listeners=[answers]) as found:
        return found


async def test_a_second_run_shows_the_same_and_buys_nothing(tmp_path: Path) -> None:
    answers = Answers()
    first = await shown(tmp_path, answers)
    assert answers.count == DRAWS * len(demo.MODELS)
    second = await shown(tmp_path, answers)
    assert answers.count == DRAWS * len(demo.MODELS)
    assert first.shown == second.shown
    assert first.metrics != []


async def test_every_version_is_judged_and_replayed(tmp_path: Path) -> None:
    found = await shown(tmp_path, Answers())
    for each in found.shown:
        digest = results.statistics_digest(results.statistics_of(each.value))
        assert each.replayed == digest
    outcomes = [each.completed.data.statistics.verdict.outcome for each in found.shown]
    assert outcomes[0] is Outcome.MET
    assert outcomes.index(Outcome.NOT_MET) == len(outcomes) - 1


async def test_a_folder_that_cannot_be_used_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "history.npz").mkdir()
    with pytest.raises(UsageError, match=r"history.npz: cannot be written: Is a directory"):
        await shown(tmp_path, Answers())
