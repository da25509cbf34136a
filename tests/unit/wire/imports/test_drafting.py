import json
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from monitor.domain.errors import SuiteError
from monitor.domain.identifiers import ItemId
from monitor.domain.suites import Item, Suite, item_digest
from monitor.wire.imports import drafting, formats
from monitor.wire.imports.drafting import Assembled
from monitor.wire.imports.readings import Reading, Remark
from monitor.wire.suites import Source, encode_item
from tests.unit.wire.imports import files


def assemble(
    *samples: dict[str, Any], grader: dict[str, Any] | None = None
) -> tuple[Assembled, Reading]:
    reading = files.read("s.jsonl", files.json_lines(*samples))
    return drafting.assemble(reading, name="made", grader=grader), reading


def sample(number: int, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    return {"id": number, "input": f"{number} + 0?", "target": str(number), **fields}


def test_records_that_repeat_one_are_counted_and_contradictions_left_out() -> None:
    found, reading = assemble(
        sample(1, metadata={"epoch": 1}), sample(1, metadata={"epoch": 2}), sample(1, target="2")
    )
    assert (len(found.suite.items), found.repeats) == (1, 1)
    (loss,) = files.left_out(reading)
    assert loss.startswith("s.jsonl:3: id: is the id of another question already (see s.jsonl:1; ")


def test_what_is_no_item_or_does_not_suit_its_grader_is_left_out_with_its_place() -> None:
    choices = {"choices": ["red", "green"]}
    found, reading = assemble(
        sample(1, target="A", **choices),
        sample(2, target="C", **choices),
        sample(3, target="\ud800"),
    )
    assert [item.id for item in found.suite.items] == ["1"]
    first, second = files.left_out(reading)
    assert first.startswith("s.jsonl:3: must hold only what JSON has")
    assert second.startswith("s.jsonl:2: target: 'C' cannot be an answer")


def test_nothing_left_is_an_error_that_says_why() -> None:
    with pytest.raises(SuiteError) as error:
        assemble(sample(1, target=""))
    assert [str(problem) for problem in error.value.problems] == [
        "s.jsonl:1: target: is empty (an item needs a right answer)",
        "import: nothing can be used (see what is said of each record)",
    ]


def test_items_with_choices_among_others_have_their_own_grader() -> None:
    found, _ = assemble(sample(1), sample(2, target="A", choices=["x", "y"]))
    assert found.suite.grader.kind == "numeric"
    assert [item.grader and item.grader.kind for item in found.suite.items] == [None, "choice"]
    assert "{% if choices %}" in found.suite.prompt.user


def test_a_grader_that_is_given_is_that_of_all() -> None:
    found, _ = assemble(sample(1), grader={"kind": "include", "case_sensitive": True})
    assert found.suite.grader.options == {"case_sensitive": True}
    with pytest.raises(SuiteError, match=r"grader.kind: unknown grader 'numerc'"):
        assemble(sample(1), grader={"kind": "numerc"})


def test_the_commonest_grader_of_items_becomes_that_of_the_suite() -> None:
    tests = [
        {"vars": {"q": str(n)}, "assert": [{"type": kind, "value": "x"}]}
        for n, kind in enumerate(["contains", "equals", "equals"])
    ]
    reading = files.read("t.jsonl", files.json_lines(*tests))
    found = drafting.assemble(reading, name="made", grader=None)
    assert found.suite.grader.kind == "exact"
    assert [item.grader and item.grader.kind for item in found.suite.items] == [
        "include",
        None,
        None,
    ]
    assert found.suite.prompt.user == "{{ input }}"


def together(*sources: Source) -> tuple[Suite, Reading]:
    """The suite of several files."""
    reading = Reading()
    for source in sources:
        formats.read(source, None, {}, reading)
    return drafting.assemble(reading, name="made", grader=None).suite, reading


def log(scorer: str, *samples: dict[str, Any]) -> Source:
    document = {"eval": {"scorers": [{"name": scorer}]}, "samples": samples}
    return Source(name="log.json", content=json.dumps(document).encode())


def lines(*documents: dict[str, Any]) -> Source:
    return Source(name="s.jsonl", content=files.json_lines(*documents).encode())


def test_the_grader_of_one_log_does_not_grade_the_items_of_another_file() -> None:
    suite, _ = together(
        log("includes", sample(1), sample(2)), log("math", sample(3)), lines(sample(4))
    )
    assert suite.grader.kind == "numeric"
    assert [item.grader and item.grader.kind for item in suite.items] == [
        "include",
        "include",
        "math",
        None,
    ]


def test_a_question_that_two_logs_grade_differently_is_told() -> None:
    suite, reading = together(log("includes", sample(1)), log("math", sample(1)))
    assert suite.grader.kind == "include"
    (change,) = files.changed(reading)
    assert change.startswith("log.json: samples[0]: grader: is another than before, which is taken")


def test_questions_beside_whole_prompts_keep_their_closing_line() -> None:
    whole = {"doc": {}, "arguments": [["Q: 2?\nA:", {}]], "target": "2", "doc_id": 7}
    suite, _ = together(lines(sample(1)), lines(whole))
    assert suite.prompt.user == "{{ input }}"
    assert [item.input for item in suite.items] == [
        "1 + 0?\n\nEnd with a line that says ANSWER: and the number.",
        "Q: 2?\nA:",
    ]


def test_questions_without_choices_are_not_asked_for_a_letter() -> None:
    choices = {"choices": ["red", "green"]}
    suite, _ = together(
        log("choice", *(sample(n, **choices, target="A") for n in (1, 2))), log("math", sample(3))
    )
    assert suite.grader.kind == "choice"
    assert suite.prompt.user.endswith("ANSWER: and the result.{% endif %}")


def test_items_can_be_taken_out_again() -> None:
    found, reading = assemble(sample(1), sample(2))
    rest = drafting.without(found, {ItemId("1"): Remark(what="is wrong")}, reading)
    assert [item.id for item in rest.suite.items] == ["2"]
    assert [draft.place for draft in rest.drafts] == ["s.jsonl:2"]
    assert files.left_out(reading) == ["s.jsonl:1: is wrong"]
    with pytest.raises(SuiteError, match="nothing can be used"):
        drafting.without(rest, {ItemId("2"): Remark(what="is wrong")}, reading)


NAMES = [
    ("data/my questions (v2).csv", "my-questions-v2"),
    ("samples_gsm8k_2026-11-29T17-49-13.026063.jsonl", "gsm8k"),
    ("???.json", "imported"),
]


@pytest.mark.parametrize(("file", "name"), NAMES)
def test_a_suite_is_called_by_its_file(file: str, name: str) -> None:
    assert drafting.name_of(file) == name


texts = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=20
)


@st.composite
def items(draw: st.DrawFn) -> list[Item]:
    """Items such as Inspect's samples can express."""
    made = []
    for item_id in draw(st.lists(texts, min_size=1, max_size=5, unique=True)):
        choices = tuple(draw(st.lists(texts, min_size=2, max_size=4, unique=True) | st.just([])))
        target = ("A",) if choices else tuple(draw(st.lists(texts, min_size=1, max_size=3)))
        asked = draw(texts)
        made.append(
            Item(
                id=ItemId(item_id),
                input=asked,
                target=target,
                choices=choices,
                group=draw(st.none() | texts),
                metadata=draw(st.dictionaries(st.sampled_from("xyz"), st.integers() | texts)),
                digest=item_digest(input=asked, target=target, choices=choices),
            )
        )
    return made


@hypothesis.given(items())
def test_items_come_back_as_they_are(pool: list[Item]) -> None:
    reading = files.read("s.jsonl", b"".join(map(encode_item, pool)))
    found = drafting.assemble(reading, name="made", grader={"kind": "exact"})
    assert [*found.suite.items] == pool
    assert reading.left_out == []
