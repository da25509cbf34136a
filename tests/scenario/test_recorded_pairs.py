"""Real models that became worse under the same name, from their recorded outcomes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from monitor.domain.identifiers import VariantName
from monitor.domain.results import Difference, Outcome, Severity
from monitor.wire import results
from tests.scenario import daemon as product
from tests.scenario.daemon import Installation, SimulatedEndpoint

BROKEN = "gpt-4o"
PAIRS = {
    "claude": ("claude-instant-1.2", "claude-3-haiku-20240307"),
    "gpt-4": ("gpt-4-turbo-2024-04-09", "gpt-4o-2024-05-13"),
    BROKEN: ("gpt-4o-2024-05-13", "gpt-4o-2024-08-06"),
}
TOLERANCE = 0.02


@pytest.fixture(scope="module")
def file(shared_data: Path) -> Path:
    return shared_data / "outcomes" / "bfcl_v1.npz"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, file: Path) -> Path:
    """With the suite that the outcomes belong to."""
    folder = tmp_path_factory.mktemp("recorded")
    done = product.call("suite", "record", file, folder / "suite", "--name", "bfcl")
    assert "gpt-4o-2024-08-06" in done.stdout.split(), done.stderr
    return folder


@pytest.fixture(scope="module")
def endpoint(folder: Path, file: Path) -> Iterator[SimulatedEndpoint]:
    with product.simulated_endpoint(folder, folder / "suite", "--outcomes", file) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def installation(folder: Path, file: Path, endpoint: SimulatedEndpoint) -> Installation:
    installation = Installation(folder=folder)
    history = {"file": file, "before": "2024-05-13", "exclude": ["gpt-4o*"]}
    models = {model for pair in PAIRS.values() for model in pair}
    installation.configure(
        suites=[{"path": "suite", "history": [history]}],
        endpoints={model: {"base_url": endpoint.base_url, "model": model} for model in models},
        # Both versions of a pair are announced at once.
        limits={"supersede": False},
        policies=[{"budget": "10%", "objective": {"kind": "not_worse", "tolerance": TOLERANCE}}],
    )
    return installation


def event(variant: str, version: str) -> bytes:
    """The event of a version, the same each time, so that the draws are, too."""
    data = {"variant": variant, "version": version, "endpoint": version, "suites": ["bfcl"]}
    return product.version_event(f"{variant}/{version}", data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Second version of a pair; truth: by how much it differs from the first on all items."""

    statistics: results.Statistics
    difference: Difference
    truth: float

    @property
    def rule(self) -> Outcome:
        """What the verdict has to be, by the stated difference."""
        bounds = self.difference.worst_case
        if bounds.lower >= -TOLERANCE:
            return Outcome.MET
        is_worse = bounds.upper < 0 and self.difference.value < -TOLERANCE
        return Outcome.NOT_MET if is_worse else Outcome.INCONCLUSIVE


@pytest.fixture(scope="module")
def exit_code(installation: Installation) -> int:
    """Every version goes live at once; that of `submit --wait` for the broken one."""
    *earlier, last = [(variant, version) for variant, pair in PAIRS.items() for version in pair]
    file = installation.folder / "event.json"
    file.write_bytes(event(*last))
    with installation.daemon() as daemon:
        for variant, version in earlier:
            installation.put(event(variant, version), variant=VariantName(variant))
        done = installation.submit("--file", str(file), "--wait", str(product.SECONDS))
        for variant, version in earlier:
            daemon.told("evaluation_ended", variant=variant, version=version)
    return done.returncode


@pytest.fixture(scope="module")
def compared(
    exit_code: int, installation: Installation, endpoint: SimulatedEndpoint
) -> Mapping[str, Compared]:
    assert exit_code is not None
    truth, found = endpoint.truth(), {}
    for variant, (old, new) in PAIRS.items():
        statistics = installation.found(new, variant=variant)
        assert statistics.difference
        found[variant] = Compared(
            statistics=statistics,
            difference=statistics.difference,
            truth=truth[new] - truth[old],
        )
    return found


def test_a_broken_version_is_critical(exit_code: int, compared: Mapping[str, Compared]) -> None:
    verdict = compared[BROKEN].statistics.verdict
    assert (verdict.outcome, verdict.severity) == (Outcome.NOT_MET, Severity.CRITICAL)
    assert exit_code == 1


@pytest.mark.parametrize("variant", PAIRS)
def test_the_truth_is_within_the_interval(compared: Mapping[str, Compared], variant: str) -> None:
    interval = compared[variant].difference.interval
    assert interval.lower <= compared[variant].truth <= interval.upper


@pytest.mark.parametrize("variant", PAIRS)
def test_the_verdict_follows_the_rule(compared: Mapping[str, Compared], variant: str) -> None:
    assert compared[variant].statistics.verdict.outcome is compared[variant].rule


@pytest.mark.parametrize("variant", PAIRS)
def test_a_real_drop_is_never_met(compared: Mapping[str, Compared], variant: str) -> None:
    assert compared[variant].truth < -TOLERANCE
    assert compared[variant].statistics.verdict.outcome is not Outcome.MET


@pytest.mark.parametrize("variant", PAIRS)
def test_a_tenth_is_bought(compared: Mapping[str, Compared], variant: str) -> None:
    assert compared[variant].statistics.counts == {"graded": 170}
