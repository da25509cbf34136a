"""Right is what judges say: other models, which are shown the question, a reference and the answer.

This is the pure half: what a grader of kind `judge` may be told, what its judges are asked, and
what their replies are worth. Asking them is the service's work.

- `rating`: each judge gives a number on a declared scale, of which 0 to 1 is made; of several
  judges the median counts.
- `pairwise`: each judge prefers the answer or the target, without knowing which is which, in both
  orders. Preferred is 1, a tie .5, the target preferred 0. A judge that decides differently in
  the two orders has gone by the position and has said nothing: a tie, counted as a flip. Of
  several judges the verdict of more than half counts, and without one it is a tie.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import median
from typing import Any

from monitor.domain import errors, suites
from monitor.grading import grader, judge_prompts, judge_replies, statements

KIND = "judge"
RATING, PAIRWISE = "rating", "pairwise"
MOST_JUDGES = 9
TIE = 0.5


def _is_number(given: Any) -> bool:  # noqa: ANN401 - any JSON value
    return isinstance(given, int | float) and not isinstance(given, bool) and isfinite(given)


def _is_scale(given: Any) -> bool:  # noqa: ANN401 - any JSON value
    return (
        isinstance(given, list | tuple)
        and len(given) == len(("lowest", "highest"))
        and all(_is_number(each) and abs(each) <= judge_replies.LARGEST for each in given)
        and given[0] < given[1]
    )


def _count(most: int, *, default: int) -> grader.Option:
    return grader.Option(
        wanted=f"a whole number from 1 to {most}",
        accepts=lambda given: type(given) is int and 1 <= given <= most,
        default=default,
    )


OPTIONS = {
    "mode": grader.one_of(RATING, PAIRWISE),
    "scale": grader.Option(
        wanted="the lowest and the highest rating, such as [1, 5]",
        accepts=_is_scale,
        default=(1, 5),
    ),
    "rubric": grader.words(),
    "judges": _count(MOST_JUDGES, default=1),
    "max_tokens": _count(100_000, default=1024),
    "temperature": grader.Option(
        wanted="a number, 0 or more, or null to leave it to the judge",
        accepts=lambda given: given is None or (_is_number(given) and given >= 0),
        default=0.0,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What one judge makes of an answer; `flipped` where the order of the answers decided."""

    score: float
    flipped: bool = False


def answer_of(text: str) -> str | None:
    """The part of a text that is judged, None where nothing is left of it."""
    return statements.without_reasoning(text).strip() or None


def generation(options: grader.Options) -> suites.Generation:
    """How judges are to generate."""
    return suites.Generation(
        temperature=grader.read(options, OPTIONS, "temperature"),
        max_tokens=grader.read(options, OPTIONS, "max_tokens"),
    )


def judges(options: grader.Options) -> int:
    """How many judges the suite wants."""
    wanted: int = grader.read(options, OPTIONS, "judges")
    return wanted


def calls(options: grader.Options) -> int:
    """How many questions all judges together are asked about one answer."""
    orders = 1 if grader.read(options, OPTIONS, "mode") == RATING else 2
    return orders * judges(options)


def questions(
    options: grader.Options, item: suites.Item, asked: Sequence[suites.Message], answer: str
) -> tuple[tuple[suites.Message, ...], ...]:
    """What each judge is asked: one question for a rating, and one for each order of a pair.

    Args:
        options: of the grader.
        item: what was asked; its targets are the reference.
        asked: the messages that the answer is to, as they were sent.
        answer: from `answer_of`.
    """
    rubric = grader.read(options, OPTIONS, "rubric")
    if grader.read(options, OPTIONS, "mode") == RATING:
        scale = grader.read(options, OPTIONS, "scale")
        return (judge_prompts.rating(asked, item.target, answer, scale=scale, rubric=rubric),)
    pair = (answer, item.target[0])
    return tuple(
        judge_prompts.comparison(asked, shown, rubric=rubric) for shown in (pair, pair[::-1])
    )


def read(options: grader.Options, order: int, reply: str) -> float | None:
    """Score in [0, 1] that a reply gives to the answer, None where it cannot be used.

    Args:
        options: of the grader.
        order: which of the `questions` it replies to, from 0.
        reply: what the judge said.
    """
    text = statements.without_reasoning(reply)
    if grader.read(options, OPTIONS, "mode") == PAIRWISE:
        first = judge_replies.preference(text)
        return first if first is None or order == 0 else 1.0 - first
    lowest, highest = grader.read(options, OPTIONS, "scale")
    rating = judge_replies.rating(text, lowest=lowest, highest=highest)
    return None if rating is None else (rating - lowest) / (highest - lowest)


def conclude(scores: Sequence[float]) -> Judgement:
    """What a judge has said, by its scores for all the `questions`."""
    if len(set(scores)) == 1:
        return Judgement(score=scores[0])
    return Judgement(score=TIE, flipped=True)


def agree(options: grader.Options, judgements: Sequence[Judgement]) -> float:
    """Score in [0, 1] that all judges together give, each of them having judged."""
    scores = [each.score for each in judgements]
    if grader.read(options, OPTIONS, "mode") == RATING:
        return float(median(scores))
    ((score, votes),) = Counter(scores).most_common(1)
    return score if 2 * votes > len(scores) else TIE


def check(options: grader.Options, item: suites.Item) -> list[errors.Problem]:
    """Find options that do not fit each other or their values, and blank targets."""
    todo = "say what a right answer is, or what it has to contain: the judge is shown it"
    found = grader.option_problems(options, OPTIONS)
    usable = grader.fitting(options, OPTIONS)
    if grader.read(usable, OPTIONS, "mode") == PAIRWISE and "scale" in options:
        what = "is for mode rating: a pair has no scale"
        found.append(errors.Problem(where="grader.scale", what=what, todo="leave it out"))
    return found + grader.target_problems(item, lambda target: bool(target.strip()), todo)
