"""What evaluations may learn from: files of earlier outcomes, or a guide fitted to them before."""

from collections.abc import Callable, Sequence
from pathlib import Path

from monitor.domain.suites import Suite
from monitor.engine import planning
from monitor.history import families, outcomes, selection
from monitor.history.artefacts import Artefact, read_artefact
from monitor.ports import Compute
from monitor.settings import HistoryFile, SuiteSettings
from monitor.stats import answers, selection as choices
from monitor.wire import fits

# Of the replays: the same history must give the same guide wherever it is fitted.
SEED = 0
# Fits that are remembered: one for each suite, and one for each model that its history knows.
MOST_FITS = 20


class _Stopped(Exception):
    """Nobody waits for the fit any more."""


class Histories:
    """Reads each file once, and fits a guide once to the same outcomes."""

    def __init__(self, compute: Compute) -> None:
        """Use a place that does one piece of work at a time."""
        self._compute = compute
        self._read: dict[Path, outcomes.OutcomeMatrix] = {}
        self._artefacts: dict[Path, Artefact] = {}
        self._fits: dict[tuple[str, str], planning.History] = {}
        self._stopped = False

    def stop(self) -> None:
        """Let a fit under way end soon, without a result: whoever waited for it is gone."""
        self._stopped = True

    def check(self, suite: Suite, settings: SuiteSettings) -> None:
        """Read every file now, so that a bad one is known before it is needed.

        Raises:
            HistoryError: a file cannot be used.
        """
        for each in settings.history:
            self._matrix(each.file)
        if settings.guide is not None:
            self._artefact(settings.guide, suite)

    async def fit(
        self, suite: Suite, settings: SuiteSettings, *, model: str
    ) -> planning.History | None:
        """What is learnt without any outcome of `model`; None where nothing is left to learn from.

        What is being fitted when nobody waits for it any more is remembered nevertheless.
        """
        return await self._compute.run(lambda: self._fit(suite, settings, model))

    def _fit(self, suite: Suite, settings: SuiteSettings, model: str) -> planning.History | None:
        if settings.guide is not None:
            return adopt(self._artefact(settings.guide, suite), model=model)
        if not settings.history:
            return None
        matrices = [(self._matrix(each.file), each) for each in settings.history]
        chosen = choose(suite, matrices, model=model)
        if not chosen.models:
            return None
        key = suite.digest, chosen.digest
        fitted = self._fits.pop(key, None) or fit(chosen, suite, pause=self._end_if_stopped)
        self._fits[key] = fitted
        while len(self._fits) > MOST_FITS:
            del self._fits[next(iter(self._fits))]
        return fitted

    def _end_if_stopped(self) -> None:
        if self._stopped:
            raise _Stopped("nobody waits for this fit any more")

    def _matrix(self, path: Path) -> outcomes.OutcomeMatrix:
        if path not in self._read:
            self._read[path] = outcomes.read_outcomes(path)
        return self._read[path]

    def _artefact(self, path: Path, suite: Suite) -> Artefact:
        if path not in self._artefacts:
            self._artefacts[path] = read_artefact(path, suite)
        return self._artefacts[path]


def choose(
    suite: Suite,
    matrices: Sequence[tuple[outcomes.OutcomeMatrix, HistoryFile]],
    *,
    model: str | None = None,
) -> selection.History:
    """The rows of one or more files that may be learnt from, without `model` and its family."""
    item_ids = [item.id for item in suite.items]
    return selection.stack(
        [
            selection.select(
                matrix,
                item_ids,
                before=file.before,
                exclude=file.exclude,
                exclude_models=() if model is None else (model,),
            )
            for matrix, file in matrices
        ]
    )


def fit(
    chosen: selection.History, suite: Suite, *, pause: Callable[[], None] = lambda: None
) -> planning.History:
    """Choose a guide by replays, and fit it; takes seconds to a minute.

    Args:
        chosen: what to learn from.
        suite: what to predict.
        pause: called every second or so; what it raises ends the fit.
    """
    history = answers.History.from_matrix(
        chosen.outcomes, families=chosen.families, groups=suite.group_labels
    )
    return planning.History(fit=choices.fit(history, seed=SEED, pause=pause), digest=chosen.digest)


def prepare(suite: Suite, files: Sequence[HistoryFile], *, software: str) -> Artefact:
    """Fit a guide that is to be stored.

    Args:
        suite: what it predicts.
        files: at least one, of which something may be used.
        software: name and version of the program.

    Raises:
        HistoryError: a file cannot be used.
    """
    first, *_ = files
    chosen = choose(suite, [(outcomes.read_outcomes(each.file), each) for each in files])
    origin = fits.Origin(
        suite=suite.name,
        suite_digest=suite.digest,
        items=len(suite.items),
        models=chosen.models,
        history_digest=chosen.digest,
        before=first.before,
        exclude=first.exclude,
        software=software,
    )
    return Artefact(fit=fit(chosen, suite).fit, origin=origin)


def adopt(artefact: Artefact, *, model: str) -> planning.History | None:
    """A guide fitted before; None for a model that it has learnt from itself."""
    if has_learnt_from(artefact.origin, model):
        return None
    return planning.History(fit=artefact.fit, digest=artefact.origin.history_digest)


def has_learnt_from(origin: fits.Origin, model: str) -> bool:
    """Whether a model, in whatever setting, is among those that a guide was fitted to."""
    known = {families.model_name(each) for each in origin.models}
    return families.model_name(model) in known
