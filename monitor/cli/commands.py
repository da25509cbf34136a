"""The command line: every command's options, and where it goes from there."""

from pathlib import Path
from typing import Annotated

import typer

from monitor.cli import options
from monitor.cli.options import (
    AtLeastOption,
    BaseUrlOption,
    BudgetOption,
    ConfigOption,
    JsonOption,
    MethodOption,
    ModelOption,
    PreviousOption,
    SuiteFolder,
    ToleranceOption,
    VariantOption,
    VersionOption,
)

app = typer.Typer(
    help="Watches production model variants with few, well-chosen queries and honest intervals.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
suite_app = typer.Typer(help="Check suites, and make them from recorded outcomes.")
app.add_typer(suite_app, name="suite", no_args_is_help=True)


@app.callback(invoke_without_command=True)
def root(
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"variant-monitor {installed('model-variant-monitor')}")
        raise typer.Exit


@app.command()
def demo(
    *,
    json: JsonOption = False,
    keep: Annotated[bool, typer.Option(help="Go on serving the status page.")] = False,
    state: Annotated[
        Path | None, typer.Option(help="Keep the state here instead of a temporary folder.")
    ] = None,
) -> None:
    """Show everything in one process: no broker, no network, nothing to prepare."""
    from monitor.cli import demonstration

    demonstration.run(as_json=json, keep=keep, state=state)


@app.command()
def run(config: ConfigOption = options.DEFAULT_CONFIG) -> None:
    """Run the daemon until SIGTERM or SIGINT."""
    from monitor.cli import service

    service.run(config)


@app.command()
def check(
    config: ConfigOption = options.DEFAULT_CONFIG,
    *,
    offline: Annotated[bool, typer.Option(help="Ask no endpoint.")] = False,
    json: JsonOption = False,
) -> None:
    """Validate configuration, suites, history and endpoints; say what is wrong where."""
    from monitor.cli import checks

    raise typer.Exit(checks.check(config, offline=offline, as_json=json))


@app.command()
def submit(
    config: ConfigOption = options.DEFAULT_CONFIG,
    *,
    file: Annotated[
        Path | None, typer.Option(help="A CloudEvent as JSON; - for standard input.")
    ] = None,
    variant: VariantOption = "",
    version: VersionOption = "",
    endpoint: Annotated[str, typer.Option(help="Name of a configured endpoint.")] = "",
    base_url: BaseUrlOption = "",
    model: ModelOption = "",
    credential: Annotated[str, typer.Option(help="Name of a configured credential.")] = "",
    previous_version: PreviousOption = "",
    suite: Annotated[list[str] | None, typer.Option(help="Only this suite; repeatable.")] = None,
    budget: BudgetOption = "",
    method: MethodOption = "",
    tolerance: ToleranceOption | None = None,
    at_least: AtLeastOption | None = None,
    event_id: Annotated[str, typer.Option(help="CloudEvents id; a new one by default.")] = "",
    requested: Annotated[bool, typer.Option(help="Ask again for a version.")] = False,
    withdrawn: Annotated[bool, typer.Option(help="Announce that it is gone.")] = False,
    wait: Annotated[float | None, typer.Option(help="Wait so many seconds for the result.")] = None,
    json: JsonOption = False,
) -> None:
    """Publish a version event."""
    from monitor.cli import events, submission

    wanted = events.Wanted(
        variant=variant,
        version=version,
        endpoint=endpoint,
        base_url=base_url,
        model=model,
        credential=credential,
        previous_version=previous_version,
        suites=tuple(suite or ()),
        budget=budget,
        method=method,
        tolerance=tolerance,
        at_least=at_least,
        event_id=event_id,
        requested=requested,
        withdrawn=withdrawn,
    )
    raise typer.Exit(submission.submit(config, wanted, file=file, wait=wait, as_json=json))


@app.command()
def evaluate(
    suite: Annotated[Path, typer.Option(help="Folder of the suite, or its suite.yaml.")],
    *,
    base_url: BaseUrlOption,
    model: ModelOption,
    variant: VariantOption = "local",
    version: VersionOption = "",
    credential_env: Annotated[
        str, typer.Option(help="Environment variable that holds the API key.")
    ] = "",
    history: Annotated[
        list[Path] | None, typer.Option(help="Outcomes of earlier models (.npz); repeatable.")
    ] = None,
    before: Annotated[str, typer.Option(help="Only history before this day.")] = "",
    exclude: Annotated[
        list[str] | None, typer.Option(help="Pattern of models to leave out; repeatable.")
    ] = None,
    budget: BudgetOption = "",
    method: MethodOption = "",
    previous_version: PreviousOption = "",
    tolerance: ToleranceOption | None = None,
    at_least: AtLeastOption | None = None,
    concurrency: Annotated[int, typer.Option(help="Requests in flight at once.")] = 8,
    item_seconds: Annotated[float, typer.Option(help="For one item, retries included.")] = 120.0,
    state: Annotated[
        Path | None,
        typer.Option(help="Keep results here: to resume, and to compare with the version before."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Run one evaluation from the shell; the exit code tells the verdict."""
    from monitor.cli import evaluation, events

    wanted = events.Wanted(
        variant=variant,
        version=version or model,
        endpoint=evaluation.ENDPOINT,
        previous_version=previous_version,
        budget=budget,
        method=method,
        tolerance=tolerance,
        at_least=at_least,
    )
    place = evaluation.Place(
        suite=suite,
        base_url=base_url,
        model=model,
        credential_env=credential_env,
        history=tuple(history or ()),
        before=before,
        exclude=tuple(exclude or ()),
        concurrency=concurrency,
        item_seconds=item_seconds,
        state=state,
    )
    raise typer.Exit(evaluation.evaluate(place, wanted, as_json=json))


@app.command()
def replay(
    evaluation_id: Annotated[str, typer.Argument(help="Id of a published result.")],
    config: ConfigOption = options.DEFAULT_CONFIG,
    *,
    state: Annotated[
        Path | None, typer.Option(help="State directory, instead of a configuration.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Recompute a published result from its record; it must agree to the byte."""
    from monitor.cli import replays

    replays.replay(evaluation_id, config, state=state, as_json=json)


@app.command("simulate-endpoint")
def simulate_endpoint(
    suite: Annotated[Path, typer.Option(help="Folder of the suite, or its suite.yaml.")],
    *,
    outcomes: Annotated[
        Path | None, typer.Option(help="Recorded outcomes (.npz): every row is a model.")
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="NAME=ACCURACY or NAME=ACCURACY:VERSION_OF; repeatable."),
    ] = None,
    knobs: Annotated[str, typer.Option(help="Latency and faults, as JSON.")] = "{}",
    seed: Annotated[int, typer.Option(help="Of the simulated models.")] = 0,
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 takes a free one.")] = 8100,
    api_key_env: Annotated[
        str, typer.Option(help="Environment variable with the key that requests must carry.")
    ] = "",
) -> None:
    """Serve an OpenAI-compatible endpoint whose answers are known in advance."""
    from monitor.cli import simulation

    simulation.serve(
        simulation.Offer(
            suite=suite, outcomes=outcomes, models=tuple(model or ()), knobs=knobs, seed=seed
        ),
        simulation.Listener(host=host, port=port, api_key_env=api_key_env),
    )


@suite_app.command("check")
def suite_check(suite: SuiteFolder, *, json: JsonOption = False) -> None:
    """Validate a suite, and grade each target against itself."""
    from monitor.cli import checks

    raise typer.Exit(checks.check_suite(suite, as_json=json))


@suite_app.command("record")
def suite_record(
    outcomes: Annotated[Path, typer.Argument(help="Recorded outcomes (.npz).")],
    folder: Annotated[Path, typer.Argument(help="Folder to write the suite to.")],
    *,
    name: Annotated[str, typer.Option(help="Name of the suite.")] = "recorded",
) -> None:
    """Write a suite with one item per recorded column, for `simulate-endpoint --outcomes`."""
    from monitor.cli import simulation

    simulation.write_recorded_suite(outcomes, folder, name=name)
