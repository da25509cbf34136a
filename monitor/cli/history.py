"""The commands of `variant-monitor history`: arguments in, exit code out."""

from pathlib import Path
from typing import Annotated

import typer

from monitor.cli.options import BeforeOption, ExcludeOption, JsonOption, SuiteOption

app = typer.Typer(help="Learn from outcomes of earlier models, for daemons that do not have them.")


@app.callback()
def root() -> None:
    """Without it a group of one command would be that command."""


@app.command("fit")
def fit(
    suite: SuiteOption,
    *,
    outcomes: Annotated[
        list[Path], typer.Option(help="Outcomes of earlier models (.npz); repeatable.")
    ],
    out: Annotated[Path, typer.Option(help="File to write, such as guide.safetensors.")],
    before: BeforeOption = "",
    exclude: ExcludeOption = None,
    json: JsonOption = False,
) -> None:
    """Choose a guide by replays of models that are left out, fit it to all, and write it to a file.

    The daemon uses it where the suite's settings name it as `guide`, and `evaluate` by --guide.
    Leave out what will be watched: a guide is not used for a model that it has learnt from.
    """
    from monitor.cli import fits

    wanted = fits.Wanted(
        suite=suite,
        outcomes=tuple(outcomes),
        before=before,
        exclude=tuple(exclude or ()),
        out=out,
    )
    fits.fit(wanted, as_json=json)
