"""The graders there are, by the name that a suite gives as `kind`, and how they are used."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from monitor.domain import answers, errors, suites
from monitor.grading import (
    choice,
    exact,
    external,
    include,
    json_fields,
    judge,
    lists,
    math_equality,
    normalised,
    numeric,
    regex,
    token_f1,
)
from monitor.grading.grader import Grader, Outside, nearest

GRADERS: dict[str, Grader] = {
    "exact": Grader(extract=exact.extract, compare=exact.compare, check=exact.check),
    "normalised": Grader(
        extract=normalised.extract, compare=normalised.compare, check=normalised.check
    ),
    "include": Grader(extract=include.extract, compare=include.compare, check=include.check),
    "token_f1": Grader(
        extract=token_f1.extract,
        compare=token_f1.compare,
        check=token_f1.check,
        is_binary=False,
    ),
    "choice": Grader(extract=choice.extract, compare=choice.compare, check=choice.check),
    "numeric": Grader(extract=numeric.extract, compare=numeric.compare, check=numeric.check),
    "math": Grader(
        extract=math_equality.extract,
        compare=math_equality.compare,
        check=math_equality.check,
        prepare=math_equality.prepare,
        can_hang=True,
    ),
    "list": Grader(
        extract=lists.extract, compare=lists.compare_ordered, check=lists.check, is_binary=False
    ),
    "set": Grader(
        extract=lists.extract, compare=lists.compare_unordered, check=lists.check, is_binary=False
    ),
    "json": Grader(
        extract=json_fields.extract,
        compare=json_fields.compare,
        check=json_fields.check,
        can_hang=True,
        is_binary=False,
    ),
    "regex": Grader(extract=regex.extract, compare=regex.compare, check=regex.check, can_hang=True),
}


OUTSIDE: dict[str, Outside] = {
    judge.KIND: Outside(check=judge.check, needs="judges under `suites` in the configuration"),
    "command": Outside(check=external.check, needs="`graders.commands` in the configuration"),
    "http": Outside(check=external.check, needs="`graders.urls` in the configuration"),
}
"""Graders that ask others; their scores may be any number from 0 to 1."""

Grading = Callable[[suites.GraderSpec, suites.Item, str], Awaitable[answers.Grade]]


def grade(spec: suites.GraderSpec, item: suites.Item, text: str) -> answers.Grade:
    """Score a text: what it gives as its answer, compared with the targets of the item.

    The spec must be one in which `problems` finds none.
    """
    grader = GRADERS[spec.kind]
    extracted = grader.extract(spec.options, item, text)
    if extracted is None:
        return answers.Grade(ungraded=answers.Ungraded.NO_ANSWER)
    score = grader.compare(spec.options, item, extracted)
    return answers.Grade(score=score, extracted=extracted)


def problems(spec: suites.GraderSpec, item: suites.Item) -> list[errors.Problem]:
    """What is wrong with a grader, its options or the item they are to grade (see Grader.check)."""
    known = GRADERS.get(spec.kind) or OUTSIDE.get(spec.kind)
    if known is None:
        todo = nearest(spec.kind, [*GRADERS, *OUTSIDE])
        what = f"unknown grader {spec.kind!r:.80}"
        return [errors.Problem(where="grader.kind", what=what, todo=todo)]
    return known.check(spec.options, item)


def is_binary(kind: str) -> bool:
    """Whether every score is 0 or 1, which an exact interval needs."""
    return kind in GRADERS and GRADERS[kind].is_binary


def outside(suite: suites.Suite) -> tuple[suites.GraderSpec, ...]:
    """The different graders of a suite that ask others, in the order of its items."""
    specs = (suite.grader_of(item) for item in suite.items)
    found: list[suites.GraderSpec] = []
    for spec in specs:
        if spec.kind in OUTSIDE and spec not in found:
            found.append(spec)
    return tuple(found)


async def self_check(suite: suites.Suite, grading: Grading) -> list[errors.Problem]:
    """Grade every target as if it were an answer: each must score 1.

    A target in which the grader finds no answer is tried behind its marker, and at last compared as
    it is: a pattern may want more than the target. The first that runs out of time is the last.
    Nothing is asked of others, which would cost: their items are passed over.

    Letters in targets are those of the choices as the suite has them, so these are not shuffled.

    Args:
        suite: what to check.
        grading: runs graders, with a time limit where their patterns are not to be trusted.
    """
    problems = []
    for item, target in [(each, target) for each in suite.items for target in each.target]:
        spec = suite.grader_of(item)
        if spec.kind in OUTSIDE:
            continue
        result = await _own_grade(spec, replace(item, order=()), target, grading=grading)
        is_slow = result.ungraded is answers.Ungraded.TIME_LIMIT
        if result.score != 1.0:
            problems.append(_own_problem(spec, item, target, is_slow=is_slow))
        if is_slow:
            break
    return problems


def _own_problem(
    spec: suites.GraderSpec, item: suites.Item, target: str, *, is_slow: bool
) -> errors.Problem:
    what = f"{target!r:.80} is not right by the item's own grader"
    todo = f"change the target or the options of the grader {spec.kind}"
    if is_slow:
        what = f"grading {target!r:.80} takes too long; whatever comes after it was not tried"
        todo = f"give the grader {spec.kind} a pattern without nested repetitions"
    return errors.Problem(where=f"item {item.id}, target", what=what, todo=todo)


async def _own_grade(
    spec: suites.GraderSpec, item: suites.Item, target: str, *, grading: Grading
) -> answers.Grade:
    for text in (target, f"{spec.options.get('marker', 'ANSWER:')} {target}"):
        result = await grading(spec, item, text)
        if result.ungraded is not answers.Ungraded.NO_ANSWER:
            return result
    return answers.Grade(score=GRADERS[spec.kind].compare(spec.options, item, target))
