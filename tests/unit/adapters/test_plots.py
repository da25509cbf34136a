from pathlib import Path

import pytest

from monitor.adapters.plots import Curve, Panel, write_panels
from monitor.domain.errors import UsageError

PANELS = [
    Panel(
        title="coverage",
        x_title="draws",
        curves=[Curve(name="simple", x=[30, 60], y=[0.94, 0.96], errors=[0.01, 0.02])],
        mark=0.95,
    ),
    Panel(title="width", x_title="draws", curves=[Curve(name="simple", x=[30], y=[0.3])]),
]


def test_a_plot_is_one_document_that_loads_nothing(tmp_path: Path) -> None:
    write_panels(tmp_path / "plot.html", PANELS, title="outcomes.npz")
    document = (tmp_path / "plot.html").read_text(encoding="utf-8")
    assert document.startswith("<!doctype html>")
    assert "<script src=" not in document
    assert all(text in document for text in ("outcomes.npz", "coverage", "simple", "0.94"))


def test_a_plot_that_cannot_be_written_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"absent/plot\.html: cannot be written: No such file"):
        write_panels(tmp_path / "absent" / "plot.html", PANELS, title="t")
