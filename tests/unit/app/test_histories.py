from pathlib import Path

import pytest

from monitor.adapters.compute_thread import ComputeThread
from monitor.app.histories import Histories
from monitor.domain.errors import HistoryError
from monitor.engine import planning
from monitor.settings import HistoryFile
from tests.unit.app import installations

FILE = "history.npz"


@pytest.fixture
def histories(tmp_path: Path) -> Histories:
    installations.write_history(tmp_path / FILE)
    installations.write_history(tmp_path / "other.npz", prefix="other")
    return Histories(ComputeThread())


async def fit(
    histories: Histories, *files: HistoryFile, model: str = "new"
) -> planning.History | None:
    return await histories.fit(installations.SUITE, files, model=model)


async def test_without_files_there_is_no_history(histories: Histories) -> None:
    assert await fit(histories) is None


async def test_the_model_that_is_judged_is_left_out(histories: Histories, tmp_path: Path) -> None:
    file = HistoryFile(file=tmp_path / FILE)
    whole = await fit(histories, file)
    without = await fit(histories, file, model="earlier-00")
    assert whole is not None
    assert without is not None
    assert whole.digest != without.digest


async def test_patterns_may_leave_nothing(histories: Histories, tmp_path: Path) -> None:
    assert await fit(histories, HistoryFile(file=tmp_path / FILE, exclude=("earlier-*",))) is None


async def test_files_are_put_together(histories: Histories, tmp_path: Path) -> None:
    one, other = HistoryFile(file=tmp_path / FILE), HistoryFile(file=tmp_path / "other.npz")
    alone, both = await fit(histories, one), await fit(Histories(ComputeThread()), one, other)
    assert alone is not None
    assert both is not None
    assert alone.digest != both.digest


async def test_a_guide_is_fitted_once(histories: Histories, tmp_path: Path) -> None:
    file = HistoryFile(file=tmp_path / FILE)
    assert await fit(histories, file) is await fit(histories, file)


def test_a_bad_file_is_known_at_once(histories: Histories, tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="there is no such file"):
        histories.check([HistoryFile(file=tmp_path / "absent.npz")])
