import math

import pytest

from monitor.stats.faq_settings import Settings, Variant


def test_alpha_fades_out_from_the_first_draw() -> None:
    settings = Settings(rho=0.5)
    assert [settings.alpha(t, 8) for t in range(1, 6)] == [0.75, 0.5, 0.25, 0.0, 0.0]


def test_beta_grows_from_the_first_draw() -> None:
    settings = Settings(beta0=0.5, gamma=0.5)
    assert [settings.beta(t, 8) for t in range(1, 6)] == [0.125, 0.25, 0.375, 0.5, 0.5]


def test_by_default_nothing_changes_with_time() -> None:
    settings = Settings()
    assert [settings.alpha(t, 3) for t in (1, 2, 3)] == [0.0] * 3
    assert [settings.beta(t, 3) for t in (1, 2, 3)] == [1.0] * 3
    assert not settings.depends_on_size


@pytest.mark.parametrize(
    "settings",
    [Settings(rho=0.1), Settings(gamma=0.1), Settings(variant=Variant.SEQUENTIAL)],
)
def test_schedules_depend_on_the_size(settings: Settings) -> None:
    assert settings.depends_on_size


@pytest.mark.parametrize(
    ("name", "value"),
    [("beta0", -1.0), ("rho", math.nan), ("gamma", math.inf), ("tau", 0.0), ("tau", 1.1)],
)
def test_settings_must_make_sense(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name}: must be"):
        Settings(**{name: value})  # type: ignore[arg-type]
