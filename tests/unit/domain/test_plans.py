import pytest

from monitor.domain.plans import Strata


@pytest.mark.parametrize(
    ("labels", "draws", "complaint"),
    [
        ((), (), "labels must be"),
        ((0, 2), (1, 1), "labels must be 0 to 1"),
        ((0, 0), (1, 1), "labels must be 0 to 1"),
        ((0, -1), (1,), "labels must be 0 to 0"),
        ((0, 1), (1, 0), "draws must be 1"),
        ((0, 1), (1, 2), "draws must be 1"),
    ],
)
def test_strata_that_cannot_be_drawn_from_are_refused(
    labels: tuple[int, ...], draws: tuple[int, ...], complaint: str
) -> None:
    with pytest.raises(ValueError, match=f"strata: {complaint}"):
        Strata(labels=labels, draws=draws)


def test_a_stratum_may_be_drawn_whole() -> None:
    assert Strata(labels=(1, 0, 1), draws=(1, 2)).draws == (1, 2)
