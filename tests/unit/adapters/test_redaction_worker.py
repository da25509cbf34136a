import io
import json
import sys
from types import SimpleNamespace

import pytest

from monitor.adapters import redaction_worker


def test_patterns_are_applied_one_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    request = {"patterns": ["b+", "x"], "texts": ["abba", "abc x", ""]}
    written = io.BytesIO()
    stdin = SimpleNamespace(buffer=io.BytesIO(json.dumps(request).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=written))
    redaction_worker.main()
    assert json.loads(written.getvalue()) == ["a[redacted]a", "a[redacted]c [redacted]", ""]
