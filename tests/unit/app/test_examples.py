from pathlib import Path

import pytest

from monitor.app.examples import write_history
from monitor.domain.errors import UsageError
from monitor.history.outcomes import read_outcomes
from tests.unit.app import installations


def test_every_item_has_a_column(tmp_path: Path) -> None:
    write_history(installations.SUITE, tmp_path / "made.npz", seed=1)
    found = read_outcomes(tmp_path / "made.npz")
    assert list(found.items) == installations.ITEMS
    assert len(found.models) == len(found.dates) == 40


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot be written: Is a directory; name another"):
        write_history(installations.SUITE, tmp_path, seed=1)
