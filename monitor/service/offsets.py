"""Low-water mark of one partition: where reading must start after a restart."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class LowWaterMark:
    """Offsets taken up and finished; finishing may happen in any order.

    An offset is settled only when every one taken up before it is finished, so that a restart
    reads again whatever was still open.
    """

    _open: set[int] = field(default_factory=set)
    _highest: int = -1

    def take(self, offset: int) -> None:
        """An event at `offset` is being dealt with."""
        self._open.add(offset)
        self._highest = max(self._highest, offset)

    def finish(self, offset: int) -> None:
        """The event at `offset` is done with."""
        self._open.discard(offset)

    @property
    def open(self) -> int:
        """How many events are being dealt with."""
        return len(self._open)

    def settled_without(self, offset: int) -> int:
        """Offset to read from next, were the event at `offset` finished."""
        still_open = self._open - {offset}
        return min(still_open, default=self._highest + 1)
