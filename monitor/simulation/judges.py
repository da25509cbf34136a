"""An OpenAI-compatible endpoint that judges answers, and may favour the first of two."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from monitor.domain.identifiers import digest
from monitor.simulation import chance, replies
from monitor.simulation.knobs import Knobs
from monitor.simulation.ledger import Ledger
from monitor.simulation.replies import Saying
from monitor.simulation.server import WireResponse

_QUOTED = re.compile(r"<(answer(?: [AB])?) ([0-9a-f]{16})>\n(.*?)\n</\1 \2>", re.DOTALL)
_SCALE = re.compile(r"from (\S+) \(worst\) to (\S+) \(best\)")

Quality = Callable[[str], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What was shown, the answers in their order, and what was said of them."""

    answers: tuple[str, ...]
    says: str


@dataclass(slots=True, kw_only=True)
class JudgeSimulation:
    """A simulated judge: `app` serves it, `rulings` and `ledger` tell what it was asked.

    quality: how good an answer is, in [0, 1]; a rating is its place on the scale.
    position_bias: share of the pairs of which it prefers the first answer, whatever they say.
    knobs: what goes wrong, and how long it takes; by the digest of a question, as that of an item.
    """

    quality: Quality
    model: str = "judge"
    position_bias: float = 0.0
    knobs: Knobs = field(default_factory=Knobs)
    ledger: Ledger = field(default_factory=Ledger)
    rulings: list[Ruling] = field(default_factory=list)

    @property
    def app(self) -> Starlette:
        """The ASGI application."""
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self._chat_completions, methods=["POST"]),
                Route("/v1/models", self._models),
            ]
        )

    async def _models(self, _: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": self.model, "object": "model"}]})

    async def _chat_completions(self, request: Request) -> Response:
        document = json.loads(await request.body())
        system, user = (str(message["content"]) for message in document["messages"])
        with self.ledger.attempt(self.model, digest([system, user])) as attempt:
            saying = Saying(
                id=f"chatcmpl-{digest([attempt.item, attempt.number])[:24]}",
                model=self.model,
                text=self._rule(system, user),
                prompt_tokens=replies.tokens(system + user),
            )
            fault = self.knobs.fault(attempt)
            if fault is not None:
                after = self.knobs.retry_after
                return WireResponse(replies.faulty(saying, fault, retry_after=after))
            self.ledger.answer(attempt)
            return WireResponse(replies.completion(saying))

    def _rule(self, system: str, user: str) -> str:
        answers = tuple(text for _, _, text in _QUOTED.findall(user))
        says = self._prefer(*answers) if len(answers) > 1 else self._rate(system, *answers)
        self.rulings.append(Ruling(answers=answers, says=says))
        return f"I have read what was quoted.\n\n{says}"

    def _rate(self, system: str, answer: str) -> str:
        scale = _SCALE.search(system)
        if scale is None:
            return "There is no scale to rate on."
        lowest, highest = map(float, scale.groups())
        return f"Rating: {lowest + (highest - lowest) * self.quality(answer):g}"

    def _prefer(self, first: str, second: str) -> str:
        better = self.quality(first) - self.quality(second)
        luck = chance.uniform("position", self.knobs.seed, first, second)
        if luck < self.position_bias or better > 0.0:
            return "Verdict: A"
        return "Verdict: B" if better < 0.0 else "Verdict: tie"
