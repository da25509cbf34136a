"""Surrogates put together with what they need, ready to be asked about the suites."""

from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from math import ceil
from pathlib import Path
from secrets import SystemRandom
from tempfile import TemporaryDirectory

from monitor.adapters.compute_thread import ComputeThread
from monitor.adapters.embedded import locks
from monitor.adapters.embedded.paid_answers import FILE, SqlitePaidAnswers
from monitor.adapters.embedded.state import translated
from monitor.adapters.entailment import LocalEntailment
from monitor.adapters.system_clock import SystemClock
from monitor.app.application import SOFTWARE
from monitor.app.catalog import ConfiguredCatalog, load_suites
from monitor.app.grading import open_graders
from monitor.app.histories import Histories
from monitor.app.signals import SignalFiles, Wanted, wanted
from monitor.domain.answers import Usage
from monitor.domain.errors import UsageError
from monitor.domain.facts import SurrogateAttempted
from monitor.domain.identifiers import EndpointName
from monitor.domain.results import Purpose, SpendLine
from monitor.domain.suites import AnswerRules
from monitor.domain.surrogates import SurrogateSignal
from monitor.ports import Clock, Telemetry
from monitor.service import publishing
from monitor.service.asking import Allowance, Asking, Attempt
from monitor.service.catalog import Target
from monitor.service.equivalences import Canonical, Equivalence, Judged, MutualEntailment
from monitor.service.paid_asking import PaidAsking
from monitor.service.surrogate_pass import Surrogate, SurrogatePass, Tools
from monitor.settings import Settings, resolve_credentials
from monitor.surrogate import forecasts
from monitor.surrogate.forecasts import Forecast


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A surrogate of a suite, and what its answers tell.

    signal: None where it has not been asked. in_all: what its answers cost, whenever bought.
    """

    wanted: Wanted
    signal: SurrogateSignal | None
    in_all: SpendLine | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bought:
    """What came of asking, and what was newly bought: of the surrogate, and of a judge."""

    known: Known
    now: SpendLine
    compared: SpendLine


def known(settings: Settings, suites: Collection[str] = ()) -> Sequence[Known]:
    """What the surrogates of suites, all of them if none is named, told so far.

    Raises:
        ProblemsFound, UsageError: a suite cannot be used or is not there, or none has surrogates.
        StateError: a file cannot be used.
    """
    files = SignalFiles(settings.surrogates_directory)
    return [_known(each, files.find(each)) for each in _wanted(settings, suites)]


def _known(of: Wanted, signal: SurrogateSignal | None) -> Known:
    in_all = None
    if signal is not None:
        usage = Usage(
            attempts=sum(signal.counts.values()),
            prompt_tokens=signal.prompt_tokens,
            completion_tokens=signal.completion_tokens,
        )
        in_all = publishing.spend_line(usage, of.price)
    return Known(wanted=of, signal=signal, in_all=in_all)


def _wanted(settings: Settings, suites: Collection[str]) -> Sequence[Wanted]:
    loaded = load_suites(settings)
    unknown = [name for name in suites if name not in loaded]
    if unknown:
        raise UsageError(
            f"--suite {unknown[0]!r} is not configured; there are: {', '.join(loaded)}"
        )
    chosen = [each for name, each in loaded.items() if not suites or name in suites]
    found = [one for each in chosen for one in wanted(each.suite, each.settings, settings)]
    if not found:
        raise UsageError("no surrogate is configured; name one under `suites`, `surrogate`")
    return found


class Passes:
    """What `open_passes` opens; `every` is in the order of the configuration."""

    def __init__(self, parts: "_Parts", every: Sequence[Wanted]) -> None:
        self.every = every
        self._parts = parts

    async def forecast(self, of: Wanted) -> Forecast:
        """What is still to be bought of a surrogate.

        Raises:
            SurrogateError: the answers so far are of different models.
            StateError: the answers so far cannot be read.
        """
        missing = await self._parts.make(of).missing()
        return forecasts.forecast(of.suite, of.settings, price=of.price, missing=missing)

    async def run(self, of: Wanted) -> Bought:
        """Buy what is missing, and write down what all answers tell.

        Raises:
            ConfigError, SurrogateError: it cannot be asked, or its answers not be compared.
            StateError: answers or signal cannot be kept.
        """
        passed = await self._parts.make(of).run(await self._parts.equivalence(of))
        self._parts.files.keep(of, passed.signal)
        judge = self._parts.judge(of)
        return Bought(
            known=_known(of, passed.signal),
            now=publishing.spend_line(passed.bought, of.price),
            compared=publishing.spend_line(passed.compared, judge.price if judge else None),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """What passes are put together of."""

    catalog: ConfiguredCatalog
    compute: ComputeThread
    files: SignalFiles
    tools: Tools

    def make(self, of: Wanted) -> SurrogatePass:
        surrogate = Surrogate(name=of.name, target=self._target(of.name), settings=of.settings)
        return SurrogatePass(of.suite, surrogate, self.tools, software=SOFTWARE)

    def judge(self, of: Wanted) -> Target | None:
        return None if of.own.judge is None else self._target(of.own.judge)

    async def equivalence(self, of: Wanted) -> Equivalence:
        if of.own.entailment_model is not None:
            model = await LocalEntailment.open(of.own.entailment_model, compute=self.compute)
            return MutualEntailment(of.suite, model)
        judge = self.judge(of)
        if of.own.judge is None or judge is None:
            return Canonical(of.suite, self.tools.graders)
        asking = PaidAsking(
            self._judging(of, judge),
            self.tools.answers,
            base_url=judge.base_url,
            revision=of.settings.revision,
        )
        return Judged(of.suite, asking, name=of.own.judge, model=judge.model)

    def _target(self, endpoint: str) -> Target:
        return self.catalog.target(EndpointName(endpoint))

    def _judging(self, of: Wanted, judge: Target) -> Asking:
        settings, tools = of.settings, self.tools
        comparisons = forecasts.forecast(of.suite, settings, price=None).comparisons
        return Asking(
            endpoint=judge.endpoint,
            lane=judge.lane,
            allowance=Allowance(retries=ceil(settings.retry_share * comparisons)),
            patience=judge.patience,
            rules=AnswerRules(),
            clock=tools.clock,
            tell=partial(_tell_judging, tools.telemetry, of),
            jitter=tools.jitter,
            confirm=_at_once,
        )


async def prepare(
    settings: Settings,
    *,
    buyer: str,
    telemetry: Telemetry,
    tell: Callable[[Wanted, Forecast], None],
) -> SpendLine | None:
    """See to it that surrogates have been asked before an evaluation that is to use their signals.

    Args:
        settings: the whole configuration.
        buyer: names the evaluation.
        telemetry: is told how far they are.
        tell: is told what is to be bought, before it is.

    Returns:
        What their answers cost in all, if that was spent for this evaluation, be it in a process
        that has died since; None where there was nothing to be bought for it.

    Raises:
        MonitorError: as `open_passes` and `Passes.run`.
    """
    files, lines = SignalFiles(settings.surrogates_directory), []
    for each in _wanted(settings, ()):
        found = _known(each, files.find(each))
        if found.signal is None:
            async with open_passes(settings, [each.suite.name], telemetry=telemetry) as passes:
                files.claim(each, buyer)
                tell(each, await passes.forecast(each))
                found = (await passes.run(each)).known
        if found.in_all is not None and files.claim(each, buyer):
            lines.append(found.in_all)
    return publishing.total(lines) if lines else None


@asynccontextmanager
async def open_passes(
    settings: Settings,
    suites: Collection[str] = (),
    *,
    telemetry: Telemetry,
    dry_run: bool = False,
) -> AsyncIterator[Passes]:
    """Everything that surrogates are asked with; one process at a time, dry runs aside.

    Args:
        settings: the whole configuration.
        suites: whose surrogates; those of all suites if none is named.
        telemetry: is told how far they are.
        dry_run: nothing will be bought, so nothing is made where there is nothing yet.

    Raises:
        ProblemsFound, UsageError: as `known`, or an endpoint cannot be asked.
        StateError: the folder is in use, or cannot be used.
    """
    every = _wanted(settings, suites)
    directory = settings.surrogates_directory
    async with AsyncExitStack() as stack:
        clock, compute = SystemClock(), ComputeThread()
        stack.callback(compute.close)
        catalog = _catalog(_needed(settings, every), compute, clock)
        stack.push_async_callback(catalog.close)
        if not dry_run:
            with translated(directory):
                directory.mkdir(parents=True, exist_ok=True)
                stack.enter_context(locks.own(directory))
        kept_in = directory
        if not (directory / FILE).exists() and dry_run:
            kept_in = Path(stack.enter_context(TemporaryDirectory()))
        answers = await SqlitePaidAnswers.open(kept_in)
        stack.push_async_callback(answers.close)
        tools = Tools(
            answers=answers,
            graders=await stack.enter_async_context(open_graders(settings)),
            clock=clock,
            telemetry=telemetry,
            jitter=SystemRandom().random,
        )
        files = SignalFiles(directory)
        yield Passes(_Parts(catalog=catalog, compute=compute, files=files, tools=tools), every)


def _needed(settings: Settings, every: Sequence[Wanted]) -> Settings:
    """The configuration without the endpoints, and the secrets, that surrogates do not need."""
    names = {name for each in every for name in (each.name, each.own.judge) if name}
    endpoints = {name: settings.endpoints[name] for name in names}
    used = {endpoint.credential for endpoint in endpoints.values()}
    credentials = {name: each for name, each in settings.credentials.items() if name in used}
    return settings.model_copy(update={"endpoints": endpoints, "credentials": credentials})


def _catalog(settings: Settings, compute: ComputeThread, clock: Clock) -> ConfiguredCatalog:
    secrets = resolve_credentials(settings)
    return ConfiguredCatalog(
        settings,
        {},
        secrets={name: secret.get_secret_value() for name, secret in secrets.items()},
        histories=Histories(compute),
        clock=clock,
    )


def _tell_judging(telemetry: Telemetry, of: Wanted, attempt: Attempt) -> None:
    telemetry.record(
        SurrogateAttempted(
            suite=of.suite.name,
            surrogate=of.name,
            purpose=Purpose.JUDGE,
            seconds=attempt.seconds,
            retried=attempt.retried,
            prompt_tokens=attempt.usage.prompt_tokens,
            completion_tokens=attempt.usage.completion_tokens,
        )
    )


async def _at_once() -> None:
    """Nobody else has to agree before a judge is asked."""
