"""What surrogates' answers tell of the suites, as files that evaluations read.

One file for each suite, surrogate and way of asking, so that what was learnt of another content of
the suite, or from another model, is never taken for it.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from monitor.adapters.embedded.state import translated
from monitor.app.reports import Report, count
from monitor.domain.errors import Problem, StateCorrupt, StateError
from monitor.domain.identifiers import Digest, digest
from monitor.domain.results import Price
from monitor.domain.suites import Suite
from monitor.domain.surrogates import Clustering, SurrogateSettings, SurrogateSignal
from monitor.engine import planning
from monitor.grading import graders
from monitor.settings import EndpointSettings, Settings, SuiteSettings, SuiteSurrogateSettings
from monitor.stats import signals as stats, stratification
from monitor.surrogate import measures
from monitor.wire import signals

ASK = "run `variant-monitor surrogate ask`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A surrogate of a suite, as it is configured.

    name: of its endpoint. judge: who compares its answers, where another endpoint does.
    """

    suite: Suite
    name: str
    endpoint: EndpointSettings
    judge: EndpointSettings | None
    own: SuiteSurrogateSettings

    @property
    def settings(self) -> SurrogateSettings:
        """How it is asked."""
        return self.own.asking()

    @property
    def price(self) -> Price | None:
        """Of its tokens, None where it is not known."""
        return None if self.endpoint.price is None else self.endpoint.price.price()

    @property
    def digest(self) -> Digest:
        """Of everything that its answers, and what they tell, depend on."""
        places = [(each.base_url, each.model) for each in (self.endpoint, self.judge) if each]
        compared_by = self.own.entailment_model
        return digest([self.suite.digest, places, asdict(self.settings), compared_by])


def wanted(suite: Suite, own: SuiteSettings, settings: Settings) -> tuple[Wanted, ...]:
    """The surrogates of a suite; none where none is configured."""
    chosen = own.surrogate
    if chosen is None:
        return ()
    return tuple(
        Wanted(
            suite=suite,
            name=name,
            endpoint=settings.endpoints[name],
            judge=None if chosen.judge is None else settings.endpoints[chosen.judge],
            own=chosen,
        )
        for name in chosen.endpoints
    )


class SignalFiles:
    """The folder of them."""

    def __init__(self, directory: Path) -> None:
        """Touch nothing yet."""
        self._directory = directory

    def path(self, of: Wanted) -> Path:
        """The file of a surrogate of a suite, whether or not it is there."""
        return self._directory / f"{of.suite.name}.{of.name}.{of.digest[:16]}.json"

    def find(self, of: Wanted) -> SurrogateSignal | None:
        """What its answers tell, None where it has not been asked.

        Raises:
            StateError: the file cannot be read, is damaged, of a newer version or of another suite.
        """
        path = self.path(of)
        with translated(path):
            if not path.exists():
                return None
            found = signals.decode(path.read_bytes(), what=str(path))
        if found.suite_digest != of.suite.digest or len(found.entropy) != len(of.suite.items):
            raise StateCorrupt(f"{path}: is not about the {len(of.suite.items)} items of the suite")
        return found

    def keep(self, of: Wanted, signal: SurrogateSignal) -> None:
        """Write what its answers tell.

        Raises:
            StateError: it cannot be written.
        """
        path = self.path(of)
        beside = path.with_name(f"{path.name}.part")
        with translated(path):
            beside.write_bytes(signals.encode(signal))
            beside.replace(path)

    def claim(self, of: Wanted, buyer: str) -> bool:
        """Whether this buyer pays for the answers: the first that came while there was no signal.

        Written down, so that whoever goes on after a crash still is the one.

        Raises:
            StateError: it cannot be read or written.
        """
        path = self.path(of).with_suffix(".buyer")
        with translated(path):
            if path.exists():
                return path.read_text(encoding="utf-8") == buyer
            if self.path(of).exists():
                return False
            path.write_text(buyer, encoding="utf-8")
        return True

    def has_others(self, of: Wanted) -> bool:
        """Whether this name was asked of this suite's name, though in another way or content."""
        names = re.escape(f"{of.suite.name}.{of.name}.")
        found = (each.name for each in self._directory.glob("*.json"))
        return any(re.fullmatch(names + r"[0-9a-f]{16}\.json", name) for name in found)


def combined(suite: Suite, own: SuiteSettings, settings: Settings) -> planning.Surrogate | None:
    """What all surrogates of a suite tell together.

    Returns:
        None where there is no surrogate, or one of them has not been asked as it is configured; so
        too where a file cannot be used, which `check` tells, since any plan is valid without it.
    """
    every = wanted(suite, own, settings)
    if own.surrogate is None:
        return None
    try:
        found = [SignalFiles(settings.surrogates_directory).find(each) for each in every]
    except StateError:
        return None
    known = [each for each in found if each is not None]
    return _combine(known, own.surrogate) if len(known) == len(every) else None


def _combine(found: Sequence[SurrogateSignal], own: SuiteSurrogateSettings) -> planning.Surrogate:
    signal = stats.average([measures.to_signal(each) for each in found])
    return planning.Surrogate(
        signal=signal,
        settings=stratification.Settings(
            strata=own.strata,
            smoothing=own.smoothing,
            allocation=own.allocation,
            refined=own.refined,
        ),
        digest=Digest(stats.digest(signal)),
        names=tuple(each.surrogate for each in found),
    )


def check(suite: Suite, own: SuiteSettings, settings: Settings) -> Report:
    """Whether the surrogates of a suite have been asked as they are configured."""
    report, files = Report(), SignalFiles(settings.surrogates_directory)
    for each in wanted(suite, own, settings):
        where = f"suite {suite.name!r}: surrogate {each.name!r}"
        paid = graders.outside(suite)
        if paid and each.settings.clustering is Clustering.CANONICAL:
            what = f"cannot be compared by the grader {paid[0].kind}"
            todo = "set its clustering to entailment or judge"
            report.problems.append(Problem(where=where, what=what, todo=todo))
            continue
        try:
            found = files.find(each)
        except StateError as error:
            todo = f"{ASK}, which writes it anew from the answers that are kept"
            report.problems.append(Problem(where=where, what=str(error), todo=todo))
            continue
        if found is None:
            before = ": only of another content of the suite, or with other settings"
            what = f"has not been asked{before if files.has_others(each) else ''}"
            report.warnings.append(Problem(where=where, what=what, todo=ASK))
        else:
            answered = sum(2 * answers >= each.settings.samples for answers in found.answered)
            report.notes.append(f"{where} has answered {count(answered, 'item')}")
    return report
