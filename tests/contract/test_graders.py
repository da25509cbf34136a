"""What every grader must do; each in the table has a line in `EXAMPLES`."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from hypothesis import given, strategies as st

from monitor.adapters.grader_processes import GraderProcesses
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
    "include": (GraderSpec(kind="include"), item("Paris"), ("It is Paris.", "Parisian", " ")),
    "token_f1": (GraderSpec(kind="token_f1"), item("Paris"), ("the Paris", "Lyon", "?")),
    "choice": (GraderSpec(kind="choice"), item("B", "x", "y"), ("(B)", "A", "I do not know")),
    "numeric": (GraderSpec(kind="numeric"), item("4"), ("so 4.0", "5", "four")),
    "math": (GraderSpec(kind="math"), item("1/2"), ("$0.5$", "x", "I do not know")),
    "list": (GraderSpec(kind="list"), item("a, b"), ("1. A\n2. B", "b, a", ",")),
    "set": (GraderSpec(kind="set"), item("a, b"), ("b and a", "a", ",")),
    "json": (
        GraderSpec(kind="json"),
        item('{"a": 1}'),
        ('It is {"a": 1.0}.', '{"a": 2}', "{a: 1}"),
    ),
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
    *(
        "'a ",
        "the ",
        "a, b and ",
        "1. a\n",
        "- a: b (c) - d\n",
        "```\n",
        '{"',
        '{"a":',
        "[",
        "[1],",
    ),
    *('"', '\\"', "and ", "or 1 ", "1-", "5 km ", "\u5317", "<answer>", "\\boxed{x}, ", "(B) "),
    *("A. ", "B is ", "B is not correct ", "I think ", "if A is "),
)
# A second at most where time is linear, minutes where it is quadratic.
LENGTH = 100_000
ENDING = [kind for kind, each in graders.GRADERS.items() if not each.can_hang]
NESTED = {"properties": {"a": {"pattern": "^(a+)+$"}}}
# Per grader that can hang: texts and options that make it.
HOSTILE: dict[str, list[tuple[Item, str, dict[str, Any]]]] = {
    "regex": [(item("a"), "a" * 60 + "!", {"pattern": "(a+)+$"})],
    "json": [
        (item("{}"), '{"a":' * 200_000, {}),
        (item("[]"), "[" * 1_000_000, {}),
        (item("{}"), '{"' + '\\"' * 400_000, {}),
        (item("{}"), '{"a": "' + "a" * 60 + '!"}', {"schema": NESTED}),
    ],
    "math": [
        (item("5"), text, {})
        for text in (
            "\\frac{" * 15 + "1" + "}{2}" * 15,
            "\\sqrt{" * 100_000,
            "(" * 1_000_000,
            "\\boxed{" * 100_000,
            "$99999999!$",
            "$9^{9^{9^{9}}}$",
        )
    ],
}
SECONDS = 2.0


OPTIONS = (
    *("answer", "marker", "pattern", "group", "match", "letters", "tolerance", "units", "percent"),
    *("fields", "schema", "score", "separator", "inside_words", "keep_articles"),
)
NAMES = st.sampled_from(["km", "/a", "$ref", "type", "tolerance", "properties"])
ANY = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


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
@given(value=ANY)
def test_any_option_value_is_checked(kind: str, value: object) -> None:
    spec, on, _ = EXAMPLES[kind]
    for name in OPTIONS:
        graders.problems(GraderSpec(kind=kind, options={**spec.options, name: value}), on)


@pytest.mark.parametrize("kind", [*ENDING, "json", "regex"])
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
    signal.setitimer(signal.ITIMER_REAL, 30)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, earlier)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("kind", [kind for kind in ENDING if kind != "set"])  # reads as list does
@pytest.mark.parametrize("repeated", REPEATED, ids=json.dumps)
def test_time_is_linear_in_the_text(kind: str, repeated: str) -> None:
    spec, on, _ = EXAMPLES[kind]
    graders.grade(spec, on, repeated * (LENGTH // len(repeated)))


@pytest.fixture
async def runner() -> AsyncIterator[GraderProcesses]:
    made = GraderProcesses(seconds=SECONDS, workers=1)
    yield made
    await made.close()


@pytest.mark.parametrize("kind", [kind for kind in graders.GRADERS if kind not in ENDING])
async def test_what_can_hang_ends_within_its_limit(runner: GraderProcesses, kind: str) -> None:
    for on, text, options in HOSTILE[kind]:
        spec = GraderSpec(kind=kind, options={**EXAMPLES[kind][0].options, **options})
        await runner.grade(spec, on, "")  # it is prepared
        async with asyncio.timeout(5 * SECONDS):
            grade = await runner.grade(spec, on, text)
        assert grade.score == 0.0 or grade.ungraded in {Ungraded.TIME_LIMIT, Ungraded.NO_ANSWER}


async def test_a_very_long_answer_is_graded(
    runner: GraderProcesses, example: tuple[GraderSpec, Item, tuple[str, str, str]]
) -> None:
    spec, on, (right, _, _) = example
    text = "word " * 200_000 + f"\n\nANSWER: {right}"
    grade = await runner.grade(spec, on, text)
    assert grade.score is not None
    assert spec.kind in {"exact", "token_f1"} or grade.score == 1.0
