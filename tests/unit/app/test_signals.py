import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from monitor.app import signals
from monitor.app.catalog import load_suites
from monitor.app.signals import SignalFiles, Wanted, combined
from monitor.domain.errors import StateCorrupt
from monitor.domain.identifiers import digest
from monitor.domain.surrogates import Served, SurrogateSignal
from monitor.engine import planning
from monitor.settings import Settings
from tests.unit.app import installations
from tests.unit.app.installations import NOWHERE, SUITE

BOTH = ("good", "bad")


def configured(folder: Path, *names: str, **own: object) -> Settings:
    surrogate = {"endpoints": list(names), "samples": 2, **own}
    suites = [{"path": str(folder / "suite"), "surrogate": surrogate}]
    return installations.configured(folder, suites=suites)


def wanted(settings: Settings) -> tuple[Wanted, ...]:
    (loaded,) = load_suites(settings).values()
    return signals.wanted(loaded.suite, loaded.settings, settings)


def signal(of: Wanted, rate: float = 0.5) -> SurrogateSignal:
    """Unsure of every other item."""
    half = len(SUITE.items) // 2
    return SurrogateSignal(
        suite=of.suite.name,
        suite_digest=of.suite.digest,
        surrogate=of.name,
        served=Served(base_url=NOWHERE, model=of.endpoint.model),
        settings=of.settings,
        entropy=(0.0, 0.7) * half,
        consistency=(1.0, 0.5) * half,
        single=(True, False) * half,
        pass_rate=(1.0, rate) * half,
        answered=(2, 2) * half,
        counts={"graded": 4 * half},
        prompt_tokens=10,
        completion_tokens=20,
        software="test",
    )


def keep(settings: Settings, **rates: float) -> Mapping[str, Path]:
    """Write the signals of these surrogates; their files."""
    files = SignalFiles(settings.surrogates_directory)
    settings.surrogates_directory.mkdir(parents=True, exist_ok=True)
    chosen = [of for of in wanted(settings) if of.name in rates]
    for of in chosen:
        files.keep(of, signal(of, rates[of.name]))
    return {of.name: files.path(of) for of in chosen}


def told(settings: Settings) -> planning.Surrogate | None:
    (loaded,) = load_suites(settings).values()
    return combined(loaded.suite, loaded.settings, settings)


def check(settings: Settings) -> tuple[list[str], list[str], list[str]]:
    (loaded,) = load_suites(settings).values()
    found = signals.check(loaded.suite, loaded.settings, settings)
    return [*map(str, found.problems)], [*map(str, found.warnings)], found.notes


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    return installations.write_pool(tmp_path)


def test_what_is_kept_is_found(pool: Path) -> None:
    settings = configured(pool, "good")
    keep(settings, good=0.5)
    (of,) = wanted(settings)
    assert SignalFiles(settings.surrogates_directory).find(of) == signal(of)


def test_one_surrogate_is_what_it_tells(pool: Path) -> None:
    settings = configured(pool, "good", strata=3, refined=False, allocation="equal")
    keep(settings, good=0.5)
    found = told(settings)
    assert found is not None
    assert (found.names, found.settings.strata, found.settings.refined) == (("good",), 3, False)
    assert found.signal.pass_rate is not None
    assert np.array_equal(found.signal.pass_rate, [1.0, 0.5] * 30)


def test_several_are_averaged(pool: Path) -> None:
    settings = configured(pool, *BOTH)
    keep(settings, good=0.5, bad=0.1)
    found = told(settings)
    assert found is not None
    assert found.names == BOTH
    assert found.signal.pass_rate is not None
    assert found.signal.pass_rate[:2] == pytest.approx([1.0, 0.3])


def test_one_of_several_alone_is_not_used(pool: Path) -> None:
    settings = configured(pool, *BOTH)
    keep(settings, good=0.5)
    assert told(settings) is None
    assert check(settings)[1] == [
        f"suite 'arithmetic': surrogate 'bad': has not been asked ({signals.ASK})"
    ]


def test_none_is_needed(pool: Path) -> None:
    assert told(installations.configured(pool)) is None


OTHERS = [{"samples": 3}, {"temperature": 0.5}, {"revision": "b"}, {"max_tokens": 9}]


@pytest.mark.parametrize("own", OTHERS)
def test_what_was_asked_in_another_way_is_not_used(own: dict[str, object], pool: Path) -> None:
    keep(configured(pool, "good"), good=0.5)
    changed = configured(pool, "good", **own)
    assert told(changed) is None
    (warning,) = check(changed)[1]
    assert "has not been asked: only of another content of the suite, or with other" in warning


def test_strata_are_made_anew_of_the_same_answers(pool: Path) -> None:
    keep(configured(pool, "good"), good=0.5)
    assert told(configured(pool, "good", strata=9, smoothing=0.1)) is not None


def test_another_model_under_the_same_name_has_not_been_asked(pool: Path) -> None:
    settings = configured(pool, "good")
    keep(settings, good=0.5)
    other = settings.endpoints["good"].model_copy(update={"model": "another"})
    changed = settings.model_copy(update={"endpoints": {"good": other}})
    assert told(changed) is None
    assert len(check(changed)[1]) == 1


def test_another_content_of_the_suite_has_not_been_asked(pool: Path) -> None:
    settings = configured(pool, "good")
    keep(settings, good=0.5)
    items = pool / "suite" / "items.jsonl"
    items.write_text("".join(items.read_text().splitlines(keepends=True)[:-1]))
    assert told(settings) is None


def test_a_file_that_cannot_be_read_is_a_problem_and_not_used(pool: Path) -> None:
    settings = configured(pool, "good")
    file = keep(settings, good=0.5)["good"]
    file.write_bytes(b"no signal")
    with pytest.raises(StateCorrupt, match=file.name):
        SignalFiles(settings.surrogates_directory).find(*wanted(settings))
    assert told(settings) is None
    assert "which writes it anew" in check(settings)[0][0]


@pytest.mark.parametrize(
    "change",
    [
        {"suite_digest": digest("other")},
        {"entropy": (0.0,), "consistency": (1.0,), "single": (True,), "answered": (2,)},
    ],
)
def test_a_file_about_other_items_is_not_used(pool: Path, change: dict[str, Any]) -> None:
    settings = configured(pool, "good")
    (of,) = wanted(settings)
    keep(settings, good=0.5)
    SignalFiles(settings.surrogates_directory).keep(
        of, replace(signal(of), pass_rate=None, **change)
    )
    assert told(settings) is None
    assert "which writes it anew" in check(settings)[0][0]


def test_what_has_answered_is_noted(pool: Path) -> None:
    settings = configured(pool, "good")
    keep(settings, good=0.5)
    assert check(settings) == (
        [],
        [],
        ["suite 'arithmetic': surrogate 'good' has answered 60 items"],
    )


def test_a_grader_that_is_paid_cannot_compare(pool: Path) -> None:
    settings = configured(pool, "good")
    (of,) = wanted(settings)
    judged = replace(of.suite.grader, kind="http", options={"name": "x"})
    suite = replace(of.suite, grader=judged)
    found = signals.check(suite, settings.suites[0], settings)
    assert [each.what for each in found.problems] == ["cannot be compared by the grader http"]


def test_the_first_that_finds_no_signal_pays_and_goes_on_paying(pool: Path) -> None:
    settings = configured(pool, "good")
    (of,), files = wanted(settings), SignalFiles(settings.surrogates_directory)
    settings.surrogates_directory.mkdir(parents=True)
    assert files.claim(of, "first")
    assert not files.claim(of, "second")
    keep(settings, good=0.5)
    assert files.claim(of, "first")
    shutil.rmtree(settings.surrogates_directory)
    keep(settings, good=0.5)
    assert not files.claim(of, "first")
