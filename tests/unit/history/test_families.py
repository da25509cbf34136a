from pathlib import Path

import pytest

from monitor.history import families, outcomes
from monitor.history.outcomes import Pair


@pytest.mark.parametrize(
    "names",
    [
        ("phi-2 T=0.2", "phi-2 T=0.8"),
        ("yi_zero_shot", "Yi_one_shot"),
        ("yi 0-shot", "yi 5-shot"),
        ("gpt-4", "gpt-4+cot T=0.8"),
        ("gpt-4-FC", "gpt-4-FC-Auto"),
        ("o3-mini-high", "o3-mini (low)"),
        ("claude-3-7-sonnet", "claude-3-7-sonnet-thinking-32k"),
        ("llama-fp8@together", "llama@sambanova"),
        ("llama_temperature_0.7", "llama temp=1"),
    ],
)
def test_settings_of_one_model_are_a_family(names: tuple[str, str]) -> None:
    assert families.label_families(names) == (0, 0)


@pytest.mark.parametrize(
    "names",
    [
        ("gpt-4", "gpt-5"),
        ("flan-t5", "flan"),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-08-06"),
        ("llama-7b", "llama-13b"),
        ("run-step-100", "run-step-200"),
        ("T=0.2", "T=0.8"),
    ],
)
def test_models_are_families_of_their_own(names: tuple[str, str]) -> None:
    assert families.label_families(names) == (0, 1)


@pytest.mark.parametrize("kind", sorted(families.SAME_MODEL))
def test_pairs_join_over_any_number_of_steps(kind: str) -> None:
    chain = [Pair(old="d", new="b", kind=kind), Pair(old="a", new="d", kind=kind)]
    assert families.label_families(["a", "b", "c", "d"], chain) == (0, 0, 2, 0)


@pytest.mark.parametrize("kind", ["version", "successor", "finetune"])
def test_a_successor_is_another_model(kind: str) -> None:
    assert families.label_families(["a", "b"], [Pair(old="a", new="b", kind=kind)]) == (0, 1)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("bfcl_v1", 53),
        ("zeroeval", 53),
        ("math500_aime_amc", 72),
        ("cruxeval_repeats", 29),
        ("mmlu_pro_cot", 32),
    ],
)
def test_recorded_families(shared_data: Path, name: str, count: int) -> None:
    matrix = outcomes.read_outcomes(shared_data / "outcomes" / f"{name}.npz")
    assert len(set(families.label_families(matrix.models, matrix.pairs))) == count
