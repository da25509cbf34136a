import os
from pathlib import Path

import pytest

from monitor.adapters.embedded import locks
from monitor.domain.errors import StateLocked


def test_the_owner_is_named_to_whoever_comes_second(tmp_path: Path) -> None:
    with (
        locks.own(tmp_path),
        pytest.raises(StateLocked, match=f"in use by process {os.getpid()}, which holds"),
    ):
        locks.own(tmp_path)


def test_an_owner_that_has_not_signed_yet_is_not_named(tmp_path: Path) -> None:
    with locks.own(tmp_path):
        (tmp_path / "state.lock").write_text("", encoding="utf-8")
        with pytest.raises(StateLocked, match="in use by another process"):
            locks.own(tmp_path)


def test_the_lock_is_free_again_when_its_file_is_closed(tmp_path: Path) -> None:
    for _ in range(2):
        with locks.own(tmp_path):
            signed = (tmp_path / "state.lock").read_text(encoding="utf-8")
        assert signed == f"{os.getpid()}\n"


def test_setting_up_and_owning_do_not_exclude_each_other(tmp_path: Path) -> None:
    for _ in range(2):
        with locks.own(tmp_path), locks.set_up(tmp_path):
            pass
