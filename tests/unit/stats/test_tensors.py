import importlib.util

import pytest
import torch

from monitor.stats import tensors


def test_the_device_is_the_cpu_where_there_is_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert tensors.device("auto").type == "cpu"


def test_the_device_is_cuda_where_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    assert tensors.device("auto").type == "cuda"
    assert tensors.device("cpu").type == "cpu"


def test_cuda_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(ValueError, match="no CUDA device; use auto or cpu"):
        tensors.device("cuda:0")


def test_a_device_must_exist() -> None:
    with pytest.raises(ValueError, match="must be auto, cpu or cuda, not 'abacus'"):
        tensors.device("abacus")


def test_one_thread_is_for_a_while() -> None:
    before = torch.get_num_threads()
    with tensors.one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


def test_without_torch_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'model-variant-monitor\[torch\]'"):
        tensors.device("auto")
