import json
from pathlib import Path

import pytest

from tests.unit.app import installations
from tests.unit.cli.terminal import Terminal


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    # Wide enough that no message is wrapped.
    monkeypatch.setenv("COLUMNS", "300")
    return Terminal(monkeypatch, capsys)


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder, the current one, with `suite`, `history.npz` and `monitor.yaml`."""
    installations.write_pool(tmp_path)
    (tmp_path / "monitor.yaml").write_text(json.dumps(installations.document(tmp_path)))
    monkeypatch.chdir(tmp_path)
    return tmp_path
