import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load, save

from monitor.domain.errors import HistoryError
from monitor.domain.identifiers import digest
from monitor.history import artefacts
from monitor.history.artefacts import Artefact, read_artefact, write_artefact
from monitor.stats import guides
from monitor.stats.answers import Answers, History
from monitor.stats.profiles import Profile
from monitor.stats.replays import Figure
from monitor.stats.selection import Fit
from monitor.wire import fits
from tests.unit.engine.examples import SUITE, chances, suite

RNG = np.random.default_rng(0)
POPULATION = len(SUITE.items)
EARLIER = History.from_matrix(
    (RNG.random((12, POPULATION)) < chances(RNG, 12, POPULATION)).astype(np.float64),
    groups=SUITE.group_labels,
)
PROFILE = Profile(starts=np.array([0.0, 4.0]), levels=np.array([1.0, 0.5]))


def artefact(guide: str = "constant", **changes: object) -> Artefact:
    """Fitted to twelve models."""
    fit = Fit(
        guide=guides.GUIDES[guide].fit(EARLIER),
        candidate="made up",
        profile=PROFILE,
        floor=0.25,
        figures=(Figure(n=30, ess_ratio=1.5, error=0.1, share_below=0.25, models=12),),
    )
    origin = fits.Origin(
        suite=SUITE.name,
        suite_digest=SUITE.digest,
        items=POPULATION,
        models=tuple(f"model-{row}" for row in range(12)),
        history_digest=digest("history"),
        before=None,
        exclude=("chat-*",),
        software="model-variant-monitor/0.1.0",
    )
    return Artefact(fit=replace(fit, **changes), origin=origin)  # type: ignore[arg-type]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_artefact(tmp_path / "guide.safetensors", artefact())
    return tmp_path / "guide.safetensors"


@pytest.mark.parametrize("name", sorted(guides.GUIDES))
@pytest.mark.parametrize("profile", [None, PROFILE])
def test_a_fit_comes_back_as_it_was(name: str, profile: Profile | None, tmp_path: Path) -> None:
    stored, file = artefact(name, profile=profile), tmp_path / "guide.safetensors"
    write_artefact(file, stored)
    read = read_artefact(file, SUITE)
    assert read.header() == stored.header()
    assert guides.digest(read.fit.guide) == guides.digest(stored.fit.guide)
    known = Answers.from_columns(items=[3, 1], scores=[1.0, 0.0])
    assert read.fit.guide.predict(known).tobytes() == stored.fit.guide.predict(known).tobytes()
    assert (read.fit.profile is None) == (profile is None)
    assert artefacts.encode(read) == file.read_bytes()


def test_the_same_fit_gives_the_same_bytes_and_another_gives_others() -> None:
    assert artefacts.encode(artefact()) == artefacts.encode(artefact())
    assert artefacts.encode(artefact()) != artefacts.encode(artefact(floor=0.1))


def test_a_file_is_replaced_as_a_whole(file: Path) -> None:
    write_artefact(file, artefact("item_mean"))
    assert read_artefact(file, SUITE).fit.guide.name == "item_mean"
    assert list(file.parent.iterdir()) == [file]


def problem(file: Path) -> str:
    """What is said of the file, without its folder."""
    with pytest.raises(HistoryError) as refused:
        read_artefact(file, SUITE)
    (found,) = refused.value.problems
    assert found.todo
    return str(found).replace(f"{file.parent}/", "")


def test_a_guide_of_another_suite_is_refused(file: Path) -> None:
    with pytest.raises(HistoryError, match=r"field suite_digest: .* 60 items of suite 'sums'"):
        read_artefact(file, replace(suite(61), digest=digest("other")))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert problem(tmp_path / "absent").startswith("absent: cannot be read: No such file")


@pytest.mark.parametrize("content", [b"", b"no guide", b"\xff" * 100])
def test_what_is_no_archive_is_refused(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    assert problem(file).startswith("guide.safetensors: is no safetensors file, or damaged")


def test_a_file_that_was_cut_off_is_refused(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])
    assert "is no safetensors file, or damaged" in problem(file)


def test_every_bit_counts(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-3] ^= 1
    file.write_bytes(content)
    assert problem(file).startswith("guide.safetensors, field digest: does not belong to")


def rewrite(file: Path, change: Callable[[Any, dict[str, Any]], object], *, signed: bool) -> None:
    """Change the header or the arrays, with a digest that fits again where `signed`."""
    content = file.read_bytes()
    arrays = load(content)
    head = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    stated = json.loads(head["__metadata__"][artefacts.ENTRY])
    change(stated["header"], arrays)
    if signed:
        stated["digest"] = artefacts.digest_of(stated["header"], arrays)
    file.write_bytes(save(arrays, metadata={artefacts.ENTRY: json.dumps(stated)}))


REFUSALS: dict[str, tuple[Callable[[Any, dict[str, Any]], object], str]] = {
    "newer format": (lambda header, _: header.update(version=2), "field version: fitted guide: w"),
    "older format": (lambda header, _: header.update(version=0), "field header: fitted guide: v"),
    "no floor": (lambda header, _: header.pop("floor"), "field header: fitted guide: floor: Field"),
    "unknown guide": (
        lambda header, _: header.update(guide="oracle"),
        "field guide: 'oracle' is no guide of this program; there are: constant, ",
    ),
    "no column": (lambda _, arrays: arrays.pop("guide/constant"), "do not fit: constant: no such"),
    "other items": (
        lambda _, arrays: arrays.update({"guide/constant": np.array([3.0, 1.0, 1.0, 1.0])}),
        "its arrays do not fit: a guide of 3 items, for a suite of 60",
    ),
    "no profile": (
        lambda _, arrays: arrays.update({"profile/levels": np.array([1.0, 2.0])}),
        "its arrays do not fit: levels: must be positive and never rise",
    ),
}


@pytest.mark.parametrize(("change", "text"), REFUSALS.values(), ids=REFUSALS)
def test_what_does_not_fit_is_refused(
    change: Callable[[Any, dict[str, Any]], object], text: str, file: Path
) -> None:
    rewrite(file, change, signed=True)
    assert text in problem(file)


def test_an_edited_header_is_noticed(file: Path) -> None:
    rewrite(file, lambda header, _: header.update(floor=0.9), signed=False)
    assert "field digest: does not belong to" in problem(file)


@pytest.mark.parametrize("metadata", [None, {"format": "np"}, {artefacts.ENTRY: "{"}])
def test_an_archive_of_something_else_is_refused(
    metadata: dict[str, str] | None, file: Path
) -> None:
    file.write_bytes(save({"weights": np.zeros(3)}, metadata=metadata))
    assert "is a safetensors file, but of no fitted guide" in problem(file)


@pytest.mark.parametrize("stated", ["[]", "{}", '{"header":[]}'])
def test_a_header_of_another_kind_is_refused(stated: str, file: Path) -> None:
    file.write_bytes(save({"weights": np.zeros(3)}, metadata={artefacts.ENTRY: stated}))
    assert "field header: fitted guide: " in problem(file)
