"""The command `variant-monitor evaluate`: arguments in, exit code out."""

from pathlib import Path
from typing import Annotated

import typer

from monitor.cli.options import (
    AtLeastOption,
    BaseUrlOption,
    BeforeOption,
    BudgetOption,
    ExcludeOption,
    JsonOption,
    MethodOption,
    ModelOption,
    PreviousOption,
    SuiteOption,
    ToleranceOption,
)

PriceOption = Annotated[
    str,
    typer.Option(
        metavar="IN/OUT",
        help="USD for a million prompt tokens and for a million completion tokens; left out, what "
        "it costs is not told.",
    ),
]


def evaluate(
    suite: SuiteOption,
    *,
    base_url: BaseUrlOption,
    model: ModelOption,
    variant: Annotated[str, typer.Option(help="Name of the production model.")] = "local",
    version: Annotated[
        str, typer.Option(help="Name of the version; left out, that of the model.")
    ] = "",
    credential_env: Annotated[
        str, typer.Option(metavar="NAME", help="Environment variable that holds the API key.")
    ] = "",
    history: Annotated[
        list[Path] | None, typer.Option(help="Outcomes of earlier models (.npz); repeatable.")
    ] = None,
    before: BeforeOption = "",
    exclude: ExcludeOption = None,
    guide: Annotated[
        Path | None, typer.Option(help="What `history fit` wrote, instead of --history.")
    ] = None,
    budget: BudgetOption = "",
    method: MethodOption = None,
    previous_version: PreviousOption = "",
    tolerance: ToleranceOption = None,
    at_least: AtLeastOption = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Requests in flight at once.")] = 8,
    item_seconds: Annotated[
        float, typer.Option(help="Seconds for one item, retries included.")
    ] = 120.0,
    gate_seconds: Annotated[
        float, typer.Option(help="Seconds that the endpoint may take to answer at all.")
    ] = 60.0,
    state: Annotated[
        Path | None,
        typer.Option(
            help="Keep answers and results in this folder, to go on after an interruption and to "
            "compare with the version before; left out, in a temporary one."
        ),
    ] = None,
    price: PriceOption = "",
    surrogate_url: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="Base URL of a cheap model: it answers every item first, and its answers tell "
            "which items are hard. Give --state, or they are bought again the next time.",
        ),
    ] = "",
    surrogate_model: Annotated[
        str, typer.Option(help="Name of the model at --surrogate-url.")
    ] = "",
    surrogate_credential_env: Annotated[
        str, typer.Option(metavar="NAME", help="Environment variable with the surrogate's API key.")
    ] = "",
    surrogate_samples: Annotated[
        int, typer.Option(min=1, help="Answers of the surrogate to each item.")
    ] = 10,
    surrogate_price: PriceOption = "",
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Print what would be bought and what it costs, and ask nothing."
        ),
    ] = False,
    show_ungraded: Annotated[
        bool,
        typer.Option(
            "--show-ungraded",
            help="Print the answers that got no score, too; with --json, on standard error.",
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Run one evaluation from the shell; the exit code tells the verdict.

    0 MET, 1 NOT_MET, 3 INCONCLUSIVE, 4 FAULTED, 5 CANCELLED. The policy is the default one: 10% of
    the items but at least 100, level 95%, at most 0.02 worse than the version before. Where --state
    keeps no result of a version before, any estimate is MET: without --state, demand --at-least.
    """
    from monitor.cli import evaluation, events, places
    from monitor.domain.errors import UsageError

    if state is not None and not version:
        # The model's name stays the same from one deployment to the next.
        raise UsageError(
            "--state needs --version: what was evaluated under a name is not asked again"
        )
    wanted = events.Wanted(
        variant=variant,
        version=version or model,
        previous_version=previous_version,
        budget=budget,
        method=method,
        tolerance=tolerance,
        at_least=at_least,
    )
    place = places.Place(
        suite=suite,
        base_url=base_url,
        model=model,
        credential_env=credential_env,
        history=tuple(history or ()),
        before=before,
        exclude=tuple(exclude or ()),
        guide=guide,
        limits=places.Limits(
            concurrency=concurrency, item_seconds=item_seconds, gate_seconds=gate_seconds
        ),
        state=state,
        price=price,
        surrogate=places.SurrogatePlace.of(
            base_url=surrogate_url,
            model=surrogate_model,
            credential_env=surrogate_credential_env,
            samples=surrogate_samples,
            price=surrogate_price,
        ),
    )
    if dry_run:
        evaluation.forecast(place, wanted, as_json=json)
        return
    code = evaluation.evaluate(place, wanted, as_json=json, show_ungraded=show_ungraded)
    raise typer.Exit(code)
