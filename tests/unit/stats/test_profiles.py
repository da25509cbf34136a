import numpy as np
import pytest

from monitor.stats.profiles import Profile

PROFILE = Profile(starts=np.array([0.0, 4.0, 10.0]), levels=np.array([3.0, 2.0, 1.0]))


def test_levels_hold_until_the_next_start() -> None:
    assert PROFILE.at(12).tolist() == [3.0] * 4 + [2.0] * 6 + [1.0] * 2


def test_the_last_level_holds_for_ever() -> None:
    assert PROFILE.at(1000)[-1] == 1.0


def test_what_rises_by_chance_is_levelled() -> None:
    found = Profile.smoothed(
        starts=np.array([0.0, 4.0, 8.0]),
        levels=np.array([3.0, 1.0, 2.0]),
        sizes=np.array([4.0, 4.0, 12.0]),
    )
    assert found.levels.tolist() == [3.0, 1.75, 1.75]


def test_no_level_vanishes() -> None:
    found = Profile.smoothed(
        starts=np.array([0.0, 4.0]), levels=np.array([2.0, 0.0]), sizes=np.array([4.0, 4.0])
    )
    assert found.levels[1] > 0.0


def test_a_stored_profile_is_the_profile() -> None:
    again = Profile.from_columns(PROFILE.columns())
    assert again.at(20).tolist() == PROFILE.at(20).tolist()


@pytest.mark.parametrize(
    ("name", "values", "match"),
    [
        ("starts", [1.0, 4.0, 10.0], "begin with 0"),
        ("starts", [0.0, 4.0, 4.0], "rise"),
        ("starts", [0.0, 4.0], "shape"),
        ("levels", [3.0, 2.0, 0.0], "positive"),
        ("levels", [1.0, 2.0, 3.0], "never rise"),
    ],
)
def test_columns_that_are_no_profile_are_refused(
    name: str, values: list[float], match: str
) -> None:
    with pytest.raises(ValueError, match=match):
        Profile.from_columns({**PROFILE.columns(), name: np.array(values)})


def test_an_empty_profile_is_refused() -> None:
    with pytest.raises(ValueError, match="begin with 0"):
        Profile.from_columns({"starts": np.empty(0), "levels": np.empty(0)})
