from collections.abc import Iterator

import httpx2
import pytest

from monitor.domain.suites import Message
from monitor.grading import judge_prompts, judge_replies
from monitor.simulation import serving
from monitor.simulation.judges import JudgeSimulation
from monitor.simulation.knobs import Fault, Knobs, Trigger

ASKED = (Message(role="user", content="Capital of France?"),)


def quality(answer: str) -> float:
    return {"Paris": 1.0, "Lyon": 0.25}.get(answer, 0.0)


@pytest.fixture
def judge() -> JudgeSimulation:
    return JudgeSimulation(quality=quality)


@pytest.fixture
def base_url(judge: JudgeSimulation) -> Iterator[str]:
    with serving.serving(judge) as url:
        yield url


def ask(base_url: str, messages: tuple[Message, ...]) -> httpx2.Response:
    document = {
        "model": "judge",
        "messages": [{"role": each.role, "content": each.content} for each in messages],
    }
    return httpx2.post(f"{base_url}/chat/completions", json=document, trust_env=False)


def said(base_url: str, messages: tuple[Message, ...]) -> str:
    text: str = ask(base_url, messages).json()["choices"][0]["message"]["content"]
    return text


@pytest.mark.parametrize(("answer", "rating"), [("Paris", 5), ("Lyon", 2), ("Rome", 1)])
def test_it_rates_by_the_quality(answer: str, rating: int, base_url: str) -> None:
    asked = judge_prompts.rating(ASKED, ["Paris"], answer, scale=(1, 5), rubric=None)
    assert judge_replies.rating(said(base_url, asked), lowest=1, highest=5) == rating


@pytest.mark.parametrize(
    ("pair", "first"),
    [(("Paris", "Lyon"), 1.0), (("Rome", "Lyon"), 0.0), (("Paris", "Paris"), 0.5)],
)
@pytest.mark.parametrize("bias", [0.0, 1.0])
def test_it_prefers_the_better_or_the_first(
    pair: tuple[str, str], first: float, bias: float, judge: JudgeSimulation, base_url: str
) -> None:
    judge.position_bias = bias
    reply = said(base_url, judge_prompts.comparison(ASKED, pair, rubric=None))
    assert judge_replies.preference(reply) == (1.0 if bias else first)
    assert [ruling.answers for ruling in judge.rulings] == [pair]


def test_it_fails_as_it_is_told(judge: JudgeSimulation, base_url: str) -> None:
    judge.knobs = Knobs(faults={Fault.SERVER_ERROR: Trigger(first=1)})
    asked = judge_prompts.comparison(ASKED, ("Paris", "Lyon"), rubric=None)
    assert [ask(base_url, asked).status_code for _ in range(2)] == [500, 200]


def test_it_says_which_model_it_is(base_url: str) -> None:
    listed = httpx2.get(f"{base_url}/models", trust_env=False).json()
    assert [each["id"] for each in listed["data"]] == ["judge"]
