"""A model that always takes the first letter gains nothing where choices are shuffled."""

import json

from scipy import stats

from monitor.domain.suites import Suite
from monitor.grading import graders
from monitor.wire.suites import Source, decode_suite

ITEMS, CHOICES = 1000, 4
MANIFEST = """\
name: letters
prompt: {user: "{{ input }} {{ choices }}"}
grader: {kind: choice}
choices: {shuffle: %s}
"""


def suite(shuffle: str) -> Suite:
    """A suite whose right choice is always the first."""
    choices = [f"choice {number}" for number in range(CHOICES)]
    lines = (
        json.dumps({"id": n, "input": f"{n}?", "choices": choices, "target": "A"})
        for n in range(ITEMS)
    )
    return decode_suite(
        Source(name="suite.yaml", content=(MANIFEST % shuffle).encode()),
        Source(name="items.jsonl", content="\n".join(lines).encode()),
    )


def right(pool: Suite, answer: str) -> int:
    return sum(graders.grade(pool.grader, item, answer).score == 1.0 for item in pool.items)


def test_always_the_first_letter() -> None:
    assert right(suite("false"), "ANSWER: A") == ITEMS
    shuffled = suite("true")
    for letter in "ABCD":
        count = right(shuffled, f"ANSWER: {letter}")
        assert stats.binomtest(count, ITEMS, 1 / CHOICES).pvalue > 1e-4


def test_the_right_words_stay_right() -> None:
    assert right(suite("true"), "ANSWER: choice 0") == ITEMS
