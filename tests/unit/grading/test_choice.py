from dataclasses import replace
from typing import Any

import pytest

from tests.unit.grading.examples import found_wrong, graded, item, reading

CITIES = item("B", choices=("Lyon", "Paris", "Rome", "A train"))
TEN = item("J", choices=tuple("abcdefghij"))

READ_AS = [
    ("B", "B"),
    ("b", "B"),
    ("(B)", "B"),
    ("B.", "B"),
    ("**B**", "B"),
    ("B\n\nParis is the capital, A is not.", "B"),
    ("Paris has it.\n\nB", "B"),
    ("ANSWER: B", "B"),
    ("ANSWER: $B$", "B"),
    ("**ANSWER: B**", "B"),
    ("**Answer:**\nB", "B"),
    ("\uff21\uff2e\uff33\uff37\uff25\uff32\uff1a\uff22", "B"),
    ("Answer (A, B, C or D): B", "B"),
    ("ANSWER: B\n\nA is wrong, as Lyon is no capital.", "B"),
    ("ANSWER: B\nOne might think the answer is A.", "B"),
    ("ANSWER: A\nNo, wait.\nANSWER: B", "B"),
    ("The answer is (B).", "B"),
    ("The answer is **B**. It is Paris, not A.", "B"),
    ("The answer is B, A being silly", "B"),
    ("the answer is option (b)", "B"),
    ("The correct option is B, since Paris is it", "B"),
    ("The best answer is B: Paris", "B"),
    ("Correct answer → B", "B"),
    ("My answer is: 'B'", "B"),
    ("Answer: \\boxed{B}", "B"),
    ("So $\\boxed{\\text{(B)}}$", "B"),
    ("The final answer is $\\boxed{B}$. I hope it is correct.", "B"),
    ("I think it's B.", "B"),
    ("Answer: I think it is B", "B"),
    ("I would go with option B", "B"),
    ("Option B is correct.", "B"),
    ("I don't think A is correct; B is the right choice", "B"),
    ("So it must be B.", "B"),
    ("B) Paris", "B"),
    ("A. no\nB. yes\n\nThe answer: **B) Paris**", "B"),
    ("Paris", "B"),
    ("paris.", "B"),
    ("The answer is Paris.", "B"),
    ("Answer: Paris. It is the capital.", "B"),
    ("answer: b) paris", "B"),
    ("<think>maybe A, the answer is A</think>B", "B"),
    ("<answer>B</answer>", "B"),
    ('{"answer": "B"}', "B"),
    ("Answer:\n```text\nB\n```", "B"),
    ("Answer seems to be B.", "B"),
    ("\\boxed{B: Paris}", "B"),
    ("\\boxed{A} is wrong, so \\boxed{B}", "B"),
    ("ANSWER: \\mathbf{B}", "B"),
    ("Option (B)", "B"),
    ("Correct: B", "B"),
    ("B is my final answer.", "B"),
    ("Answer: Paris (B)", "B"),
    ("The answer is Paris, the capital.", "B"),
    ("A) Lyon is no capital.\nB) Paris is.\n\nSo B.", "B"),
    ("word " * 10_000 + "\nAnswer: B", "B"),
    ("A", "A"),
    ("A.", "A"),
    ("Answer: A train", "D"),
    ("The answer is A because of Lyon", "A"),
    ("The answer is a.", "A"),
    ("Answer: option A fits", "A"),
]
NO_ANSWER = [
    "",
    "I am not sure.",
    "A difficult question.",
    "A city in France",
    "The answer is a matter of taste",
    "The answer is A train or so",
    "The answer is not B",
    "Neither A nor B is correct",
    "Option B is not correct",
    "I would not choose B",
    "Answer: A or B",
    "Answer: (B) and (C)",
    "A, B",
    "\\boxed{A}, \\boxed{B}",
    "Answer: Paris (B) or Rome (C)",
    "Answer: Paris, or Rome",
    "ANSWER: None of the above",
    "ANSWER: Don't know",
    "So a few of them.",
    "I cannot help with that.",
    "The answer is E",
    "A. Lyon\nB. Paris\nC. Rome",
    "B is in France, and C is in Italy.",
    "<think>so the answer is B",
]


@pytest.mark.parametrize(("answer", "letter"), READ_AS)
def test_read(answer: str, letter: str) -> None:
    grade = graded("choice", answer, CITIES)
    assert (grade.extracted, grade.score) == (letter, float(letter == "B"))


@pytest.mark.parametrize("answer", NO_ANSWER)
def test_no_answer(answer: str) -> None:
    assert graded("choice", answer, CITIES).ungraded == "no_answer"


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("I think the answer is J", "J"),
        ("Answer: I would say J", "J"),
        ("I believe this is right", None),
        ("I, personally, cannot tell", None),
        ("Answer: I am lost", None),
        ("The answer is I, I guess", None),
        ("Answer: I", "I"),
        ("The answer is I.", "I"),
        ("(I)", "I"),
        ("I", "I"),
    ],
)
def test_pronoun_is_not_option_i(answer: str, letter: str | None) -> None:
    assert graded("choice", answer, TEN).extracted == letter


@pytest.mark.parametrize(
    ("answer", "options", "letter"),
    [
        ("B) Paris", {"answer": "stated"}, None),
        ("Option B is correct", {"answer": "stated"}, "B"),
        ("ANSWER: A\n>> B", {"marker": ">>"}, "B"),
    ],
)
def test_options(answer: str, options: dict[str, Any], letter: str | None) -> None:
    assert graded("choice", answer, CITIES, **options).extracted == letter


def test_letters_of_choices_that_the_question_lists() -> None:
    assert graded("choice", "Answer: E", item("E"), letters="ABCDE").score == 1.0
    assert graded("choice", "Answer: F", item("E"), letters="ABCDE").ungraded == "no_answer"


SHUFFLED = replace(item("B", choices=("red", "green", "blue", "grey")), order=(3, 1, 0, 2))


@pytest.mark.parametrize(
    ("answer", "letter", "score"),
    [
        ("ANSWER: B", "B", 1.0),
        ("The answer is (C).", "A", 0.0),
        ("A) grey", "D", 0.0),
        ("green", "B", 1.0),
        ("ANSWER: red", "A", 0.0),
        ("I would go with D.", "C", 0.0),
        ("ANSWER: A or B", None, None),
    ],
)
def test_shuffling_is_undone(answer: str, letter: str | None, score: float | None) -> None:
    assert reading("choice", answer, SHUFFLED) == (answer, letter, score)


def test_target_may_be_the_words_of_a_choice() -> None:
    assert graded("choice", "C", item("Rome", choices=CITIES.choices)).score == 1.0


@pytest.mark.parametrize(
    ("target", "choices", "options", "wrong"),
    [
        ("B", (), {}, ["choices: missing"]),
        ("B", ("x",) * 27, {}, ["choices: 27 choices, but there are 26 letters"]),
        ("E", CITIES.choices, {}, ["target: 'E' cannot be an answer"]),
        ("x", ("x", "x"), {}, ["target: 'x' cannot be an answer"]),
        ("", CITIES.choices, {}, ["target: '' cannot be an answer"]),
        (
            "B",
            CITIES.choices,
            {"letters": "ABA"},
            ["grader.letters: should be different capital letters, such as ABCD, not 'ABA'"],
        ),
    ],
)
def test_problems(
    target: str, choices: tuple[str, ...], options: dict[str, Any], wrong: list[str]
) -> None:
    assert found_wrong("choice", item(target, choices=choices), **options) == wrong
