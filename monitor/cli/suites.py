"""`variant-monitor suite ...`: every command's options, and where it goes from there."""

from pathlib import Path
from typing import Annotated

import typer

from monitor.cli.options import JsonOption, SuiteArgument
from monitor.wire.imports.readings import Format

app = typer.Typer(help="Check suites, or make them: import one, or write an example.")


@app.command("check")
def check(suite: SuiteArgument, *, json: JsonOption = False) -> None:
    """Check a suite, and grade each target against itself.

    Exit code 0: it can be used. Exit code 2: it cannot.
    """
    from monitor.cli import checks

    raise typer.Exit(checks.check_suite(suite, as_json=json))


@app.command("import")
def import_(
    files: Annotated[list[Path], typer.Argument(help="Files to import; together, one suite.")],
    *,
    out: Annotated[Path, typer.Option(help="Folder to write the suite to.")],
    format: Annotated[  # noqa: A002 - the name of the option
        Format | None, typer.Option(help="Format of the files; left out, found out.")
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the suite; by default as the file.")] = "",
    grader: Annotated[
        str,
        typer.Option(
            metavar="KIND|{kind: ...}",
            help="Grader of all items; left out, theirs or a fitting one.",
        ),
    ] = "",
    column: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD=COLUMN", help="Column (or variable) of a field; repeatable."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Make a suite of another tool's: Inspect, lm-evaluation-harness, promptfoo, or a table.

    Exit code 0: every record is in it. 1: some are left out, and told. 2: nothing is written.
    """
    from monitor.cli import imports

    raise typer.Exit(
        imports.import_suite(
            files,
            out,
            file_format=format,
            name=name,
            grader=grader,
            columns=column or (),
            as_json=json,
        )
    )


@app.command("example")
def example(
    folder: Annotated[Path, typer.Argument(help="Folder to write the suite to.")],
) -> None:
    """Write a suite of arithmetic questions, and a history for it, to start from."""
    from monitor.cli import simulation

    simulation.write_example(folder)


@app.command("record")
def record(
    outcomes: Annotated[Path, typer.Argument(help="Recorded outcomes (.npz).")],
    folder: Annotated[Path, typer.Argument(help="Folder to write the suite to.")],
    *,
    name: Annotated[str, typer.Option(help="Name of the suite.")] = "recorded",
) -> None:
    """Write a suite with one item per recorded column, for `simulate-endpoint --outcomes`."""
    from monitor.cli import simulation

    simulation.write_recorded_suite(outcomes, folder, name=name)
