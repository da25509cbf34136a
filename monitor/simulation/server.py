"""An OpenAI-compatible endpoint whose answers, faults and delays are known in advance."""

import asyncio
import json
import time
from bisect import bisect
from collections.abc import Sequence
from statistics import fmean

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from monitor.domain import errors
from monitor.domain.identifiers import digest
from monitor.domain.suites import Suite
from monitor.simulation import chance, knobs as settings, replies, texts
from monitor.simulation.answers import AnswerBook
from monitor.simulation.knobs import Attempt, Fault, Knobs
from monitor.simulation.ledger import Ledger
from monitor.simulation.questions import Question, Reader
from monitor.simulation.replies import Reply, Saying

# Of wrong samples, half are the first wrong answer, a quarter the second, and so on.
WRONG_SHARES = (0.5, 0.75, 0.9)
# How many seconds' worth of a rate may come at once.
BURST = 1.0
ROUNDING = 1e-9
CLIENT_LEFT = Reply(status=499, body=b"{}")


class Simulation:
    """A simulated endpoint: `app` serves it, `ledger` tells what it was asked.

    Besides the API: POST /_simulation/knobs sets all knobs anew (a knob left out goes back to its
    default), GET shows them; GET /_simulation/requests shows the ledger, POST /_simulation/reset
    clears it; GET /_simulation/truth shows the share of right answers of each model.
    """

    def __init__(
        self,
        suite: Suite,
        book: AnswerBook,
        *,
        knobs: Knobs | None = None,
        api_key: str | None = None,
    ) -> None:
        """Prepare to answer the questions of a suite.

        Args:
            suite: its items are recognised by their rendered messages.
            book: outcomes of the suite's items by their ids, and maybe of others.
            knobs: what goes wrong, and how long it takes.
            api_key: bearer token that requests must carry; None: any or none.

        Raises:
            SuiteError: an item cannot be simulated.
            UsageError: the book does not know an item.
        """
        self.knobs = knobs or Knobs()
        self.ledger = Ledger()
        self._book = book.of_items([item.id for item in suite.items])
        self._api_key = api_key
        self._rate = RateLimit()
        self._reader = Reader(suite, book.models)
        self._suite = suite
        self._texts = texts.texts(suite)
        self._wrongs: dict[int, Sequence[str]] = {}
        self._right = self._book.rows()

    @property
    def app(self) -> Starlette:
        """The ASGI application."""
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self._chat_completions, methods=["POST"]),
                Route("/v1/models", self._models),
                Route("/health", self._health),
                Route("/_simulation/knobs", self._show_knobs, methods=["GET"]),
                Route("/_simulation/knobs", self._set_knobs, methods=["POST"]),
                Route("/_simulation/requests", self._show_requests),
                Route("/_simulation/reset", self._reset, methods=["POST"]),
                Route("/_simulation/truth", self._show_truth),
            ]
        )

    async def _chat_completions(self, request: Request) -> Response:
        if not self._admits(request):
            return _unauthorized()
        question = self._reader.read(await request.body())
        if isinstance(question, Reply):
            return WireResponse(question)
        with self.ledger.attempt(question.model, self._book.items[question.index]) as attempt:
            reply = await self._reply(question, attempt, request)
            if reply.completes:
                self.ledger.answer(attempt)
            return WireResponse(reply)

    async def _reply(self, question: Question, attempt: Attempt, request: Request) -> Reply:
        knobs = self.knobs
        wait = self._rate.wait(knobs.rate, now=time.monotonic())
        if wait > 0.0:
            return replies.rate_limited(wait)
        fault = knobs.fault(attempt)
        seconds = knobs.hang if fault is Fault.HANG else knobs.seconds(attempt)
        if await _leaves(request, seconds):
            return CLIENT_LEFT
        text = self._text(question, attempt)
        if text is None:
            return replies.not_recorded(question.model)
        saying = Saying(
            id=f"chatcmpl-{digest([attempt.model, attempt.item, attempt.number])[:24]}",
            model=question.model,
            text=text,
            prompt_tokens=question.prompt_tokens,
        )
        if fault is None:
            return replies.completion(saying)
        return replies.faulty(saying, fault, retry_after=knobs.retry_after)

    def _text(self, question: Question, attempt: Attempt) -> str | None:
        """What the model says: by the book, or at a temperature above 0 one of its samples."""
        right = self._right[question.model][question.index]
        known, scatter = self._texts[question.index], self.knobs.scatter
        if right is None:
            return None
        if not (question.temperature and scatter):
            return known.right if right else known.wrong
        outcomes = [row[question.index] for row in self._right.values()]
        usual = fmean(float(each) for each in outcomes if each is not None)
        # Two requests of one seed get one answer.
        draw = attempt.number if question.seed is None else f"seed {question.seed}"
        place = (self.knobs.seed, attempt.model, attempt.item, draw)
        if chance.uniform("right", *place) < (1.0 - scatter) * right + scatter * usual:
            return known.right
        others = self._wrong(question.index) or (known.wrong,)
        return others[bisect(WRONG_SHARES, chance.uniform("which", *place)) % len(others)]

    def _wrong(self, index: int) -> Sequence[str]:
        """Wrong answers, looked for when they are first needed."""
        if index not in self._wrongs:
            item = self._suite.items[index]
            self._wrongs[index] = texts.wrong_texts(self._suite, item, most=len(WRONG_SHARES) + 1)
        return self._wrongs[index]

    def _admits(self, request: Request) -> bool:
        wanted = f"Bearer {self._api_key}"
        return self._api_key is None or request.headers.get("authorization") == wanted

    async def _models(self, request: Request) -> Response:
        if not self._admits(request):
            return _unauthorized()
        models = [
            {"id": model, "object": "model", "created": replies.CREATED, "owned_by": "simulation"}
            for model in self._book.models
        ]
        return JSONResponse({"object": "list", "data": models})

    async def _health(self, _: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def _show_knobs(self, _: Request) -> Response:
        return JSONResponse(settings.knobs_document(self.knobs))

    async def _set_knobs(self, request: Request) -> Response:
        try:
            self.knobs = settings.parse_knobs(json.loads(await request.body()))
        except (errors.UsageError, ValueError, RecursionError) as error:
            return WireResponse(replies.error(400, str(error), code="invalid_knobs"))
        return await self._show_knobs(request)

    async def _show_requests(self, _: Request) -> Response:
        return JSONResponse(self.ledger.document())

    async def _reset(self, _: Request) -> Response:
        self.ledger.clear()
        return JSONResponse(self.ledger.document())

    async def _show_truth(self, _: Request) -> Response:
        return JSONResponse({model: self._book.truth(model) for model in self._book.models})


class RateLimit:
    """Admits so many requests a second: the generic cell rate algorithm (ITU-T I.371)."""

    def __init__(self) -> None:
        self._due = 0.0

    def wait(self, rate: float | None, *, now: float) -> float:
        """Take up a request, or say how many seconds it comes too early.

        Args:
            rate: requests a second, of which a second's worth may come at once; None: any.
            now: monotonic seconds.
        """
        if rate is None:
            return 0.0
        due = max(self._due, now) + 1.0 / rate
        early = due - now - max(BURST, 1.0 / rate)
        # A request may not be refused for the rounding of the sums that it is made of.
        if early > ROUNDING:
            return early
        self._due = due
        return 0.0


class WireResponse(Response):
    """Sends a reply, or the first half of it and then nothing more."""

    def __init__(self, reply: Reply) -> None:
        self._cut = reply.cut
        super().__init__(reply.body, reply.status, dict(reply.headers), "application/json")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        if not self._cut:
            await super().__call__(scope, receive, send)
            return
        start = {"status": self.status_code, "headers": self.raw_headers}
        await send({"type": "http.response.start", **start})
        half = bytes(self.body)[: len(self.body) // 2]
        # More is announced and never sent, upon which the server closes the connection.
        await send({"type": "http.response.body", "body": half, "more_body": True})


def _unauthorized() -> Response:
    message = "Incorrect API key provided."
    return WireResponse(replies.error(401, message, code="invalid_api_key"))


async def _leaves(request: Request, seconds: float) -> bool:
    """Wait; whether the client closed the connection meanwhile."""
    if seconds <= 0.0:
        return False
    try:
        async with asyncio.timeout(seconds):
            while (await request.receive())["type"] != "http.disconnect":
                pass
    except TimeoutError:
        return False
    return True
