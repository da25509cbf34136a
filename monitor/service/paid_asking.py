"""Questions whose answers are kept, so that nothing is paid for twice.

For what is asked of others than the version under evaluation: an answer of a surrogate or a judge
serves every later evaluation, and a run that died goes on where it stood.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from monitor.domain.answers import MISSING, ChatRequest, Completed, Usage
from monitor.domain.identifiers import Digest
from monitor.engine.statuses import EndpointFault, Gradable, Retry, Settled, read_exchange
from monitor.ports import PaidAnswers
from monitor.service.asking import Asking, ask_until_settled
from monitor.wire import paid_answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came of a question.

    completed: the answer itself, None where none came. It is kept unless it counts as missing.
    usage: what was newly spent; nothing where the answer was `stored`.
    """

    reading: Gradable | Settled | EndpointFault
    completed: Completed | None
    usage: Usage
    stored: bool


class PaidAsking:
    """Asks one endpoint, or finds what it once answered."""

    def __init__(
        self,
        asking: Asking,
        answers: PaidAnswers,
        *,
        base_url: str,
        revision: str = "",
        check: Callable[[Completed], None] = lambda _: None,
    ) -> None:
        """Ask nothing yet.

        Args:
            asking: how the endpoint is asked, and with how many retries in all.
            answers: where answers are kept.
            base_url: of the endpoint.
            revision: with another one, nothing that was kept is found.
            check: raises where an answer may neither be kept nor used.
        """
        self._asking = asking
        self._answers = answers
        self._base_url = base_url
        self._revision = revision
        self._check = check

    async def find(self, request: ChatRequest, *, sample: int = 0) -> Completed | None:
        """The kept answer, None where there is none; nothing is asked.

        Raises:
            StateError: the store cannot be read.
        """
        return await self._find(self._key(request, sample))

    async def ask(self, request: ChatRequest, *, sample: int = 0) -> Reply:
        """Find the kept answer, or else ask until settled and keep what came before it counts.

        Args:
            request: what is asked.
            sample: number from 0 of the answer among those to the same request.

        Raises:
            StateError: the store cannot be read or written.
        """
        key = self._key(request, sample)
        # Whoever asks the same at the same time waits for the one answer.
        async with self._answers.alone(key):
            stored = await self._find(key)
            if stored is not None:
                return self._stored(stored)
            learnt = await ask_until_settled(self._asking, request)
            reading, completed, usage = learnt.reading, learnt.completed, learnt.usage
            is_missing = isinstance(reading, Settled) and reading.status in MISSING
            if completed is None or is_missing:
                return Reply(reading=reading, completed=completed, usage=usage, stored=False)
            self._check(completed)
            await self._answers.keep(key, paid_answers.encode(completed))
            # Another process may have been first: its answer counts, or results would differ.
            first = await self._find(key) or completed
        return replace(self._stored(first), usage=usage, stored=False)

    def _key(self, request: ChatRequest, sample: int) -> Digest:
        return paid_answers.key(self._base_url, request, sample=sample, revision=self._revision)

    async def _find(self, key: Digest) -> Completed | None:
        stored = await self._answers.find(key)
        if stored is None:
            return None
        completed = paid_answers.decode(stored, key=key)
        self._check(completed)
        return completed

    def _stored(self, completed: Completed) -> Reply:
        reading = read_exchange(completed, self._asking.rules)
        settled = reading.give_up() if isinstance(reading, Retry) else reading
        return Reply(reading=settled, completed=completed, usage=Usage(attempts=0), stored=True)
