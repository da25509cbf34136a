"""The command line: every command's options, and where it goes from there."""

from pathlib import Path
from typing import Annotated

import typer

from monitor.cli import (
    answers as answer_commands,
    backtest,
    evaluate,
    history as history_commands,
    options,
    suites as suite_commands,
    surrogates as surrogate_commands,
)
from monitor.cli.options import (
    AtLeastOption,
    BaseUrlOption,
    BudgetOption,
    ConfigOption,
    JsonOption,
    MethodOption,
    ModelOption,
    PreviousOption,
    StateOption,
    SuiteOption,
    ToleranceOption,
    VersionOption,
)

app = typer.Typer(
    help="Watches production model variants with few, well-chosen queries and honest intervals.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(suite_commands.app, name="suite", no_args_is_help=True)
app.add_typer(history_commands.app, name="history", no_args_is_help=True)
app.add_typer(answer_commands.app, name="answers", no_args_is_help=True)
app.add_typer(surrogate_commands.app, name="surrogate", no_args_is_help=True)
app.command()(backtest.backtest)
app.command()(evaluate.evaluate)
topics_app = typer.Typer(help="Make the topics on Kafka.")
app.add_typer(topics_app, name="topics", no_args_is_help=True)


@app.callback(invoke_without_command=True)
def root(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version of this program and exit.")
    ] = False,
) -> None:
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"variant-monitor {installed('model-variant-monitor')}")
        raise typer.Exit


@app.command()
def demo(
    *,
    json: JsonOption = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Go on serving metrics and status page until Ctrl-C.")
    ] = False,
    state: Annotated[
        Path | None,
        typer.Option(help="Keep everything in this folder; left out, in a temporary one."),
    ] = None,
    suite: Annotated[
        Path | None, typer.Option(help="Ask this suite; left out, arithmetic is made up.")
    ] = None,
) -> None:
    """Show everything in one process: no broker, no network, nothing to prepare."""
    from monitor.cli import demonstration

    demonstration.run(as_json=json, keep=keep, state=state, suite=suite)


@app.command()
def run(config: ConfigOption = options.DEFAULT_CONFIG) -> None:
    """Run the daemon until SIGTERM or SIGINT."""
    from monitor.cli import service

    service.run(config)


@app.command()
def check(
    config: ConfigOption = options.DEFAULT_CONFIG,
    *,
    offline: Annotated[bool, typer.Option("--offline", help="Do not ask the endpoints.")] = False,
    json: JsonOption = False,
) -> None:
    """Check configuration, suites, history, credentials, endpoints; say what is wrong where.

    Exit code 0: the daemon can be started; there may be warnings. Exit code 2: it cannot.
    """
    from monitor.cli import checks

    raise typer.Exit(checks.check(config, offline=offline, as_json=json))


@app.command()
def submit(
    config: ConfigOption = options.DEFAULT_CONFIG,
    *,
    file: Annotated[
        Path | None,
        typer.Option(help="Send this CloudEvent, a JSON file; - reads standard input."),
    ] = None,
    variant: Annotated[str, typer.Option(help="Name of the production model.")] = "",
    version: VersionOption = "",
    endpoint: Annotated[
        str, typer.Option(help="Name of the configured endpoint where the version answers.")
    ] = "",
    base_url: BaseUrlOption = "",
    model: ModelOption = "",
    credential: Annotated[
        str, typer.Option(help="Name of the configured credential for --base-url.")
    ] = "",
    previous_version: PreviousOption = "",
    suite: Annotated[
        list[str] | None,
        typer.Option(help="Evaluate on this suite alone; repeatable. Left out, on every one."),
    ] = None,
    budget: BudgetOption = "",
    method: MethodOption = None,
    tolerance: ToleranceOption = None,
    at_least: AtLeastOption = None,
    event_id: Annotated[
        str, typer.Option(help="Id of the event; the same id again buys nothing. By default new.")
    ] = "",
    requested: Annotated[
        bool, typer.Option("--requested", help="Ask for an evaluation of a version again.")
    ] = False,
    withdrawn: Annotated[
        bool, typer.Option("--withdrawn", help="Announce that the version is gone.")
    ] = False,
    wait: Annotated[
        float | None,
        typer.Option(
            min=0.0, help="Wait at most so many seconds for the result; exit by its verdict."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Announce a version to the daemon, which may run or be started later.

    What the daemon would refuse is refused here. With --wait the exit code tells the verdict:
    0 MET, 1 NOT_MET, 3 INCONCLUSIVE, 4 FAULTED, 5 CANCELLED.
    """
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
def replay(
    evaluation_id: Annotated[
        str,
        typer.Argument(help="Id of a published result, or its beginning on the embedded bus."),
    ],
    config: ConfigOption = options.DEFAULT_CONFIG,
    *,
    state: StateOption = None,
    json: JsonOption = False,
) -> None:
    """Recompute a published result from its record; it must agree to the byte.

    Exit code 0: it agrees. Exit code 6: it does not.
    """
    from monitor.cli import replays

    replays.replay(evaluation_id, config, state=state, as_json=json)


@app.command()
def results(
    evaluation_id: Annotated[
        str, typer.Argument(help="Show this one: an id or its beginning; left out, a list.")
    ] = "",
    config: ConfigOption = options.DEFAULT_CONFIG,
    *,
    variant: Annotated[str, typer.Option(help="List those of this variant alone.")] = "",
    limit: Annotated[int, typer.Option(min=1, help="List so many at most.")] = 20,
    state: StateOption = None,
    json: JsonOption = False,
) -> None:
    """List the newest published results of the embedded bus, or show one of them."""
    from monitor.cli import lookups

    place = lookups.place(config, state)
    if evaluation_id:
        lookups.show_result(place, evaluation_id, as_json=json)
    else:
        lookups.list_results(place, variant=variant, limit=limit, as_json=json)


@app.command("dead-letters")
def dead_letters(
    config: ConfigOption = options.DEFAULT_CONFIG,
    *,
    show: Annotated[
        int | None, typer.Option(metavar="NO.", help="Print the value of this one as it was sent.")
    ] = None,
    state: StateOption = None,
    json: JsonOption = False,
) -> None:
    """List the events of the embedded bus that were put aside, and why."""
    from monitor.cli import lookups

    place = lookups.place(config, state)
    if show is None:
        lookups.list_dead_letters(place, as_json=json)
    else:
        lookups.show_dead_letter(place, show)


@app.command("simulate-endpoint")
def simulate_endpoint(
    suite: SuiteOption,
    *,
    outcomes: Annotated[
        Path | None, typer.Option(help="Serve recorded outcomes (.npz): every row is a model.")
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=ACCURACY[:VERSION_OF]",
            help="Serve a made-up model, or a version of an earlier one; repeatable.",
        ),
    ] = None,
    knobs: Annotated[str, typer.Option(metavar="JSON", help="Latency and faults.")] = "{}",
    seed: Annotated[int, typer.Option(help="Seed of the made-up models.")] = 0,
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen at; 0 takes a free one.")
    ] = 8100,
    api_key_env: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Environment variable with the key that requests must carry."
        ),
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


@topics_app.command("create")
def topics_create(
    config: ConfigOption = options.DEFAULT_CONFIG,
    *,
    partitions: Annotated[
        int, typer.Option(min=1, help="Of requests and journal; replicas beyond it are idle.")
    ] = 4,
    replication: Annotated[
        int, typer.Option(help="Copies of each partition; -1 takes the brokers' default.")
    ] = -1,
) -> None:
    """Make the topics that are missing; those that are there stay as they are."""
    from monitor.cli import topics

    topics.create(config, partitions=partitions, replication=replication)
