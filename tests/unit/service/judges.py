"""Judges whose way of deciding is a function, and worlds in which they judge."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from monitor.domain.answers import ChatRequest, Completed, Exchange, Refused
from monitor.domain.identifiers import EndpointName, digest
from monitor.domain.policies import Budget, EstimateOnly, Policy
from monitor.domain.suites import GraderSpec, Message, Suite
from monitor.service.catalog import Judge
from monitor.service.lanes import Lane
from tests.unit.engine.examples import SUITE
from tests.unit.service.hand_clock import HandClock
from tests.unit.service.worlds import World, world

RATING = GraderSpec(kind="judge")
PAIRWISE = GraderSpec(kind="judge", options={"mode": "pairwise"})
RATED = GraderSpec(kind="judge", options={"mode": "rating"})
PAIRED = GraderSpec(kind="judge", options={"mode": "pairwise"})
ITEM = SUITE.items[0]
ASKED = (Message(role="user", content="How much?"),)
DENIED = Refused(http_status=401, message="no such key")
QUOTED = re.compile(r"<(answer(?: [AB])?) ([0-9a-f]{16})>\n(.*)\n</\1 \2>", re.DOTALL)

Decide = Callable[[dict[str, str]], str | Exchange]


def said(text: str, finish_reason: str = "stop") -> Completed:
    return Completed(
        content=text, finish_reason=finish_reason, prompt_tokens=100, completion_tokens=20
    )


@dataclass
class JudgeEndpoint:
    """Decides by the answers that it is shown, a second for each."""

    clock: HandClock
    decide: Decide
    asked: list[dict[str, str]] = field(default_factory=list)

    async def ask(self, request: ChatRequest, *, seconds: float) -> Exchange:  # noqa: ARG002 - of the port
        shown = {name: text for name, _, text in QUOTED.findall(str(request.messages[-1].content))}
        self.asked.append(shown)
        await self.clock.sleep(1.0)
        decided = self.decide(shown)
        return said(decided) if isinstance(decided, str) else decided

    async def models(self, *, seconds: float) -> tuple[str, ...] | Exchange:
        raise AssertionError(seconds)


def is_right(shown: dict[str, str]) -> str:
    return f"Rating: {5 if shown['answer'].isdigit() else 1}"


def judged_world(decide: Decide, spec: GraderSpec = RATING) -> World:
    """A world whose suite is judged; the right answers are those that say their question."""
    suite: Suite = replace(SUITE, grader=spec, digest=digest(["judged", spec.options["mode"]]))
    seen = world(policy=Policy(objective=EstimateOnly(), budget=Budget(count=20)))
    seen.catalog.suites = {suite.name: suite}
    target = replace(
        seen.catalog.endpoint,
        model="judge-1",
        base_url="http://judge/v1",
        endpoint=JudgeEndpoint(seen.clock, decide),
        lane=Lane(concurrency=4, clock=seen.clock),
    )
    seen.catalog.panel = (Judge(name=EndpointName("strict"), target=target),)
    return seen


def replace_judge(seen: World, model: str) -> None:
    (judge,) = seen.catalog.panel
    seen.catalog.panel = (replace(judge, target=replace(judge.target, model=model)),)
