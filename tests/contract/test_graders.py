"""What every grader must do; each in the table has a line in `EXAMPLES`."""

import json
import signal
from collections.abc import Iterator

import pytest
from hypothesis import given, strategies as st

from monitor.domain.answers import Ungraded
from monitor.domain.identifiers import Digest, ItemId
from monitor.domain.suites import GraderSpec, Item
from monitor.grading import graders


def item(target: str, *choices: str) -> Item:
    return Item(id=ItemId("1"), input="?", target=(target,), choices=choices, digest=Digest("d"))


# Right, wrong, and without an answer, under the grader's defaults.
EXAMPLES: dict[str, tuple[GraderSpec, Item, tuple[str, str, str]]] = {
    "exact": (GraderSpec(kind="exact"), item("Paris"), ("Paris", "Lyon", "")),
    "normalised": (GraderSpec(kind="normalised"), item("Paris"), ("paris.", "Lyon", "?")),
    "choice": (GraderSpec(kind="choice"), item("B", "x", "y"), ("(B)", "A", "I do not know")),
    "numeric": (GraderSpec(kind="numeric"), item("4"), ("so 4.0", "5", "four")),
    "regex": (
        GraderSpec(kind="regex", options={"pattern": r"=\s*(\w+)"}),
        item("x"),
        ("= x", "= y", "x"),
    ),
}
REPEATED = (
    *(
        "\n",
        " ",
        "*",
        "_*` ",
        "\\",
        "{",
        "$",
        "-",
        "- ",
        "a",
        "a.\u00a0",
        "a\u0301",
        "St. ",
        "\u00b2",
    ),
    *("1", "1,", "1 1/1", ".1", "1^", "1x10^", "\\frac{1}{", "#", "#### 1\n", "=> ", "= "),
    *("answer ", "answer: ", "answer is the ", "Answer: the ", "the answer is ", "correct option "),
    *("the answer is to ", "\\boxed{", "\\boxed{x}", "\\text{", "<think>", "</think>"),
    *("A. ", "B is ", "B is not correct ", "I think ", "if A is "),
)
# A second at most where time is linear, minutes where it is quadratic.
LENGTH = 200_000


@pytest.fixture(params=list(graders.GRADERS))
def example(request: pytest.FixtureRequest) -> tuple[GraderSpec, Item, tuple[str, str, str]]:
    return EXAMPLES[request.param]


def test_right_wrong_and_none(example: tuple[GraderSpec, Item, tuple[str, str, str]]) -> None:
    spec, on, texts = example
    grades = [graders.grade(spec, on, text) for text in texts]
    assert [grade.score for grade in grades] == [1.0, 0.0, None]
    assert [grade.ungraded for grade in grades] == [None, None, Ungraded.NO_ANSWER]


def test_example_has_no_problem(example: tuple[GraderSpec, Item, tuple[str, str, str]]) -> None:
    spec, on, _ = example
    assert graders.problems(spec, on) == []


def test_unknown_option_is_a_problem(
    example: tuple[GraderSpec, Item, tuple[str, str, str]],
) -> None:
    spec, on, _ = example
    other = GraderSpec(kind=spec.kind, options={**spec.options, "unheard": 1})
    (problem,) = graders.problems(other, on)
    assert problem.where == "grader.unheard"
    assert problem.todo


def test_no_target_is_a_problem(example: tuple[GraderSpec, Item, tuple[str, str, str]]) -> None:
    spec, on, _ = example
    bare = Item(id=on.id, input=on.input, target=(), choices=on.choices, digest=on.digest)
    assert [problem.where for problem in graders.problems(spec, bare)] == ["target"]


@pytest.mark.parametrize("kind", graders.GRADERS)
@given(value=st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists))
def test_any_option_value_is_checked(kind: str, value: object) -> None:
    spec, on, _ = EXAMPLES[kind]
    for name in ("answer", "marker", "pattern", "group", "match", "letters", "tolerance"):
        graders.problems(GraderSpec(kind=kind, options={**spec.options, name: value}), on)


@pytest.mark.parametrize("kind", graders.GRADERS)
@given(text=st.text() | st.lists(st.sampled_from(REPEATED)).map("".join))
def test_any_text_gets_a_grade(kind: str, text: str) -> None:
    spec, on, _ = EXAMPLES[kind]
    grade = graders.grade(spec, on, text)
    assert grade == graders.grade(spec, on, text)
    if grade.extracted is not None:
        assert graders.GRADERS[kind].compare(spec.options, on, grade.extracted) == grade.score
        assert not graders.GRADERS[kind].is_binary or grade.score in {0.0, 1.0}


@pytest.fixture
def patience() -> Iterator[None]:
    """Interrupt what runs for minutes; `re` lets signals through."""

    def interrupt(_signal: int, _frame: object) -> None:
        raise TimeoutError

    earlier = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 60)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, earlier)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "kind", [kind for kind, each in graders.GRADERS.items() if not each.can_hang]
)
@pytest.mark.parametrize("repeated", REPEATED, ids=json.dumps)
def test_time_is_linear_in_the_text(kind: str, repeated: str) -> None:
    spec, on, _ = EXAMPLES[kind]
    graders.grade(spec, on, repeated * (LENGTH // len(repeated)))
