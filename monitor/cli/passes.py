"""`variant-monitor surrogate ask` and `surrogate show`."""

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

from monitor.app import surrogates
from monitor.app.signals import ASK, Wanted
from monitor.app.surrogates import Bought, Known
from monitor.cli.output import money, print_json, print_line, print_table, say
from monitor.cli.progress import ProgressTelemetry
from monitor.domain.results import SpendLine
from monitor.settings import Settings, load_settings
from monitor.surrogate.forecasts import Forecast

COLUMNS = (
    "suite",
    "surrogate",
    "items",
    "answered",
    "one cluster",
    "entropy",
    "pass rate",
    "bought now",
    "in all",
)
UNKNOWN = "-"


def ask(config: Path, *, suites: Collection[str], as_json: bool) -> None:
    """Buy what is missing of the surrogates' answers, and print what they tell.

    Raises:
        MonitorError: a surrogate cannot be asked; what was bought is kept.
    """
    settings, progress = load_settings(config), ProgressTelemetry()
    try:
        with _telling_what_is_kept(settings.surrogates_directory):
            bought = asyncio.run(_ask(settings, suites, progress))
    finally:
        progress.close()
    if as_json:
        print_json([_bought_document(each) for each in bought])
        return
    _print([(each.known, spent(each.now)) for each in bought])
    for each in bought:
        if each.compared.attempts:
            print_line(f"{title(each.known.wanted)}: compared for {spent(each.compared)}")


async def _ask(
    settings: Settings, suites: Collection[str], progress: ProgressTelemetry
) -> Sequence[Bought]:
    async with surrogates.open_passes(settings, suites, telemetry=progress) as passes:
        bought = []
        for each in passes.every:
            progress.say(forecast_line(each, await passes.forecast(each)))
            bought.append(await passes.run(each))
        return bought


def forecast(config: Path, *, suites: Collection[str], as_json: bool) -> None:
    """Print what `ask` would buy.

    Raises:
        MonitorError: as `ask`.
    """
    found = asyncio.run(forecasts(load_settings(config), suites))
    if as_json:
        print_json([forecast_document(of, each) for of, each in found])
        return
    for of, each in found:
        print_line(forecast_line(of, each))


async def forecasts(
    settings: Settings, suites: Collection[str] = ()
) -> Sequence[tuple[Wanted, Forecast]]:
    """What is still to be bought of each surrogate; nothing is asked, and nothing written."""
    progress = ProgressTelemetry()
    try:
        async with surrogates.open_passes(
            settings, suites, telemetry=progress, dry_run=True
        ) as passes:
            return [(each, await passes.forecast(each)) for each in passes.every]
    finally:
        progress.close()


def show(config: Path, *, suites: Collection[str], as_json: bool) -> None:
    """Print what the surrogates' answers tell so far.

    Raises:
        MonitorError: a suite or a file cannot be used.
    """
    found = surrogates.known(load_settings(config), suites)
    if as_json:
        print_json([_document(each) for each in found])
        return
    _print([(each, UNKNOWN) for each in found])
    if any(each.signal is None for each in found):
        print_line(f"Some have not been asked as they are configured: {ASK}")


def title(of: Wanted) -> str:
    """A surrogate of a suite in words."""
    return f"suite {of.suite.name!r}, surrogate {of.name!r}"


def forecast_line(of: Wanted, forecast: Forecast) -> str:
    """What is still to be bought of a surrogate."""
    return f"{title(of)}: {forecast_text(forecast)}"


def forecast_text(forecast: Forecast) -> str:
    """What is to be bought, and what that costs at most."""
    compared = f"; at most {forecast.comparisons:,} comparisons" if forecast.comparisons else ""
    if not forecast.queries:
        return f"every answer is there{compared}"
    return (
        f"{forecast.queries:,} queries, about {forecast.prompt_tokens:,} prompt tokens and at most "
        f"{forecast.completion_tokens:,} completion tokens, {_at_most(forecast)}{compared}"
    )


def _at_most(forecast: Forecast) -> str:
    return money(None) if forecast.cost is None else f"at most {money(forecast.cost)}"


def forecast_document(of: Wanted, forecast: Forecast) -> dict[str, Any]:
    """The same as JSON."""
    return {"suite": of.suite.name, "surrogate": of.name, **asdict(forecast)}


def spent(line: SpendLine) -> str:
    """What was bought for one purpose."""
    return f"{line.attempts:,} requests, {money(line.cost)}"


def _print(found: Sequence[tuple[Known, str]]) -> None:
    print_table(
        "Surrogates", COLUMNS, [[*_cells(known), *_costs(known, now)] for known, now in found]
    )


def _cells(known: Known) -> Iterator[str]:
    of, figures = known.wanted, _figures(known)
    yield of.suite.name
    yield of.name
    yield f"{len(of.suite.items):,}"
    yield UNKNOWN if known.signal is None else f"{figures['answered']:,}"
    for name, shown in (("one_cluster", ".1%"), ("entropy", ".3f"), ("pass_rate", ".1%")):
        yield UNKNOWN if figures[name] is None else format(figures[name], shown)


def _costs(known: Known, now: str) -> tuple[str, str]:
    return now, UNKNOWN if known.in_all is None else spent(known.in_all)


def _figures(known: Known) -> Mapping[str, Any]:
    """Means over the items; None where they are not known."""
    signal = known.signal
    if signal is None:
        return dict.fromkeys(("answered", "one_cluster", "entropy", "pass_rate"))
    enough = known.wanted.settings.samples / 2
    return {
        "answered": sum(count >= enough for count in signal.answered),
        "one_cluster": fmean(signal.single),
        "entropy": fmean(signal.entropy),
        "pass_rate": None if signal.pass_rate is None else fmean(signal.pass_rate),
    }


def _document(known: Known) -> dict[str, Any]:
    of = known.wanted
    return {
        "suite": of.suite.name,
        "surrogate": of.name,
        "model": of.endpoint.model,
        "items": len(of.suite.items),
        **_figures(known),
        "in_all": None if known.in_all is None else asdict(known.in_all),
    }


def _bought_document(bought: Bought) -> dict[str, Any]:
    spends = {"bought": asdict(bought.now), "compared": asdict(bought.compared)}
    return _document(bought.known) | spends


@contextmanager
def _telling_what_is_kept(directory: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        say(f"interrupted; the answers so far are in {directory}: the same command goes on there")
        raise
