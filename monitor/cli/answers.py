"""The commands of `variant-monitor answers`: arguments in, exit code out."""

from typing import Annotated

import typer

from monitor.cli import options
from monitor.cli.options import ConfigOption, JsonOption, StateOption

app = typer.Typer(help="Look at the texts of answers that were kept, or delete them.")


@app.command("show")
def show(
    evaluation_id: Annotated[
        str, typer.Argument(help="Id of an evaluation, or its beginning; left out, a list.")
    ] = "",
    config: ConfigOption = options.DEFAULT_CONFIG,
    *,
    state: StateOption = None,
    json: JsonOption = False,
) -> None:
    """Show what the versions said, as far as keep_answers of the policies had it kept.

    Answers are kept by the replica that asked, in its own state directory, and for
    kept_answers.days.
    """
    from monitor.cli import kept_answers

    directory = kept_answers.directory(config, state)
    if evaluation_id:
        kept_answers.show(directory, evaluation_id, as_json=json)
    else:
        kept_answers.list_evaluations(directory, as_json=json)


@app.command("delete")
def delete(
    evaluation_id: Annotated[str, typer.Argument(help="Id of the evaluation, or its beginning.")],
    config: ConfigOption = options.DEFAULT_CONFIG,
    *,
    state: StateOption = None,
) -> None:
    """Delete the kept answers of an evaluation for good, before their time."""
    from monitor.cli import kept_answers

    kept_answers.delete(kept_answers.directory(config, state), evaluation_id)
