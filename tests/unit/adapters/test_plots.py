import io

from monitor.adapters.plots import Curve, Panel, write_panels

PANELS = [
    Panel(
        title="coverage",
        x_title="draws",
        curves=[Curve(name="simple", x=[30, 60], y=[0.94, 0.96], errors=[0.01, 0.02])],
        mark=0.95,
    ),
    Panel(title="width", x_title="draws", curves=[Curve(name="simple", x=[30], y=[0.3])]),
]


def test_a_plot_is_one_document_that_loads_nothing() -> None:
    file = io.StringIO()
    write_panels(file, PANELS, title="outcomes.npz")
    document = file.getvalue()
    assert document.startswith("<!doctype html>")
    assert "<script src=" not in document
    assert all(text in document for text in ("outcomes.npz", "coverage", "simple", "0.94"))
