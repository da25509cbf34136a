from pathlib import Path

import pytest

from monitor.adapters.worker_processes import WorkerProcesses
from monitor.app import backtests
from monitor.app.backtests import Source
from monitor.domain.errors import HistoryError, UsageError
from monitor.domain.policies import Budget
from monitor.history import outcomes
from monitor.history.backtests import Wanted
from monitor.history.records import Record, encode
from monitor.history.splits import SplitKind
from monitor.stats import tensors
from tests.unit.history import recorded

pytestmark = pytest.mark.slow

WANTED = Wanted(
    designs=("simple", "without_replacement"),
    budgets={"30": Budget(count=30), "60": Budget(count=60)},
    runs=2,
    seed=7,
)


@pytest.fixture
def source(tmp_path: Path) -> Source:
    outcomes.write_outcomes(tmp_path / "outcomes.npz", recorded.matrix())
    return Source(outcomes=tmp_path / "outcomes.npz", split=SplitKind.DATE)


def replayed(source: Source, processes: int) -> tuple[list[Record], list[tuple[int, int, str]]]:
    """Records, and what was told of the progress."""
    told: list[tuple[int, int, str]] = []
    with WorkerProcesses(processes) as workers:
        prepared = backtests.prepare(source, WANTED)
        found = list(backtests.run(prepared, workers, lambda *step: told.append(step)))
    return found, told


def test_records_do_not_depend_on_the_number_of_processes(source: Source) -> None:
    alone, told = replayed(source, 1)
    beside, _ = replayed(source, 2)
    assert [encode(each) for each in alone] == [encode(each) for each in beside]
    assert len(alone) == 8 * 2 * 2 * 2
    assert {each.drawn_by for each in alone} == {"simple", "without_replacement"}
    assert told[0] == (0, 1, "learnt")
    assert told[-1] == (16, 16, "evaluated")


def test_draws_by_the_paper_need_torch(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise ModuleNotFoundError("pip install it")

    monkeypatch.setattr(tensors, "require", absent)
    wanted = Wanted(designs=("with_replacement",), budgets=WANTED.budgets, runs=1, seed=0)
    with pytest.raises(UsageError, match="--designs with_replacement: pip install it"):
        backtests.prepare(source, wanted)
    assert backtests.prepare(source, WANTED).given is None


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    missing = Source(outcomes=tmp_path / "no.npz", split=SplitKind.DATE)
    with pytest.raises(HistoryError, match=r"no\.npz: there is no such file"):
        backtests.prepare(missing, WANTED)
