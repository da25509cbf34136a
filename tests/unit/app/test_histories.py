import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from monitor.adapters.compute_thread import ComputeThread
from monitor.app import histories as learning
from monitor.app.histories import Histories
from monitor.domain.errors import HistoryError
from monitor.domain.suites import Suite
from monitor.engine import planning
from monitor.history import selection
from monitor.history.artefacts import write_artefact
from monitor.settings import HistoryFile, SuiteSettings
from monitor.simulation import suites
from monitor.stats import guides
from tests.unit.app import installations
from tests.unit.app.installations import SUITE

pytestmark = pytest.mark.slow

FILE, GUIDE = "history.npz", "guide.safetensors"


@pytest.fixture
def histories() -> Iterator[Histories]:
    thread = ComputeThread()
    yield Histories(thread)
    thread.close()


@pytest.fixture
def file(tmp_path: Path) -> HistoryFile:
    installations.write_history(tmp_path / FILE)
    return HistoryFile(file=tmp_path / FILE)


def learnt_from(*files: HistoryFile, guide: Path | None = None) -> SuiteSettings:
    return SuiteSettings(path=Path("suite"), history=files, guide=guide)


async def fit(
    histories: Histories, *files: HistoryFile, model: str = "new"
) -> planning.History | None:
    return await histories.fit(SUITE, learnt_from(*files), model=model)


async def test_without_files_there_is_no_history(histories: Histories) -> None:
    assert await fit(histories) is None


async def test_the_model_that_is_judged_is_left_out_in_any_setting(
    histories: Histories, file: HistoryFile
) -> None:
    whole, without, other = [
        await fit(histories, file, model=model) for model in ("new", "earlier-00", "EARLIER-00-cot")
    ]
    assert whole is not None
    assert without is not None
    assert other is not None
    assert whole.digest != without.digest == other.digest


async def test_patterns_may_leave_nothing(histories: Histories, file: HistoryFile) -> None:
    nothing = file.model_copy(update={"exclude": ("earlier-*",)})
    assert await fit(histories, nothing) is None


async def test_files_are_put_together(
    histories: Histories, file: HistoryFile, tmp_path: Path
) -> None:
    installations.write_history(tmp_path / "other.npz", prefix="other")
    other = HistoryFile(file=tmp_path / "other.npz")
    alone, both = await fit(histories, file), await fit(histories, file, other, model="newer")
    assert alone is not None
    assert both is not None
    assert alone.digest != both.digest


async def test_another_process_fits_the_same_guide(histories: Histories, file: HistoryFile) -> None:
    first, again = await fit(histories, file), await fit(Histories(ComputeThread()), file)
    assert first is not None
    assert again is not None
    assert guides.digest(first.guide) == guides.digest(again.guide)
    assert (first.digest, first.fit.floor) == (again.digest, again.fit.floor)


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> list[selection.History]:
    """What guides were fitted to, in turn."""
    seen: list[selection.History] = []
    really = learning.fit

    def note(
        chosen: selection.History, suite: Suite, *, pause: Callable[[], None]
    ) -> planning.History:
        seen.append(chosen)
        return really(chosen, suite, pause=pause)

    monkeypatch.setattr(learning, "fit", note)
    return seen


async def test_a_guide_is_fitted_once_however_many_wait_for_it(
    histories: Histories, file: HistoryFile, fits: list[selection.History]
) -> None:
    impatient, *patient = [asyncio.create_task(fit(histories, file)) for _ in range(3)]
    await asyncio.sleep(0)
    impatient.cancel()
    first, second = [await task for task in patient]
    assert first is second is await fit(histories, file, model="newer")
    await fit(histories, file, model="earlier-00")
    assert [len(chosen.models) for chosen in fits] == [40, 39]


async def test_a_fit_ends_early_when_nobody_waits_any_more(tmp_path: Path) -> None:
    suite = suites.arithmetic_suite(160, seed=3)
    pool = [str(item.id) for item in suite.items]
    installations.write_history(tmp_path / FILE, pool=pool, items=len(pool))
    histories, settings = Histories(ComputeThread()), learnt_from(HistoryFile(file=tmp_path / FILE))
    histories.stop()
    with pytest.raises(Exception, match="nobody waits for this fit any more"):
        await histories.fit(suite, settings, model="new")


async def test_few_fits_are_remembered(
    histories: Histories, file: HistoryFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning, "MOST_FITS", 1)
    first = await fit(histories, file)
    await fit(histories, file, model="earlier-00")
    assert await fit(histories, file) is not first


def test_a_bad_file_is_known_at_once(histories: Histories, tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="there is no such file"):
        histories.check(SUITE, learnt_from(HistoryFile(file=tmp_path / "absent.npz")))


@pytest.fixture
def guide(file: HistoryFile, tmp_path: Path) -> Path:
    write_artefact(tmp_path / GUIDE, learning.prepare(SUITE, [file], software="test"))
    return tmp_path / GUIDE


async def test_a_fitted_guide_stands_for_its_history(
    histories: Histories, file: HistoryFile, guide: Path
) -> None:
    histories.check(SUITE, learnt_from(guide=guide))
    stored = await histories.fit(SUITE, learnt_from(guide=guide), model="new")
    fitted = await Histories(ComputeThread()).fit(SUITE, learnt_from(file), model="new")
    assert stored is not None
    assert fitted is not None
    assert stored.digest == fitted.digest
    assert guides.digest(stored.guide) == guides.digest(fitted.guide)


@pytest.mark.parametrize("model", ["earlier-07", "Earlier-07 (high)"])
async def test_a_model_is_not_judged_by_a_guide_that_knows_its_answers(
    histories: Histories, guide: Path, model: str
) -> None:
    assert await histories.fit(SUITE, learnt_from(guide=guide), model=model) is None


def test_a_guide_of_another_suite_is_known_at_once(histories: Histories, guide: Path) -> None:
    other = suites.arithmetic_suite(60, seed=2)
    with pytest.raises(HistoryError, match="suite_digest"):
        histories.check(other, learnt_from(guide=guide))
