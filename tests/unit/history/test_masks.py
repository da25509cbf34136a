import numpy as np
import pytest

from monitor.domain import errors
from monitor.history import masks
from monitor.history.masks import Mask

WHOLE = np.ones((40, 500))


@pytest.mark.parametrize(
    ("written", "mask"),
    [
        ("0.1%", Mask(full_rows=0, share=0.001)),
        ("200:10%", Mask(full_rows=200, share=0.1)),
        ("0:100%", Mask(full_rows=0, share=1.0)),
    ],
)
def test_masks_are_read_as_in_the_paper(written: str, mask: Mask) -> None:
    assert masks.parse_mask(written) == mask


@pytest.mark.parametrize("written", ["", "10", "101%", "-1%", "x:10%", "1:2:3%", "1e-3%"])
def test_other_spellings_are_refused(written: str) -> None:
    with pytest.raises(errors.UsageError, match=r'must be a share of all cells such as "0\.1%"'):
        masks.parse_mask(written)


def test_full_rows_stay_full() -> None:
    left = masks.apply_mask(WHOLE, Mask(full_rows=7, share=0.1), seed=3)
    full = (~np.isnan(left)).all(axis=1)
    assert full.sum() == 7
    assert (~np.isnan(left[~full])).mean() == pytest.approx(0.1, abs=0.01)


def test_more_full_rows_than_there_are_keep_all() -> None:
    left = masks.apply_mask(WHOLE, Mask(full_rows=41, share=0.0), seed=3)
    np.testing.assert_array_equal(left, WHOLE)


def test_the_seed_settles_what_is_kept() -> None:
    kept = [masks.apply_mask(WHOLE, Mask(full_rows=2, share=0.3), seed=seed) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(kept[0], kept[1])
    assert (np.isnan(kept[0]) != np.isnan(kept[2])).any()
