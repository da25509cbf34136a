"""Attempts for one item: retries, waits and time limits of our own, so that each is counted."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from math import inf

import tenacity

from monitor.domain.answers import (
    Breakdown,
    Broken,
    ChatRequest,
    Completed,
    Exchange,
    Status,
    Usage,
)
from monitor.domain.suites import AnswerRules
from monitor.engine.statuses import (
    EndpointFault,
    Gradable,
    Reading,
    Retry,
    Settled,
    read_exchange,
)
from monitor.ports import Clock, Endpoint
from monitor.service.lanes import Lane


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long and how often one item is tried; times in seconds.

    item_seconds: from the start of the first attempt to the end of the last, waits included.
    attempt_seconds: one attempt; attempts: most of them for one item.
    backoff: the k-th wait is drawn from [0, backoff * 2^k], at most `longest_backoff`.
    """

    item_seconds: float = 120.0
    attempt_seconds: float = 60.0
    attempts: int = 4
    backoff: float = 1.0
    longest_backoff: float = 30.0

    @property
    def longest_attempt(self) -> float:
        """Seconds that the first attempt for an item has."""
        return min(self.attempt_seconds, self.item_seconds)


class Allowance:
    """Retries left to an evaluation. A draw's first attempt never asks for one."""

    def __init__(self, *, retries: int) -> None:
        self._left = max(0, retries)

    def take(self) -> bool:
        """Take one retry, False when there is none left."""
        if self._left == 0:
            return False
        self._left -= 1
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One request as it ended, after `seconds`; `retried` when another one follows."""

    seconds: float
    retried: Status | None
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What all questions of one evaluation share.

    tell: is called with each attempt, once it is known what follows.
    jitter: draws uniformly from [0, 1).
    confirm: waits until this process may ask, since no other one can have taken over.
    """

    endpoint: Endpoint
    lane: Lane
    allowance: Allowance
    patience: Patience
    rules: AnswerRules
    clock: Clock
    tell: Callable[[Attempt], None]
    jitter: Callable[[], float]
    confirm: Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Learnt:
    """What the attempts for one item came to, and what all of them took.

    completed: what was read, None where nothing came that is of any use.
    """

    reading: Gradable | Settled | EndpointFault
    usage: Usage
    completed: Completed | None = None


async def ask_until_settled(asking: Asking, request: ChatRequest) -> Learnt:
    """Ask for one item until there is something to grade, or nothing more is to be tried.

    A failed attempt is repeated while the item has time and attempts left and the evaluation's
    allowance has retries; after that the item is missing, with the reason of its last attempt.
    A slot of the lane is held during attempts only. Cancelling gives the slot back.
    """
    item = _Item(asking, request)
    retrying = tenacity.AsyncRetrying(
        sleep=asking.clock.sleep,
        retry=tenacity.retry_if_result(lambda reading: isinstance(reading, Retry)),
        wait=item.wait,
        stop=item.out_of_patience,
        before_sleep=item.tell_retry,
        retry_error_callback=lambda _: item.reading,
    )
    reading: Reading = await retrying(item.attempt)
    item.tell(retried=None)
    settled = reading.give_up() if isinstance(reading, Retry) else reading
    return Learnt(reading=settled, usage=item.usage, completed=item.completed)


class _Item:
    """The state of one item between its attempts, as tenacity's hooks ask for it."""

    def __init__(self, asking: Asking, request: ChatRequest) -> None:
        self._asking = asking
        self._request = request
        self._deadline = inf
        self._last: tuple[float, Usage] | None = None
        self.reading: Reading | None = None
        self.completed: Completed | None = None
        self.usage = Usage(attempts=0)

    async def attempt(self) -> Reading:
        """Ask once, unless the item's time ran out while waiting for a turn."""
        asking = self._asking
        async with asking.lane.turn():
            waited_from = asking.clock.monotonic()
            await asking.confirm()
            started = asking.clock.monotonic()
            # What the bus takes is not the endpoint's doing either.
            self._deadline += started - waited_from
            # An item's time begins with its first turn: queueing is not the endpoint's doing.
            self._deadline = min(self._deadline, started + asking.patience.item_seconds)
            seconds = min(asking.patience.longest_attempt, self._deadline - started)
            if seconds <= 0 and self.reading is not None:
                return self.reading
            exchange = await asking.endpoint.ask(self._request, seconds=seconds)
        self._last = (asking.clock.monotonic() - started, _usage_of(exchange))
        self.usage += self._last[1]
        if isinstance(exchange, Completed):
            asking.lane.speed_up()
        full_time = seconds >= asking.patience.longest_attempt
        self.reading = read_exchange(exchange, asking.rules, full_time=full_time)
        if isinstance(exchange, Completed) and not isinstance(self.reading, Retry):
            self.completed = exchange
        return self.reading

    def wait(self, state: tenacity.RetryCallState) -> float:
        """Seconds before the next attempt: full jitter, but no less than the server asks for."""
        patience = self._asking.patience
        longest = min(
            patience.longest_backoff, patience.backoff * 2.0 ** (state.attempt_number - 1)
        )
        seconds = longest * self._asking.jitter()
        if isinstance(self.reading, Retry):
            seconds = max(seconds, self.reading.wait or 0.0)
            if self.reading.wait or self.reading.status is Status.RATE_LIMITED:
                # Bounded, lest one odd header stop the endpoint's evaluations for a day.
                self._asking.lane.slow_down(min(seconds, patience.item_seconds))
        return seconds

    def out_of_patience(self, state: tenacity.RetryCallState) -> bool:
        """Whether this was the last attempt; if not, a retry has been taken for the next one."""
        asking = self._asking
        return (
            state.attempt_number >= asking.patience.attempts
            or asking.clock.monotonic() + state.upcoming_sleep >= self._deadline
            or not asking.allowance.take()
        )

    def tell_retry(self, _: tenacity.RetryCallState) -> None:
        """Tell of an attempt that another one follows."""
        self.tell(retried=self.reading.status if isinstance(self.reading, Retry) else None)

    def tell(self, *, retried: Status | None) -> None:
        """Tell of the last attempt, once."""
        if self._last is None:
            return
        (seconds, usage), self._last = self._last, None
        self._asking.tell(Attempt(seconds=seconds, retried=retried, usage=usage))


def _usage_of(exchange: Exchange) -> Usage:
    if isinstance(exchange, Broken) and exchange.cause is Breakdown.IMAGE:
        return Usage(attempts=0)  # nothing was sent
    if not isinstance(exchange, Completed):
        return Usage()
    return Usage(
        prompt_tokens=exchange.prompt_tokens or 0,
        completion_tokens=exchange.completion_tokens or 0,
    )
