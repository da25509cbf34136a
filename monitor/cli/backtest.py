"""The command `variant-monitor backtest`: arguments in, exit code out."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from monitor.cli.options import JsonOption


def backtest(
    *,
    outcomes: Annotated[Path, typer.Option(help="Recorded outcomes (.npz): every row is a model.")],
    split: Annotated[
        Literal["date", "model", "pairs"],
        typer.Option(
            help="Who is evaluated: the newer half by the older; each model by those of other "
            "folds; or the newer versions of named pairs by what is not newer.",
        ),
    ] = "date",
    designs: Annotated[
        str,
        typer.Option(
            metavar="NAME,...",
            help="How items are chosen: simple, with_replacement (FAQ as published), "
            "without_replacement (as the daemon does), faq_sequential, faq_without_replacement; by "
            "a surrogate: stratified, stratified_published, stratified_proportional, "
            "stratified_equal, stratified_oracle, lure; stratified_history.",
        ),
    ] = "simple,without_replacement",
    budgets: Annotated[
        str, typer.Option(metavar="COUNT|SHARE,...", help="How many items to draw.")
    ] = "30,60,5%,10%,25%",
    runs: Annotated[int, typer.Option(min=1, help="Evaluations of each target and design.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all chance.")] = 0,
    level: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95,
    observed: Annotated[
        str,
        typer.Option(
            metavar="SHARE|ROWS:SHARE",
            help='Keep only such a share of the history\'s cells, as "0.1%", or so many full rows '
            'and a share of the other cells, as "200:10%".',
        ),
    ] = "",
    factors: Annotated[
        Path | None,
        typer.Option(
            help="Use this factor model (.npz with U and V) instead of fitting one; every row of "
            "the outcomes is then a target."
        ),
    ] = None,
    surrogate: Annotated[
        str,
        typer.Option(
            metavar="row:MODEL,...|auto|auto:COUNT|FILE.npz",
            help="Whose answers tell which items are hard: rows of the outcomes, averaged; every "
            "row in turn, or averages of so many; or arrays entropy, consistency, single.",
        ),
    ] = "",
    shuffled: Annotated[
        bool,
        typer.Option("--shuffled", help="Give the surrogate's signal to the items at random."),
    ] = False,
    same_prefix: Annotated[
        int,
        typer.Option(
            min=0,
            help="Take no surrogate whose name begins with so many characters of the target's.",
        ),
    ] = 0,
    strata: Annotated[
        int | None, typer.Option(min=1, help="Of stratified designs: number of strata.")
    ] = None,
    smoothing: Annotated[
        float | None,
        typer.Option(help="Of stratified designs: how evenly draws are allocated."),
    ] = None,
    scores: Annotated[
        Literal["outcomes", "first"],
        typer.Option(
            help="What targets are evaluated on: their outcomes, or their first recorded answer "
            "to each item, where the file has them."
        ),
    ] = "outcomes",
    complete: Annotated[
        bool, typer.Option("--complete", help="Leave out targets that lack an outcome.")
    ] = False,
    beta0: Annotated[float, typer.Option(help="Of FAQ: exponent of the scores.")] = 1.0,
    rho: Annotated[float, typer.Option(help="Of FAQ: share of draws with the active score.")] = 0.0,
    gamma: Annotated[
        float, typer.Option(help="Of FAQ: share of draws over which the exponent grows.")
    ] = 0.0,
    tau: Annotated[
        float, typer.Option(help="Of FAQ: share of the probability that is spread evenly.")
    ] = 0.25,
    records: Annotated[
        Path | None, typer.Option(help="Write a line of JSON for every evaluation to this file.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the results into this HTML file.")] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Worker processes; left out, one for each core.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Replay evaluations of recorded models: does the interval cover, and what is a draw worth.

    No model is evaluated with the help of its own outcomes, nor of those of the same model at
    another prompt, temperature, effort or host. The same seed gives the same records.
    """
    from monitor.cli import backtests

    wanted = backtests.Request(
        outcomes=outcomes,
        split=split,
        designs=designs,
        budgets=budgets,
        runs=runs,
        seed=seed,
        level=level,
        observed=observed,
        factors=factors,
        surrogate=surrogate,
        shuffled=shuffled,
        same_prefix=same_prefix,
        strata=strata,
        smoothing=smoothing,
        scores=scores,
        complete=complete,
        paper={"beta0": beta0, "rho": rho, "gamma": gamma, "tau": tau},
    )
    output = backtests.Output(records=records, plot=plot, as_json=json)
    backtests.backtest(wanted, output, processes=processes)
