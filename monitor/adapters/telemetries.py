"""One fact, several listeners: a broken one costs neither the others nor the evaluation."""

import logging
from collections import Counter

from monitor.domain.facts import Fact
from monitor.ports import Telemetry

log = logging.getLogger(__name__)


class Telemetries:
    """Implements `ports.Telemetry` by handing each fact to every member."""

    def __init__(self, *members: Telemetry) -> None:
        self._members = members
        self._dropped: Counter[str] = Counter()

    @property
    def dropped(self) -> int:
        """Facts that a member failed to take."""
        return self._dropped.total()

    def record(self, fact: Fact) -> None:
        """Hand on a fact; a member that fails is logged once and counted from then on."""
        for member in self._members:
            try:
                member.record(fact)
            except Exception:
                name = type(member).__name__
                self._dropped[name] += 1
                if self._dropped[name] == 1:
                    log.exception("%s failed on a fact; more are only counted", name)
