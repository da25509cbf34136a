import asyncio
import json
from pathlib import Path

import pytest

from monitor.adapters.embedded.state import FILE
from monitor.app import checks, histories
from monitor.app.reports import Report
from monitor.history.artefacts import write_artefact
from monitor.settings import HistoryFile
from tests.unit.app import installations
from tests.unit.app.installations import NOWHERE, document, served

pytestmark = pytest.mark.slow

SHORT = {"grader_seconds": 0.1}


def check(
    folder: Path, base_url: str = NOWHERE, *, offline: bool = True, **groups: object
) -> Report:
    """What is found in the folder; its name is left out."""
    config = folder / "monitor.yaml"
    config.write_text(json.dumps(document(folder, base_url, **groups)))
    return asyncio.run(checks.check(config, offline=offline))


def problems(found: Report, folder: Path) -> list[str]:
    return [str(problem).replace(f"{folder}/", "") for problem in found.problems]


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    return installations.write_pool(tmp_path)


def test_what_is_fine_is_told(pool: Path) -> None:
    with served() as endpoint:
        found = check(pool, endpoint.base_url, offline=False)
    assert found.problems == found.warnings == []
    assert found.notes == [
        "suite 'arithmetic': 60 items in 4 groups",
        "suite 'arithmetic': history of 40 models",
        "endpoint 'good': answers",
        "endpoint 'bad': answers",
    ]


def test_a_broken_configuration_is_all_that_is_found(tmp_path: Path) -> None:
    found = check(tmp_path, limits={"concurency": 1})
    assert len(found.problems) == 1
    assert "did you mean concurrency?" in found.problems[0].todo


def test_suites_history_credentials_and_endpoints_are_checked_in_one_go(pool: Path) -> None:
    found = check(
        pool,
        offline=False,
        suites=[
            {"path": str(pool / "suite"), "history": [{"file": str(pool / "absent.npz")}]},
            {"path": str(pool / "geometry"), "history": [{"file": str(pool / "neither.npz")}]},
        ],
        credentials={"key": {"file": str(pool / "key")}},
        endpoints={
            "down": {"base_url": NOWHERE, "model": "m"},
            "locked": {"base_url": NOWHERE, "model": "m", "credential": "key"},
        },
    )
    assert [line.split(": ")[0] for line in problems(found, pool)] == [
        "geometry",
        "absent.npz",
        "neither.npz",
        "credentials.key",
        "endpoints.down",
    ]


def test_history_of_other_items_is_a_problem(pool: Path) -> None:
    history = [{"file": str(pool / "history.npz"), "before": "2001-01-01"}]
    found = check(pool, suites=[{"path": str(pool / "suite"), "history": history}])
    (problem,) = problems(found, pool)
    assert problem.startswith("history.npz: holds no outcome for suite 'arithmetic'")


def test_history_of_some_items_is_a_warning(pool: Path) -> None:
    installations.write_history(pool / "history.npz", items=20)
    (warning,) = check(pool).warnings
    assert warning.what == "history covers 20 of 60 items"


def test_history_of_another_suite_is_a_problem(pool: Path) -> None:
    installations.write_foreign_history(pool / "history.npz")
    found = checks.check_history(installations.SUITE, [HistoryFile(file=pool / "history.npz")])
    assert [problem.what for problem in found.problems] == [
        "holds no outcome for suite 'arithmetic' that may be used"
    ]


def test_no_history_is_a_warning(pool: Path) -> None:
    (warning,) = check(pool, suites=[{"path": str(pool / "suite")}]).warnings
    assert warning.what.startswith("has no history")


def test_a_surrogate_is_as_good_as_history_once_it_was_asked(pool: Path) -> None:
    surrogate = {"endpoints": ["bad"]}
    found = check(pool, suites=[{"path": str(pool / "suite"), "surrogate": surrogate}])
    assert [warning.what for warning in found.warnings] == ["has not been asked"]


def fit_guide(pool: Path, exclude: str = "") -> list[dict[str, object]]:
    """Write `guide.safetensors`; returns the suites that name it."""
    file = HistoryFile(file=pool / "history.npz", exclude=(exclude,))
    artefact = histories.prepare(installations.SUITE, [file], software="test")
    write_artefact(pool / "guide.safetensors", artefact)
    return [{"path": str(pool / "suite"), "guide": str(pool / "guide.safetensors")}]


def test_a_fitted_guide_is_history_enough(pool: Path) -> None:
    found = check(pool, suites=fit_guide(pool, "earlier-0*"))
    assert found.problems == found.warnings == []
    assert found.notes[-1].endswith(", fitted to 30 models")


def test_a_guide_that_cannot_be_used_is_a_problem(pool: Path) -> None:
    suites = fit_guide(pool)
    (pool / "guide.safetensors").write_bytes(b"no guide")
    (problem,) = problems(check(pool, suites=suites), pool)
    assert problem.startswith("guide.safetensors: is no safetensors file")


def test_a_guide_that_knows_a_model_is_a_warning(pool: Path) -> None:
    endpoints = {"one": {"base_url": NOWHERE, "model": "earlier-07"}}
    (warning,) = check(pool, suites=fit_guide(pool), endpoints=endpoints).warnings
    assert warning.where == "endpoints.one"
    assert "has learnt from its model 'earlier-07'" in warning.what


def test_a_damaged_state_is_a_problem(pool: Path) -> None:
    (pool / "state").mkdir()
    (pool / "state" / FILE).write_bytes(b"not a database" * 100)
    (problem,) = problems(check(pool), pool)
    assert problem.startswith("state.directory: state/state.sqlite3: damaged")


OBSTACLES = [
    ({"model": "other"}, "serves good, bad, not other (correct `model`, or deploy it)"),
    ({"model": "good"}, "HTTP 401"),
]


@pytest.mark.parametrize(("own", "text"), OBSTACLES)
def test_an_endpoint_that_cannot_be_used_is_a_problem(
    own: dict[str, str], text: str, pool: Path
) -> None:
    with served(api_key="s3cret-key" if "HTTP" in text else None) as endpoint:
        endpoints = {"one": {"base_url": endpoint.base_url, **own}}
        (problem,) = check(pool, offline=False, endpoints=endpoints).problems
    assert problem.where == "endpoints.one"
    assert text in str(problem)


def test_a_key_that_cannot_be_sent_is_a_problem(pool: Path) -> None:
    (pool / "key").write_text("s3cret with blanks")
    found = check(
        pool,
        offline=False,
        credentials={"key": {"file": str(pool / "key")}},
        endpoints={"one": {"base_url": NOWHERE, "model": "m", "credential": "key"}},
    )
    (problem,) = problems(found, pool)
    assert problem.startswith("endpoints.one, credential: the key holds blanks")


def test_a_pattern_without_end_is_a_problem(pool: Path) -> None:
    (pool / "suite" / "suite.yaml").write_text(
        "name: endless\ngrader: {kind: regex, pattern: '(a+)+$'}\n"
    )
    line = {"id": "1", "input": "?", "target": "a" * 60 + "!"}
    (pool / "suite" / "items.jsonl").write_text(json.dumps(line))
    (problem,) = problems(check(pool, suites=[{"path": str(pool / "suite")}], limits=SHORT), pool)
    assert "takes too long" in problem


def test_a_base_url_that_ends_too_early_is_a_warning(pool: Path) -> None:
    with served() as endpoint:
        early = {"base_url": endpoint.base_url.removesuffix("/v1"), "model": "good"}
        found = check(pool, offline=False, endpoints={"one": early})
    (warning,) = found.warnings
    assert warning.todo == "does base_url lack /v1 at its end?"
    assert found.problems == []
