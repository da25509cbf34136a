from typing import Any

import pytest

from tests.unit.grading.examples import found_wrong, graded, item

CODE = {"pattern": r"(?i)\bcode:?\s*\**([A-Z]{2}-\d+)"}

READ_AS: list[tuple[str, dict[str, Any], str | None]] = [
    ("Code: AB-12", CODE, "AB-12"),
    ("code ab-12", CODE, "ab-12"),
    ("**Code: AB-12**", CODE, "AB-12"),
    ("Code: **AB-12**", CODE, "AB-12"),
    ("The code: AB-12.", CODE, "AB-12"),
    ("Code: AB-12\nCode: CD-34", CODE, "AB-12"),
    ("Code: AB-12\nCode: CD-34", {**CODE, "match": "last"}, "CD-34"),
    ("Code AB12", CODE, None),
    ("decode: AB-12", CODE, None),
    ("", CODE, None),
    ("AB-12", {"pattern": r"[A-Z]+-\d+"}, "AB-12"),
    ("x AB-12 y", {"pattern": r"[A-Z]+-\d+"}, "AB-12"),
    ("1: AB-12", {"pattern": r"(\d): (\S+)", "group": 2}, "AB-12"),
    ("1: AB-12", {"pattern": r"(\d): (\S+)", "group": 0}, "1: AB-12"),
    ("1: AB-12", {"pattern": r"(\d): (?P<code>\S+)", "group": "code"}, "AB-12"),
    ("= AB-12 \n", {"pattern": r"=(.*)"}, "AB-12"),
    ("=   \n", {"pattern": r"=(.*)"}, None),
    ("b", {"pattern": r"(a)|b"}, None),
    ("one\nAB-12\nthree", {"pattern": r"(?m)^[A-Z-\d]+$"}, "AB-12"),
    ("<a>\nAB\n-12</a>", {"pattern": r"(?s)<a>(.*)</a>"}, "AB\n-12"),
    ("\u00c4B-12", {"pattern": r"\w\w-\d+"}, "\u00c4B-12"),
    ("I cannot help with that.", CODE, None),
    ("Code: $AB-12$", CODE, None),
    ("Code: $AB-12$", {"pattern": r"Code:\W*([\w-]+)"}, "AB-12"),
    ("Code: \\boxed{AB-12}", {"pattern": r"\\boxed\{([^{}]*)\}"}, "AB-12"),
    ("```\nCode: AB-12\n```", CODE, "AB-12"),
    ("Code: AB\u201112", CODE, None),
    ("Code:\u00a0AB-12", CODE, "AB-12"),
    ('{"code": "AB-12"}', {"pattern": r'"code":\s*"([^"]*)"'}, "AB-12"),
    ("Code: CD-34? No. Code: AB-12", {**CODE, "match": "last"}, "AB-12"),
    ("<think>Code: CD-34</think>Code: AB-12", {"pattern": r"(?s).*</think>.*?(\w+-\d+)"}, "AB-12"),
    ("word " * 10_000 + "Code: AB-12", CODE, "AB-12"),
]


@pytest.mark.parametrize(("answer", "options", "extracted"), READ_AS)
def test_read(answer: str, options: dict[str, Any], extracted: str | None) -> None:
    grade = graded("regex", answer, item("AB-12", "XY-1"), **options)
    assert grade.extracted == extracted
    assert grade.score == (None if extracted is None else float(extracted == "AB-12"))


def test_normalise() -> None:
    assert graded("regex", "= the **End**.", item("The end"), pattern="=(.*)").score == 0.0
    assert (
        graded("regex", "= the **End**.", item("The end"), pattern="=(.*)", normalise=True).score
        == 1.0
    )


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({}, "grader.pattern: missing"),
        ({"pattern": "(a"}, "grader.pattern: not a regular expression: missing ), unterminated"),
        ({"pattern": "a{99999999999}"}, "grader.pattern: not a regular expression"),
        ({"pattern": 1}, "grader.pattern: should be a text"),
        ({"pattern": "(a)", "group": 2}, "grader.group: the pattern has no group 2"),
        ({"pattern": "(a)", "group": "b"}, "grader.group: the pattern has no group 'b'"),
        ({"pattern": "(a)", "group": -1}, "grader.group: the pattern has no group -1"),
        ({"pattern": "(a)", "group": 1.5}, "grader.group: should be the number or name"),
        ({"pattern": "(a)", "match": "all"}, "grader.match: should be one of first, last"),
    ],
)
def test_problems(options: dict[str, Any], wrong: str) -> None:
    (found,) = found_wrong("regex", item("a"), **options)
    assert found.startswith(wrong)
