import pytest

from monitor.domain.errors import SuiteError
from tests.unit.wire.imports import files


def test_usual_names_of_columns_are_known() -> None:
    found = files.read("t.csv", "QID,Question,Expected Answer,Subject,Source\nx,Why?,So,art,me\n")
    assert files.documents(found) == [
        {
            "id": "x",
            "input": "Why?",
            "target": ["So"],
            "group": "art",
            "metadata": {"Source": "me"},
        }
    ]
    (note,) = found.notes
    assert note.startswith("t.csv: id from 'QID', input from 'Question', target from 'Expected ")
    assert note.endswith("group from 'Subject'; kept as metadata: 'Source'")


def test_columns_can_be_named() -> None:
    columns = {"input": "Frage", "target": "Antwort", "id": "Nr"}
    found = files.read("t.csv", "Nr;Frage;Antwort;answer\n1;Warum?;Darum;x\n", columns=columns)
    (document,) = files.documents(found)
    assert (document["id"], document["input"], document["target"]) == ("1", "Warum?", ["Darum"])
    assert document["metadata"] == {"answer": "x"}


MISSING = [
    ({}, "t.csv: no column is known to hold the input; there are 'Frage', 'answer' (name it: "),
    ({"input": "Fragen"}, "t.csv: has no column 'Fragen' (there are 'Frage', 'answer')"),
]


@pytest.mark.parametrize(("columns", "message"), MISSING)
def test_a_column_that_is_missing_is_told(columns: dict[str, str], message: str) -> None:
    with pytest.raises(SuiteError) as error:
        files.read("t.csv", "Frage,answer\nWarum?,Darum\n", columns=columns)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    "header", ["A,B,C", "choice_a,choice_b,choice_c", "Option A,Option B,Option C"]
)
def test_each_choice_may_have_its_column(header: str) -> None:
    content = (
        f"question,{header},answer\nBest?,red,green,blue,B\nOf two?,red,green,,A\nGap?,a,,c,C\n"
    )
    found = files.read("t.csv", content)
    assert [each["choices"] for each in files.documents(found)] == [
        ["red", "green", "blue"],
        ["red", "green"],
    ]
    assert files.left_out(found) == ["t.csv:4: choices: has an entry that is empty or no text"]


def test_places_that_are_counted_from_1_are_an_error() -> None:
    rows = [{"question": "?", "choices": ["red", "green"], "answer": place} for place in (1, 2)]
    with pytest.raises(SuiteError, match=r"t.jsonl: answer: seems to count the choices from 1"):
        files.read("t.jsonl", files.json_lines(*rows))


def test_of_a_worked_answer_the_result_is_right() -> None:
    worked, other = "2 + 2 = 4\n#### 4", "#### Heading\nText"
    rows = [{"question": "?", "answer": answer} for answer in (worked, other)]
    found = files.read("t.jsonl", files.json_lines(*rows))
    assert [targets for _, targets in files.asked(found)] == [["4"], [other]]


def test_answers_may_be_spans_of_a_text() -> None:
    answers = {"text": ["Rome", "in Rome"], "answer_start": [3, 0]}
    found = files.read("t.jsonl", files.json_lines({"question": "Where?", "answers": answers}))
    assert files.asked(found) == [("Where?", ["Rome", "in Rome"])]


def test_choices_may_have_labels_of_their_own() -> None:
    choices = {"text": ["red", "green"], "label": ["1", "2"]}
    content = files.json_lines({"question": "Best?", "choices": choices, "answerKey": "2"})
    (found,) = files.documents(files.read("t.jsonl", content))
    assert (found["choices"], found["target"]) == (["red", "green"], ["B"])


def test_chats_with_an_ideal_answer_are_read() -> None:
    turns = [{"role": "user", "content": "2 + 2?"}]
    found = files.read("t.jsonl", files.json_lines({"input": turns, "ideal": ["4", "four"]}))
    assert files.asked(found) == [(turns, ["4", "four"])]


def test_a_record_without_fields_is_left_out() -> None:
    found = files.read("t.jsonl", files.json_lines({"input": "?", "target": "!"}, ["?", "!"], 3))
    assert len(found.drafts) == 1
    assert files.left_out(found) == [
        "t.jsonl:2: is no object with named fields",
        "t.jsonl:3: is no object with named fields",
    ]


def test_an_answer_may_have_aliases() -> None:
    answer = {"value": "Rome", "aliases": ["Roma", "Rome"], "type": "WikipediaEntity"}
    found = files.read("t.jsonl", files.json_lines({"question": "Where?", "answer": answer}))
    assert files.asked(found) == [("Where?", ["Rome", "Roma"])]


def test_an_output_is_not_taken_for_the_target() -> None:
    with pytest.raises(SuiteError, match="no column is known to hold the target"):
        files.read("t.jsonl", files.json_lines({"question": "Where?", "output": "In Paris"}))


DOUBTFUL = [
    ('{"question": "?", "label": 1}', "t.jsonl: label: holds whole numbers, which may be classes"),
    ('{"question": "?", "answer": "[\'a\', \'b\']"}', "t.jsonl: answer: holds a list as one text"),
    ('{"question": "?", "answer": "a", "Passage": "Long"}', "t.jsonl: Passage: is not asked"),
]


@pytest.mark.parametrize(("line", "warning"), DOUBTFUL)
def test_columns_that_may_mean_something_else_are_told(line: str, warning: str) -> None:
    (change,) = files.changed(files.read("t.jsonl", line))
    assert change.startswith(warning)


@pytest.mark.parametrize("fields", [{"label": 1, "choices": ["a", "b"]}, {"label": "yes"}])
def test_labels_of_choices_or_in_words_are_not_doubted(fields: dict[str, object]) -> None:
    assert files.changed(files.read("t.jsonl", files.json_lines({"question": "?", **fields}))) == []
