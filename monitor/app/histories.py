"""Guides fitted to the configured files of earlier outcomes, without the model they will judge."""

from collections.abc import Sequence
from pathlib import Path

from monitor.domain.suites import Suite
from monitor.engine import planning
from monitor.history import outcomes, selection
from monitor.ports import Compute
from monitor.settings import HistoryFile
from monitor.stats import guides
from monitor.stats.answers import History

GUIDE = "item_mean"


class Histories:
    """Reads each file once and fits a guide once for each set of outcomes."""

    def __init__(self, compute: Compute) -> None:
        self._compute = compute
        self._read: dict[Path, outcomes.OutcomeMatrix] = {}
        self._fitted: dict[tuple[str, str], planning.History | None] = {}

    def check(self, files: Sequence[HistoryFile]) -> None:
        """Read every file now, so that a bad one is known before it is needed.

        Raises:
            HistoryError: a file cannot be used.
        """
        for each in files:
            self._matrix(each.file)

    async def fit(
        self, suite: Suite, files: Sequence[HistoryFile], *, model: str
    ) -> planning.History | None:
        """A guide that has seen no outcome of `model`; None where nothing is left to learn from."""
        key = suite.digest, model
        if key not in self._fitted:
            self._fitted[key] = await self._compute.run(lambda: self._fit(suite, files, model))
        return self._fitted[key]

    def _fit(
        self, suite: Suite, files: Sequence[HistoryFile], model: str
    ) -> planning.History | None:
        if not files:
            return None
        parts = [
            selection.select(
                self._matrix(each.file),
                [item.id for item in suite.items],
                before=each.before,
                exclude=each.exclude,
                exclude_models=[model],
            )
            for each in files
        ]
        chosen = selection.stack(parts)
        if not chosen.models:
            return None
        guide = guides.GUIDES[GUIDE].fit(History.from_matrix(chosen.outcomes))
        return planning.History(guide=guide, digest=chosen.digest)

    def _matrix(self, path: Path) -> outcomes.OutcomeMatrix:
        if path not in self._read:
            self._read[path] = outcomes.read_outcomes(path)
        return self._read[path]
