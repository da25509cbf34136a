"""For how long we may still take it that the group knows us: whoever has fallen silent is replaced.

A process that was stopped and goes on has no way to know that it was replaced, but by the clock.
"""

import time
from collections.abc import Callable
from math import inf

SHARE = 0.7  # of the session, so that we stop well before a successor may begin


class Lease:
    """Runs from the *sending* of the last heartbeat that was answered.

    From its sending, because an answer may have waited in the socket of a stopped process for as
    long as it was stopped.
    """

    def __init__(
        self, session_seconds: float, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds = SHARE * session_seconds
        self._monotonic = monotonic
        self._confirmed = -inf

    def note(self, *, sent: float, received: float) -> None:
        """Take note of a consumer's heartbeats.

        Args:
            sent: when the last one was sent; to be read before `received` is.
            received: when one was last answered.
        """
        if received >= sent:  # otherwise the last one is still under way, or has failed
            self._confirmed = max(self._confirmed, sent)

    def holds(self) -> bool:
        """Whether nobody else can have been given our partitions."""
        return self._monotonic() - self._confirmed < self._seconds

    def confirmed_after(self, moment: float) -> bool:
        """Whether the group has answered something that was asked after a moment."""
        return self._confirmed > moment
