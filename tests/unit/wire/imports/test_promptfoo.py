import json
from pathlib import Path
from typing import Any

import pytest

from monitor.domain.errors import SuiteError
from monitor.wire.imports.readings import Reading
from tests.unit.wire.imports import files

EXACT = {"kind": "exact"}
CONFIG = """\
prompts:
  - 'Answer tersely: {{question}}'
  - Another one
providers: [openai:some-model]
defaultTest: {vars: {tone: plain}, assert: [{type: latency, threshold: 9}]}
tests:
  - description: sum
    vars: {question: What is 2 + 2, qid: s1}
    metadata: {topic: sums}
    assert: [{type: equals, value: '4'}]
  - vars: {question: [Of France, Of Italy], qid: s2}
    assert: [{type: equals, value: Paris}]
  - file://more.yaml
"""


def read(content: str, name: str = "promptfooconfig.yaml", **columns: str) -> Reading:
    return files.read(name, content, columns=columns)


def case(**fields: object) -> dict[str, Any]:
    """A test that is understood, but for the fields given."""
    return {"vars": {"question": "2 + 2?"}, "assert": [{"type": "equals", "value": "4"}], **fields}


def config(*cases: object, prompt: object = "{{question}}", **fields: object) -> str:
    return json.dumps({"prompts": [prompt], "providers": [], "tests": cases, **fields})


def test_a_configuration_is_read() -> None:
    assert files.documents(read(CONFIG)) == [
        {
            "id": "s1",
            "input": "Answer tersely: What is 2 + 2",
            "target": ["4"],
            "grader": EXACT,
            "group": "sums",
            "metadata": {"description": "sum", "tone": "plain", "qid": "s1", "topic": "sums"},
        }
    ]


def test_everything_else_in_it_is_told_with_its_line() -> None:
    found = read(CONFIG, "c.yaml")
    elsewhere, several = files.left_out(found)
    assert elsewhere.startswith("c.yaml:13: tests[2]: names another file, or is no test")
    assert several.startswith("c.yaml:11: tests[1]: vars.question: is not given, or holds several")
    assert files.changed(found) == [
        "c.yaml: prompts: 1 after the first are not imported: a suite asks in one way",
        "c.yaml:7: tests[0]: assert: 'latency' has no counterpart among the graders",
    ]


PROMPTS = [
    ("{{ question }}", "2 + 2?"),
    ({"id": "p", "label": "plain", "raw": "Q: {{question}}"}, "Q: 2 + 2?"),
    (
        '[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "{{question}}"}]',
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2 + 2?"}],
    ),
    ("[draft] {{question}}", "[draft] 2 + 2?"),
]


@pytest.mark.parametrize(("prompt", "expected"), PROMPTS)
def test_variables_are_filled_into_the_prompt(prompt: object, expected: object) -> None:
    assert files.asked(read(config(case(), prompt=prompt), "c.json")) == [(expected, ["4"])]


WORDS = ["No", "yes", "on", "12:30", "2026-01-02", "1_000", "007"]


def test_words_are_read_as_promptfoo_reads_them() -> None:
    """YAML 1.1 takes these for booleans, a number of minutes, a day and numbers."""
    tests = "".join(
        f"- {{vars: {{q: {n}}}, assert: [{{type: equals, value: {word}}}]}}\n"
        for n, word in enumerate(WORDS)
    )
    targets = [target for _, (target,) in files.asked(read(tests, "tests.yaml"))]
    assert targets == WORDS


def test_what_is_before_and_behind_a_prompt_is_asked_too() -> None:
    content = config(case(options={"prefix": "Well: ", "suffix": " Go."}))
    assert files.asked(read(content, "c.json")) == [("Well: 2 + 2? Go.", ["4"])]


UNUSABLE = [
    (case(vars={}), "vars.question: is not given"),
    (case(vars={"question": "file://q.txt"}), "vars.question: names a file"),
    (case(vars={"question": "{{other}}"}), "vars.question: names a file or another variable"),
    (case(vars={"question": " "}), "vars: leave the question empty"),
    (case(options={"transform": "output.x"}), "options: transforms by code"),
    (case(**{"assert": []}), "assert: is empty, so that any answer is right"),
    (case(**{"assert": ["file://a.js"]}), "assert: has nothing to grade by: holds what is no"),
    (
        case(**{"assert": [{"type": "cost"}, {"type": "python"}, {"type": "cost"}]}),
        "assert: has nothing to grade by: 'cost' has no counterpart among the graders; 'python' is",
    ),
    (case(**{"assert": [{"type": "equals", "value": "{{n}}"}]}), "vars.n: is not given"),
    ({"vars": ["question"]}, "names another file, or is no test"),
]


@pytest.mark.parametrize(("broken", "message"), UNUSABLE)
def test_what_cannot_be_asked_or_graded_is_left_out(broken: object, message: str) -> None:
    found = read(config(case(), broken), "c.json")
    assert len(found.drafts) == 1
    assert files.left_out(found)[0].startswith(f"c.json: tests[1]: {message}")


def test_of_several_assertions_the_strictest_grades() -> None:
    several = [
        {"type": "icontains", "value": "{{n}}"},
        {"type": "equals", "value": "{{n}}", "weight": 2},
        {"type": "contains", "value": "4"},
    ]
    found = read(config(case(vars={"question": "?", "n": 4}, **{"assert": several})), "c.json")
    (document,) = files.documents(found)
    assert (document["grader"], document["target"]) == (EXACT, ["4"])
    assert [line.rpartition("assert: ")[2].split()[0] for line in files.changed(found)] == [
        "'icontains'",
        "'contains'",
    ]


def test_further_fields_are_told() -> None:
    tests = [case(provider="x", options={"rubricPrompt": "y"})]
    found = read(config(*tests, scenarios=[1], derivedMetrics=[1]), "c.json")
    assert files.left_out(found) == [
        "c.json: scenarios: are not imported (write each out as tests)"
    ]
    assert [line.split(": ")[-2] for line in files.changed(found)] == [
        "derivedMetrics",
        "provider",
        "options.rubricPrompt",
    ]


BROKEN = [
    (config(prompt="file://p.txt"), "c.json: prompts: the first one stands in another file"),
    (config(prompt="prompts/chat.json"), "c.json: prompts: the first one stands in another file"),
    (config(prompt="prompts/*.txt"), "c.json: prompts: the first one stands in another file"),
    (config(prompt="ask.py:main"), "c.json: prompts: the first one stands in another file"),
    (config(prompt="{% if x %}{{q}}{% endif %}"), "c.json: prompts: the first one is a template"),
    (config(prompt="{{q | upper}}"), "c.json: prompts: the first one is a template"),
    ('{"prompts": [], "providers": []}', "c.json: tests: are not written out here"),
    ('{"tests": "file://tests.csv"}', "c.json: tests: are not written out here"),
]


@pytest.mark.parametrize(("content", "message"), BROKEN)
def test_a_configuration_that_lies_elsewhere_is_an_error(content: str, message: str) -> None:
    with pytest.raises(SuiteError) as error:
        read(content, "c.json")
    assert str(error.value).startswith(message)


def test_a_variable_can_be_the_question_instead_of_a_prompt() -> None:
    found = read(config(case(), prompt="file://p.txt"), "c.json", input="question")
    assert files.asked(found) == [("2 + 2?", ["4"])]


def test_tests_alone_ask_their_only_or_usual_variable() -> None:
    tests = [case(vars={"x": "2 + 2?"}), case(vars={"question": "2?", "x": 1}), case(vars={})]
    found = read(json.dumps([*tests, case(vars={"x": 1, "y": 2})]), "tests.json")
    assert [asked for asked, _ in files.asked(found)] == ["2 + 2?", "2?"]
    assert len(found.left_out) == 2
    assert "hold no variable that is known to be the question" in files.left_out(found)[0]


def test_tables_of_tests_are_read() -> None:
    content = (
        "question,__expected,__expected2,__description,__suffix,__metadata:level,__threshold\n"
        "2 + 2?,4,icontains: 4,sum, Now.,1,0.5\n"
    )
    found = read(content, "tests.csv")
    assert files.documents(found) == [
        {
            "id": "sum",
            "input": "2 + 2? Now.",
            "target": ["4"],
            "grader": EXACT,
            "metadata": {"description": "sum", "level": "1"},
        }
    ]
    assert [line.split(": ")[-2] for line in files.changed(found)][1:] == ["threshold"]


UNREADABLE = [
    ({"assert": [{"type": "equals", "value": "{{ n | upper }}"}]}, "'equals' has a value that is"),
    ({"assert": [{"type": "equals", "value": "{{ vars.n }}"}]}, "'equals' has a value that is"),
    ({"assert": [{"type": "equals", "value": "4", "weight": 0}]}, "'equals' has the weight 0"),
    ({"options": {"suffix": "{{ n | upper }}"}}, "options.suffix: is a template of more than"),
]


@pytest.mark.parametrize(("fields", "message"), UNREADABLE)
def test_what_would_be_taken_for_its_own_words_is_left_out(
    fields: dict[str, Any], message: str
) -> None:
    found = read(config(case(**fields)), "c.json")
    assert found.drafts == []
    assert message in files.left_out(found)[0]


@pytest.mark.parametrize("value", [2.0, "{{n}}"])
def test_numbers_are_spelled_as_javascript_does(value: object) -> None:
    graded = [{"type": "equals", "value": value}]
    found = read(
        config(case(vars={"question": "1 + 1?", "n": 2.0}, **{"assert": graded})), "c.json"
    )
    assert files.asked(found) == [("1 + 1?", ["2"])]


def test_a_test_may_refuse_the_assertions_of_all() -> None:
    shared = {"assert": [{"type": "equals", "value": "5"}]}
    alone = case(
        options={"disableDefaultAsserts": True}, **{"assert": [{"type": "contains", "value": "4"}]}
    )
    found = read(config(alone, defaultTest=shared), "c.json")
    assert (files.asked(found), files.changed(found)) == ([("2 + 2?", ["4"])], [])


def test_an_assertion_without_weight_does_not_grade() -> None:
    several = [
        {"type": "equals", "value": "4", "weight": 0},
        {"type": "icontains", "value": "four"},
    ]
    found = read(config(case(**{"assert": several})), "c.json")
    assert files.asked(found) == [("2 + 2?", ["four"])]


def test_nothing_that_tells_tests_apart_leaves_ids_to_their_places() -> None:
    same = [case(description="same"), case(description="same")]
    found = read(json.dumps(same), "tests.json")
    assert [each["id"] for each in files.documents(found)] == ["tests-1", "tests-2"]


def row(column: int, asked: str = "2 + 2?", **fields: object) -> dict[str, Any]:
    return {"promptIdx": column, "vars": {}, "prompt": {"raw": asked}, "testCase": case(**fields)}


def test_a_test_that_only_a_later_column_has_asked_is_taken() -> None:
    other = {"vars": {"question": "2?"}}
    rows = [row(0), row(1), row(1, "2?", **other), row(2, "2?", **other)]
    found = read(files.json_lines(*rows), "rows.jsonl")
    assert [asked for asked, _ in files.asked(found)] == ["2 + 2?", "2?"]


def test_a_row_whose_test_cannot_be_read_is_told() -> None:
    found = read(files.json_lines(row(0), row(0, vars=3)), "r.jsonl")
    assert files.left_out(found) == ["r.jsonl:2: is no row of an evaluation"]


def test_what_a_row_has_asked_is_not_extended_again() -> None:
    asked = row(0, "2 + 2? Now.", options={"suffix": " Now."})
    assert files.asked(read(files.json_lines(asked), "r.jsonl")) == [("2 + 2? Now.", ["4"])]


def test_rows_of_an_evaluation_are_taken_once() -> None:
    rows = [row(1, "Tersely: 2 + 2?"), row(0), row(0), {"promptIdx": 0}]
    found = read(files.json_lines(*rows), "out.jsonl")
    assert files.asked(found) == [("2 + 2?", ["4"])]
    assert files.left_out(found) == ["out.jsonl:4: is no row of an evaluation"]


def test_an_output_whose_tests_came_from_a_file_has_rows() -> None:
    output = {"results": {"results": [row(0)]}, "config": {"tests": "file://tests.csv"}}
    found = read(json.dumps(output), "out.json")
    assert files.asked(found) == [("2 + 2?", ["4"])]


def test_recorded_evaluations(shared_data: Path) -> None:
    for name in ("eval_full.json", "eval_full.jsonl"):
        content = (shared_data / "eval_logs/promptfoo" / name).read_text()
        found = read(content, name)
        assert {each["id"] for each in files.documents(found)} == {
            "q1",
            "q2",
            "q3",
            "q5",
            "q6",
            "q7",
        }
        assert len(found.left_out) == 3  # code alone, no assertion, a set of assertions
    with pytest.raises(SuiteError, match="import the JSON output instead"):
        read((shared_data / "eval_logs/promptfoo/eval_full.csv").read_text(), "eval_full.csv")
