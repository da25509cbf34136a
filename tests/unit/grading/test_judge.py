from typing import Any

import pytest
from hypothesis import given, strategies as st

from monitor.domain.identifiers import Digest, ItemId
from monitor.domain.suites import Generation, GraderSpec, Item, Message
from monitor.grading import graders, judge
from monitor.grading.judge import Judgement

ITEM = Item(id=ItemId("fr"), input="Capital of France?", target=("Paris",), digest=Digest("d"))
ASKED = (Message(role="user", content="Capital of France?"),)
RATING: dict[str, Any] = {}
PAIRWISE: dict[str, Any] = {"mode": "pairwise"}


def problems(**options: object) -> list[str]:
    spec = GraderSpec(kind="judge", options=options)
    return [problem.where for problem in graders.problems(spec, ITEM)]


@pytest.mark.parametrize(
    ("scale", "reply", "score"),
    [
        ([1, 5], "Rating: 1", 0.0),
        ([1, 5], "Rating: 3", 0.5),
        ([1, 5], "Rating: 5", 1.0),
        ([0, 10], "Rating: 7", 0.7),
        ([-2, 2], "Rating: -1", 0.25),
        ([0, 10], "Rating: 11", None),
    ],
)
def test_a_rating_is_its_place_on_the_scale(
    scale: list[int], reply: str, score: float | None
) -> None:
    assert judge.read({"scale": scale}, 0, reply) == score


@pytest.mark.parametrize(
    ("order", "reply", "score"),
    [
        (0, "Verdict: A", 1.0),
        (1, "Verdict: A", 0.0),
        (0, "Verdict: B", 0.0),
        (1, "Verdict: B", 1.0),
        (0, "Verdict: tie", 0.5),
        (1, "Verdict: tie", 0.5),
        (1, "Verdict: C", None),
    ],
)
def test_a_preference_counts_for_the_answer_wherever_it_stood(
    order: int, reply: str, score: float | None
) -> None:
    assert judge.read(PAIRWISE, order, reply) == score


def test_reasoning_of_a_judge_is_no_reply() -> None:
    assert judge.read(RATING, 0, "<think>\nRating: 1\n</think>\nRating: 5") == 1.0
    assert judge.read(RATING, 0, "<think>\nRating: 1") is None


@pytest.mark.parametrize(
    ("scores", "judgement"),
    [
        ([0.75], Judgement(score=0.75)),
        ([1.0, 1.0], Judgement(score=1.0)),
        ([0.5, 0.5], Judgement(score=0.5)),
        ([1.0, 0.0], Judgement(score=0.5, flipped=True)),
        ([0.5, 0.0], Judgement(score=0.5, flipped=True)),
    ],
)
def test_a_judge_that_turns_with_the_order_has_said_nothing(
    scores: list[float], judgement: Judgement
) -> None:
    assert judge.conclude(scores) == judgement


@pytest.mark.parametrize(
    ("options", "scores", "agreed"),
    [
        (RATING, [0.25], 0.25),
        (RATING, [0.0, 0.75, 1.0], 0.75),
        (RATING, [0.5, 1.0], 0.75),
        (PAIRWISE, [1.0, 1.0, 0.0], 1.0),
        (PAIRWISE, [0.0, 0.5, 0.0], 0.0),
        (PAIRWISE, [1.0, 0.5, 0.0], 0.5),
        (PAIRWISE, [1.0, 0.0], 0.5),
        (PAIRWISE, [1.0, 1.0, 0.0, 0.5], 0.5),
    ],
)
def test_several_judges_agree_on_a_score(
    options: dict[str, Any], scores: list[float], agreed: float
) -> None:
    assert judge.agree(options, [Judgement(score=each) for each in scores]) == agreed


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=9))
def test_better_judgements_never_make_a_worse_score(scores: list[float]) -> None:
    better = [Judgement(score=min(1.0, each + 0.5)) for each in scores]
    same = [Judgement(score=each) for each in scores]
    for options in (RATING, PAIRWISE):
        assert judge.agree(options, better) >= judge.agree(options, same)


def test_each_judge_is_asked_once_for_a_rating_and_in_both_orders_for_a_pair() -> None:
    assert len(judge.questions(RATING, ITEM, ASKED, "Lyon")) == 1
    first, second = judge.questions(PAIRWISE, ITEM, ASKED, "Lyon")
    assert str(first[1].content).index("Lyon") < str(first[1].content).index("Paris")
    assert str(second[1].content).index("Paris") < str(second[1].content).index("Lyon")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (" Lyon\n", "Lyon"),
        ("<think>Paris?</think>Lyon", "Lyon"),
        ("<think>Paris", None),
        ("", None),
    ],
)
def test_what_is_judged(text: str, answer: str | None) -> None:
    assert judge.answer_of(text) == answer


def test_the_suite_says_how_judges_generate() -> None:
    assert judge.generation({}) == Generation(temperature=0.0, max_tokens=1024)
    own = judge.generation({"temperature": None, "max_tokens": 64})
    assert own == Generation(temperature=None, max_tokens=64)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mode", "vote"),
        ("scale", [5, 1]),
        ("scale", [1, 1]),
        ("scale", [1]),
        ("scale", ["1", "5"]),
        ("scale", [0, 1e9]),
        ("scale", 5),
        ("rubric", " "),
        ("judges", 0),
        ("judges", True),
        ("judges", 1.5),
        ("max_tokens", 0),
        ("temperature", -1),
        ("temperature", float("nan")),
        ("endpoint", "strict"),
    ],
)
def test_options_that_do_not_fit(name: str, value: object) -> None:
    assert problems(**{name: value}) == [f"grader.{name}"]


def test_a_pair_has_no_scale() -> None:
    assert problems(mode="pairwise", scale=[1, 5]) == ["grader.scale"]
    assert problems(mode="rating", scale=[1, 5], rubric="Is it right?", judges=3) == []


def test_a_blank_reference_is_a_problem() -> None:
    blank = Item(id=ItemId("1"), input="?", target=(" ",), digest=Digest("d"))
    (problem,) = graders.problems(GraderSpec(kind="judge"), blank)
    assert problem.where == "target"
