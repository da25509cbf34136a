import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from tests.unit.grading.examples import found_wrong, graded, item

COLOURS = item("red, green, blue")
ALL = ["red", "green", "blue"]
READ_AS: list[tuple[str, list[str] | None]] = [
    ("red, green, blue", ALL),
    ("Red, Green, Blue.", ALL),
    ("red,green,blue", ALL),
    ("red; green; blue", ALL),
    ("red, green and blue", ALL),
    ("red, green, and blue", ALL),
    ("red & green & blue", ALL),
    ("`red`, `green`, `blue`", ALL),
    ("**red**, **green**, **blue**", ALL),
    ("red\ngreen\nblue", ALL),
    ("red\u3001green\u3001blue", ALL),
    ("red\uff0cgreen\uff0cblue", ALL),
    ("- red\n- green\n- blue", ALL),
    ("1. Red\n2. Green\n3. Blue", ALL),
    ("1) red\n\n2) green\n\n3) blue", ALL),
    ("* **Red** \u2013 warm\n* **Green**: a cold one\n* Blue (sky)", ALL),
    ("The colours are:\n\n- red\n- green\n- blue\n\nAnything else, perhaps?", ALL),
    ("The colours are:\nred\ngreen\nblue", ALL),
    ('["red", "green", "blue"]', ALL),
    ("['red', 'green', 'blue']", ALL),
    ('Here you go:\n```json\n["red", "green",\n "blue"]\n```', ALL),
    ("{red, green, blue}", ALL),
    ("$\\{red, green, blue\\}$", ALL),
    ("\\boxed{red, green, blue}", ALL),
    ("ANSWER: red, green, blue", ALL),
    ("**Answer:**\n- red\n- green\n- blue\n\nHope this helps!", ALL),
    ('Answer:\n```\n[\n  "red",\n  "green",\n  "blue"\n]\n```', ALL),
    ("The answer is red, green and blue. White is none.", ALL),
    ("Sure! The primary colours are red, green and blue.", ALL),
    ("They are: red, green, blue. [1]", ALL),
    ("Red, green, blue\n\nHope this helps!", ALL),
    ("The colours are red, green and blue, because eyes are so.", ALL),
    ("Answer: red, blue\nNo, wait.\nAnswer: red, green, blue", ALL),
    ("<think>yellow, red</think>red, green, blue", ALL),
    ("red", ["red"]),
    ("red and blue", ["red", "blue"]),
    ("red, red", ["red", "red"]),
    ("I cannot help with that.", ["i cannot help with that"]),
    ("", None),
    (" , ;\n", None),
    ("[]", None),
    ("<think>red, green, blue", None),
]


@pytest.mark.parametrize(("answer", "elements"), READ_AS)
def test_read(answer: str, elements: list[str] | None) -> None:
    grade = graded("list", answer, COLOURS)
    assert (grade.extracted and json.loads(grade.extracted)) == elements
    assert grade.score == (None if elements is None else float(elements == ALL))


@pytest.mark.parametrize(
    ("answer", "elements"),
    [
        ("Trinidad and Tobago, Barbados", ["trinidad and tobago", "barbados"]),
        ("Barbados and Trinidad and Tobago", ["barbados", "trinidad and tobago"]),
        ("Trinidad and Tobago and Barbados", ["trinidad and tobago", "barbados"]),
        ("- Barbados\n- Trinidad and Tobago (islands)", ["barbados", "trinidad and tobago"]),
    ],
)
def test_and_within_an_element_does_not_separate(answer: str, elements: list[str]) -> None:
    grade = graded("set", answer, item("Barbados, Trinidad and Tobago"))
    assert (grade.extracted, grade.score) == (json.dumps(elements), 1.0)


# Answer to "red, green, blue, red" as a list and as a set, all or nothing and as F1.
SCORES = [
    ("red, green, blue, red", (1.0, 1.0), (1.0, 1.0)),
    ("red, green, blue", (0.0, 6 / 7), (1.0, 1.0)),
    ("blue, green, red", (0.0, 4 / 7), (1.0, 1.0)),
    ("red, green, blue, blue, red", (0.0, 8 / 9), (1.0, 1.0)),
    ("red, green", (0.0, 2 / 3), (0.0, 4 / 5)),
    ("red, green, blue, red, pink", (0.0, 8 / 9), (0.0, 6 / 7)),
    ("pink", (0.0, 0.0), (0.0, 0.0)),
    ("red, " * 5_000 + "red", (0.0, 4 / 5_005), (0.0, 1 / 2)),
]


@pytest.mark.parametrize(("answer", "as_list", "as_set"), SCORES)
def test_scores(answer: str, as_list: tuple[float, ...], as_set: tuple[float, ...]) -> None:
    for kind, expected in {"list": as_list, "set": as_set}.items():
        scores = [
            graded(kind, answer, item("red, green, blue, red"), score=score).score
            for score in ("all", "f1")
        ]
        assert scores == pytest.approx(expected)


def test_the_closest_target_counts() -> None:
    assert graded("list", "a, b", item("c", "a, b", "b, a"), score="f1").score == 1.0


@pytest.mark.parametrize(
    ("answer", "options", "score"),
    [
        ("Paris, France | Lyon, France", {"separator": "|"}, 1.0),
        ("- Paris, France\n- Lyon, France", {"separator": "|"}, 1.0),
        ("the Paris, France | Lyon, France", {"separator": "|", "ignore_articles": True}, 1.0),
        ("Paris, France | Lyon, France", {"separator": "|", "answer": "stated"}, None),
        (">> Paris, France | Lyon, France", {"separator": "|", "marker": ">>"}, 1.0),
    ],
)
def test_options(answer: str, options: dict[str, Any], score: float | None) -> None:
    assert graded("set", answer, item("Lyon, France|Paris, France"), **options).score == (score)


ELEMENTS = st.lists(st.sampled_from(["red", "green", "new york", "3", "C++"]), min_size=1)


@given(ELEMENTS, ELEMENTS)
def test_f1_is_symmetric(first: list[str], second: list[str]) -> None:
    one, other = ", ".join(first), ", ".join(second)
    for kind in ("list", "set"):
        forth = graded(kind, one, item(other), score="f1").score
        assert graded(kind, other, item(one), score="f1").score == forth


@given(ELEMENTS)
def test_a_target_scores_1(elements: list[str]) -> None:
    for target in (", ".join(elements), json.dumps(elements)):
        assert graded("list", target, item(target)).score == 1.0


def test_problems() -> None:
    assert found_wrong("list", item(" ,; "), separator="", score="best") == [
        "grader.separator: should be a text that is not blank, in quotes, not ''",
        "grader.score: should be one of all, f1, not 'best'",
        "target: ' ,; ' cannot be an answer",
    ]
