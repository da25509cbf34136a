"""When a surrogate must not be asked any further: it is another model now, or does not answer."""

from dataclasses import replace

from monitor.domain.answers import MISSING, Completed
from monitor.domain.errors import SurrogateError
from monitor.domain.surrogates import Served
from monitor.engine.statuses import EndpointFault, FirstItems, Gradable, Settled

FAILURES_IN_A_ROW = 20
ITEMS_IN_A_ROW = 5  # all samples of a few items may fail, and the others be answered
KEPT = "mend it and run again: what was bought is kept"


class SameModel:
    """Sees to it that all answers are of one model, as far as the server says what it runs."""

    def __init__(self, name: str, served: Served, *, same_fingerprint: bool) -> None:
        """Know nothing yet.

        Args:
            name: of the surrogate, for messages.
            served: where it is asked, and for which model.
            same_fingerprint: the server's fingerprint must stay the same too.
        """
        self._name = name
        self._same_fingerprint = same_fingerprint
        self.served = served

    def check(self, completed: Completed) -> None:
        """Compare an answer with those before it.

        Raises:
            SurrogateError: it is of another model.
        """
        known = self.served
        found = replace(
            known,
            served_model=completed.served_model or known.served_model,
            fingerprint=(completed.fingerprint if self._same_fingerprint else None)
            or known.fingerprint,
        )
        if known.served_model not in {None, found.served_model}:
            raise self._changed(found, "")
        if known.fingerprint not in {None, found.fingerprint}:
            todo = ", or same_fingerprint to false if its fingerprint differs all the time"
            raise self._changed(found, todo)
        self.served = found

    def _changed(self, found: Served, todo: str) -> SurrogateError:
        return SurrogateError(
            f"surrogate {self._name!r}: its answers so far are of {_described(self.served)}, and"
            f" now the endpoint answers as {_described(found)}; serve the former again, or set the"
            f" surrogate's revision to a new word, which buys all answers anew{todo}"
        )


class Progress:
    """Sees to it that a surrogate which does not answer is not asked for ever."""

    def __init__(self, name: str, *, concurrency: int) -> None:
        """Know nothing yet.

        Args:
            name: of the surrogate, for messages.
            concurrency: questions that are under way at once.
        """
        self._name = name
        self._limit = max(FAILURES_IN_A_ROW, 2 * concurrency)
        self._first = FirstItems()
        self._failures = 0
        self._unanswered = set[int]()

    def absorb(self, item: int, reading: Gradable | Settled | EndpointFault) -> Gradable | Settled:
        """Take note of what came of a sample.

        Args:
            item: place of the item in the suite.
            reading: what was read; a request that was rejected as such says nothing of the next.

        Returns:
            The reading.

        Raises:
            SurrogateError: the endpoint cannot be asked, or has not answered for too long.
        """
        if isinstance(reading, EndpointFault):
            raise self._faulted(reading)
        self._first = self._first.absorb(item, reading)
        if self._first.fault is not None:
            raise self._faulted(self._first.fault)
        if not isinstance(reading, Settled) or reading.status not in MISSING:
            self._failures = 0
            self._unanswered.clear()
        elif not reading.rejection:
            self._failures += 1
            self._unanswered.add(item)
            if self._failures >= self._limit and len(self._unanswered) >= ITEMS_IN_A_ROW:
                raise SurrogateError(
                    f"surrogate {self._name!r}: the last {self._failures} questions brought no"
                    f" answer, at last because of {reading.status} ({reading.detail}); {KEPT}"
                )
        return reading

    def _faulted(self, fault: EndpointFault) -> SurrogateError:
        return SurrogateError(f"surrogate {self._name!r}: {fault.fault}: {fault.detail}; {KEPT}")


def _described(served: Served) -> str:
    model = served.served_model or served.model
    return f"{model} with fingerprint {served.fingerprint}" if served.fingerprint else model
