"""The commands of `variant-monitor surrogate`: arguments in, exit code out."""

from typing import Annotated

import typer

from monitor.cli import options
from monitor.cli.options import ConfigOption, JsonOption

app = typer.Typer(help="Cheap models whose answers tell which items are hard.")

SuitesOption = Annotated[
    list[str] | None,
    typer.Option("--suite", help="Name of a configured suite; repeatable. Left out, all."),
]


@app.command("ask")
def ask(
    config: ConfigOption = options.DEFAULT_CONFIG,
    *,
    suite: SuitesOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be bought, and ask nothing.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Let the surrogates of the suites answer every item, and keep what their answers tell.

    What was bought before is not bought again, however the command ended. Evaluations use the
    signal from then on; a daemon that runs need not be restarted.
    """
    from monitor.cli import passes

    if dry_run:
        passes.forecast(config, suites=tuple(suite or ()), as_json=json)
    else:
        passes.ask(config, suites=tuple(suite or ()), as_json=json)


@app.command("show")
def show(
    config: ConfigOption = options.DEFAULT_CONFIG,
    *,
    suite: SuitesOption = None,
    json: JsonOption = False,
) -> None:
    """Show what the surrogates' answers tell so far; nothing is asked."""
    from monitor.cli import passes

    passes.show(config, suites=tuple(suite or ()), as_json=json)
