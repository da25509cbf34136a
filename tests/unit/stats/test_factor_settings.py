import numpy as np
import pytest

from monitor.stats.factor_settings import FactorSettings


@pytest.mark.parametrize(
    ("name", "value"),
    [("k", 0), ("decay", -1.0), ("decay", np.inf), ("learning_rate", np.nan), ("steps", 0)],
)
def test_settings_must_make_sense(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name}: must be a finite number >="):
        FactorSettings(**{"k": 2, "decay": 1.0, name: value})  # type: ignore[arg-type]
