"""The graders there are, by the name that a suite gives as `kind`, and how they are used."""

from monitor.domain import answers, errors, suites
from monitor.grading import choice, exact, normalised, numeric, regex
from monitor.grading.grader import Grader, nearest

GRADERS: dict[str, Grader] = {
    "exact": Grader(extract=exact.extract, compare=exact.compare, check=exact.check),
    "normalised": Grader(
        extract=normalised.extract, compare=normalised.compare, check=normalised.check
    ),
    "choice": Grader(extract=choice.extract, compare=choice.compare, check=choice.check),
    "numeric": Grader(extract=numeric.extract, compare=numeric.compare, check=numeric.check),
    "regex": Grader(extract=regex.extract, compare=regex.compare, check=regex.check, can_hang=True),
}


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
    if spec.kind not in GRADERS:
        todo = nearest(spec.kind, [*GRADERS])
        what = f"unknown grader {spec.kind!r:.80}"
        return [errors.Problem(where="grader.kind", what=what, todo=todo)]
    return GRADERS[spec.kind].check(spec.options, item)


def self_check(suite: suites.Suite) -> list[errors.Problem]:
    """Grade every target as if it were an answer: each must score 1.

    A target in which the grader finds no answer is tried behind its marker, and at last compared as
    it is: a pattern may want more than the target. Runs the suite's own patterns in this process,
    so it takes as long as they take.
    """
    return [
        errors.Problem(
            where=f"item {item.id}, target",
            what=f"{target!r:.80} is not right by the item's own grader",
            todo=f"change the target or the options of the grader {suite.grader_of(item).kind}",
        )
        for item in suite.items
        for target in item.target
        if _own_score(suite.grader_of(item), item, target) != 1.0
    ]


def _own_score(spec: suites.GraderSpec, item: suites.Item, target: str) -> float:
    for text in (target, f"{spec.options.get('marker', 'ANSWER:')} {target}"):
        result = grade(spec, item, text)
        if result.score is not None:
            return result.score
    return GRADERS[spec.kind].compare(spec.options, item, target)
