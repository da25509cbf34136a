"""How to ask and to grade what was imported, where the file does not say."""

import re
import statistics
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from monitor.domain.suites import GraderSpec, Item
from monitor.grading import graders

LONG_WORDS = 6
FOR_TEXTS = ("numeric", "json", "math", "token_f1", "normalised")
"""Graders that are suggested for items without choices."""

_NUMBER = re.compile(r"[-+\u2212]?[$\u20ac\u00a3]?\d[\d,]*(?:\.\d+)?(?:/\d+)?\s?%?")
_FORMULA = re.compile(r"\\[a-zA-Z]+|\$[^$]+\$|\w\^\S")

CHOICES = """{{ input }}

{% for letter, text in choices %}{{ letter }}) {{ text }}
{% endfor %}
End with a line that says ANSWER: and the letter."""
ENDINGS = {
    "json": "Answer with JSON alone.",
    "math": "End with a line that says ANSWER: and the result.",
    "normalised": "End with a line that says ANSWER: and the answer, in as few words as possible.",
    "numeric": "End with a line that says ANSWER: and the number.",
}


def grader(items: Sequence[Item]) -> tuple[dict[str, Any], str]:
    """A grader for items, and the reason for it.

    Args:
        items: at least one.
    """
    targets = [target for item in items for target in item.target]
    if all(item.choices for item in items):
        return {"kind": "choice"}, "every item has choices"
    if all(map(_NUMBER.fullmatch, targets)) and _can_grade("numeric", items):
        return {"kind": "numeric"}, "every target is a number"
    if all(target.lstrip().startswith(("{", "[")) for target in targets) and _can_grade(
        "json", items
    ):
        return {"kind": "json"}, "every target is JSON"
    if all(_NUMBER.fullmatch(each) or _FORMULA.search(each) for each in targets):
        return {"kind": "math"}, "every target is a number or a formula"
    if statistics.median(len(target.split()) for target in targets) > LONG_WORDS:
        return {"kind": "token_f1"}, "targets are sentences"
    return {"kind": "normalised"}, "targets are short texts"


def ending(grader: Mapping[str, Any]) -> str:
    """How a question is to say that it be answered; empty where the whole answer is compared."""
    return "" if grader.get("answer") == "whole" else ENDINGS.get(grader["kind"], "")


def prompt(ending: str, *, choices: Collection[bool]) -> str:
    """A template for questions.

    Args:
        ending: of questions without choices.
        choices: for the items, whether they have choices, which the prompt must show.
    """
    if all(choices):
        return CHOICES
    plain = f"{{{{ input }}}}\n\n{ending}".rstrip()
    if not any(choices):
        return plain
    return f"{{% if choices %}}{CHOICES}{{% else %}}{plain}{{% endif %}}"


def _can_grade(kind: str, items: Sequence[Item]) -> bool:
    return not any(graders.problems(GraderSpec(kind=kind), item) for item in items)
