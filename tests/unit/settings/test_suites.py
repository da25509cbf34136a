from pathlib import Path

import pytest

from monitor.domain.surrogates import Clustering, SurrogateSettings
from monitor.settings import SuiteSurrogateSettings
from monitor.stats import stratification
from tests.unit.settings.test_groups import load, problems

SMALL = "endpoints: {small: {base_url: http://small:8000/v1, model: m}}\n"


def with_surrogate(text: str) -> str:
    return f"suites:\n  - path: suites/faq\n    surrogate: {{{text}}}\n{SMALL}"


def test_left_out_it_is_what_the_statistics_recommend() -> None:
    usual = SuiteSurrogateSettings(endpoints=("small",))
    assert usual.asking() == SurrogateSettings()
    strata = {name: getattr(usual, name) for name in stratification.Settings.__slots__}
    assert stratification.Settings(**strata) == stratification.Settings()


def test_everything_can_be_said(tmp_path: Path) -> None:
    text = "endpoints: [small], samples: 5, clustering: judge, judge: small, revision: b"
    own = load(tmp_path, with_surrogate(text)).suites[0].surrogate
    assert own is not None
    assert (own.judge, own.endpoints) == ("small", ("small",))
    assert own.asking() == SurrogateSettings(samples=5, clustering=Clustering.JUDGE, revision="b")


def test_signals_are_in_the_state_directory_or_where_it_is_said(tmp_path: Path) -> None:
    text = with_surrogate("endpoints: [small]")
    assert load(tmp_path, text).surrogates_directory == tmp_path / "state/surrogates"
    elsewhere = load(tmp_path, text + "surrogates: {directory: mounted}\n")
    assert elsewhere.surrogates_directory == tmp_path / "mounted"


MISTAKES = [
    ("endpoints: [smal]", "smal is not among `endpoints` (did you mean small?)"),
    ("endpoints: [small, small]", "names a surrogate twice"),
    ("endpoints: []", "endpoints"),
    ("endpoints: [small], clustering: judge", "needs judge with clustering judge"),
    ("endpoints: [small], judge: small", "needs judge with clustering judge, and with no other"),
    (
        "endpoints: [small], clustering: judge, judge: big",
        "judge: big is not among `endpoints`",
    ),
    ("endpoints: [small], clustering: entailment", "needs entailment_model with clustering"),
    ("endpoints: [small], samples: 0", "samples"),
    ("endpoints: [small], sample: 1", "did you mean samples?"),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_a_mistake_is_told_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    (found,) = problems(tmp_path, with_surrogate(text))
    assert found.startswith("monitor.yaml:3: ")
    assert message in found
