"""The way to torch, which is an extra: only factor models and FAQ need it, and a GPU is optional.

Modules that import torch at their top are imported inside the functions that need them, after
`require`. Everything else works without it.
"""

import contextlib
import importlib.util
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def require() -> None:
    """Check that torch can be imported.

    Raises:
        ModuleNotFoundError: it cannot; the message says what to install.
    """
    if importlib.util.find_spec("torch") is None:
        raise ModuleNotFoundError(
            "factor models need torch, which is not installed: "
            "pip install 'model-variant-monitor[torch]'",
            name="torch",
        )


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let torch compute on one core: rounding then does not depend on how many there are.

    Many small operations are also faster that way, by far where other processes want the cores.
    """
    import torch  # noqa: PLC0415 - an extra

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def device(name: str) -> "torch.device":
    """Return the device of this name; `auto` is CUDA where there is one, else the CPU.

    Raises:
        ValueError: no such device on this machine.
    """
    require()
    import torch  # noqa: PLC0415 - an extra

    cuda = torch.cuda.is_available()
    if name == "auto":
        return torch.device("cuda" if cuda else "cpu")
    if name.startswith("cuda") and not cuda:
        raise ValueError(f"device: {name}, but torch sees no CUDA device; use auto or cpu")
    try:
        return torch.device(name)
    except RuntimeError:
        raise ValueError(f"device: must be auto, cpu or cuda, not {name!r}") from None
