"""Curves as one HTML file that needs nothing else, not even a network."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TextIO

from plotly import graph_objects, subplots

COLOURS: Final = (
    "#4477aa",
    "#ee6677",
    "#228833",
    "#ccbb44",
    "#aa3377",
    "#66ccee",
    "#bbbbbb",
)
HEIGHT: Final = 380


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Points with an error bar each; the same name has the same colour in every panel."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    errors: Sequence[float] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Curves on one pair of axes, x logarithmic; mark: where a line to compare with is drawn."""

    title: str
    x_title: str
    curves: Sequence[Curve]
    mark: float | None = None


def write_panels(file: TextIO, panels: Sequence[Panel], *, title: str) -> None:
    """Draw the panels below each other."""
    titles = [panel.title for panel in panels]
    figure = subplots.make_subplots(rows=len(panels), subplot_titles=titles)
    names = list(dict.fromkeys(curve.name for panel in panels for curve in panel.curves))
    colours = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(names)}
    for row, panel in enumerate(panels, start=1):
        for curve in panel.curves:
            trace = _trace(curve, colours[curve.name], is_named=row == 1)
            figure.add_trace(trace, row=row, col=1)
        if panel.mark is not None:
            figure.add_hline(panel.mark, row=row, col=1, line_dash="dot", line_color="grey")
        figure.update_xaxes(type="log", title=panel.x_title, row=row, col=1)
    figure.update_layout(title=title, height=HEIGHT * len(panels), template="plotly_white")
    file.write(figure.to_html(include_plotlyjs=True, full_html=True))


def _trace(curve: Curve, colour: str, *, is_named: bool) -> graph_objects.Scatter:
    return graph_objects.Scatter(
        x=list(curve.x),
        y=list(curve.y),
        error_y={"array": list(curve.errors)} if curve.errors else None,
        name=curve.name,
        legendgroup=curve.name,
        showlegend=is_named,
        marker={"color": colour},
        mode="lines+markers",
    )
