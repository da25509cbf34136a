from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from monitor.domain.errors import SuiteError
from monitor.wire.imports.readings import Reading
from tests.unit.wire.imports import files

SETTINGS = {"until": ["Q:"], "max_gen_toks": 32}
COLOURS = ("red", "green", "blue")


def written(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    """A sample of a task whose answers are written."""
    context = fields.pop("context", "Q: 2 + 2?\nA:")
    return {
        "doc_id": 0,
        "doc": {"question": "2 + 2?", "answer": "4"},
        "target": "4",
        "arguments": {"gen_args_0": {"arg_0": context, "arg_1": SETTINGS}},
        "filter": "none",
        "doc_hash": "abc",
        **fields,
    }


def chosen(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    """A sample of a task that compares the likelihoods of choices."""
    context = fields.pop("context", "Q: Which is a colour of the sky?\nA:")
    choices = fields.pop("choices", COLOURS)
    return {
        "doc_id": 0,
        "doc": {"id": "sky"},
        "target": "2",
        "arguments": {
            f"gen_args_{at}": {"arg_0": context, "arg_1": f" {choice}"}
            for at, choice in enumerate(choices)
        },
        **fields,
    }


def read(*samples: Mapping[str, Any]) -> Reading:
    return files.read("samples_t.jsonl", files.json_lines(*samples))


def test_what_was_asked_is_asked_again() -> None:
    found = read(written())
    assert files.documents(found) == [
        {
            "id": "0",
            "input": "Q: 2 + 2?\nA:",
            "target": ["4"],
            "metadata": {"answer": "4", "doc_hash": "abc"},
        }
    ]
    assert [draft.verbatim for draft in found.drafts] == [True]


def test_arguments_were_lists_once() -> None:
    old = written(arguments=[["Q: 2 + 2?\nA:", SETTINGS]])
    choices = chosen(arguments=[["Which?", f" {colour}"] for colour in COLOURS])
    assert files.asked(read(old, choices)) == [("Q: 2 + 2?\nA:", ["4"]), ("Which?", ["C"])]


def test_arrays_were_written_into_jsonl_once() -> None:
    content = f"[{files.json_lines(written())},\n{files.json_lines(chosen())}]"
    assert len(files.read("t.jsonl", content).drafts) == 2


CHAT = '[{"role": "user", "content": "2 + 2?"}]'


@pytest.mark.parametrize("context", [CHAT, [CHAT]])
def test_chats_are_logged_as_their_json(context: object) -> None:
    found = read(written(context=context))
    assert files.asked(found) == [([{"role": "user", "content": "2 + 2?"}], ["4"])]


def test_the_template_of_one_model_is_told() -> None:
    found = read(written(context="<|im_start|>user\n2 + 2?<|im_end|>"))
    assert "holds the chat template of one model" in files.changed(found)[0]


TARGETS = [
    ("We add 2 and 2.\n#### 4", {}, ["4"]),
    ("['4', 'four']", {"answers": ["4", "four"]}, ["4", "four"]),
    (["4", "four"], {}, ["4", "four"]),
    (4, {}, ["4"]),
    ("['4']", {}, ["['4']"]),
]


@pytest.mark.parametrize(("target", "doc", "expected"), TARGETS)
def test_targets_of_written_answers(
    target: object, doc: dict[str, Any], expected: list[str]
) -> None:
    assert files.asked(read(written(target=target, doc=doc)))[0][1] == expected


def test_choices_are_what_the_likelihoods_were_of() -> None:
    (found,) = files.documents(read(chosen()))
    assert found["input"] == "Q: Which is a colour of the sky?"
    assert (found["choices"], found["target"]) == ([*COLOURS], ["C"])


def test_the_question_alone_is_asked_where_the_document_has_it() -> None:
    doc = {"question": "Which is a colour of the sky?"}
    examples = "Q: Of grass?\nA: green\n\nQ: Which is a colour of the sky?\nA:"
    assert files.asked(read(chosen(doc=doc, context=examples)))[0][0] == doc["question"]


def test_a_passage_is_asked_along_with_its_question() -> None:
    doc = {"question": "Who wrote it?", "passage": " A letter that Anna wrote to Otto in 1910. "}
    context = "A letter that Anna wrote to Otto in 1910.\nQuestion: Who wrote it?\nAnswer:"
    (document,) = files.documents(read(chosen(doc=doc, context=context)))
    assert document["input"] == context.removesuffix("\nAnswer:")


def test_choices_that_are_letters_stand_in_the_question() -> None:
    (found,) = files.documents(read(chosen(choices="ABCD", context="Which?\nA. red\nB. blue")))
    assert found["grader"] == {"kind": "choice", "letters": "ABCD"}
    assert (found["input"], found["target"]) == ("Which?\nA. red\nB. blue", ["C"])


AMBIGUOUS = {"choices": ("3", "2", "1", "0"), "target": "1"}


def test_a_target_that_may_be_a_place_or_a_choice_is_settled_by_the_document() -> None:
    found = read(chosen(doc={"id": "n", "gold": 1}, **AMBIGUOUS), chosen(**AMBIGUOUS))
    assert files.documents(found)[0]["target"] == ["B"]
    assert files.left_out(found) == [
        "samples_t.jsonl:2: target: may be a choice or a place among them"
    ]


UNUSABLE = [
    (written(target=""), "target: is empty"),
    (written(target=None), "target: is empty"),
    (written(context=""), "arguments: asks nothing"),
    (
        written(target="1", doc={"choices": ["red", "green"], "answer": 1}),
        "target: is the place of a choice by its document",
    ),
    (chosen(target="7"), "target: is neither a choice nor a place"),
    (chosen(choices=("red",)), "arguments: is scored by the likelihood of a given text"),
    (chosen(choices=("red", "red")), "arguments: compares likelihoods of more than the choices"),
    (written(arguments={}), "arguments: holds no request of text alone"),
    (
        written(arguments={"gen_args_0": {"arg_0": "?", "arg_1": {}, "arg_2": {"visual": []}}}),
        "arguments: holds no request of text alone",
    ),
    (
        written(arguments=[["2 + 2?", SETTINGS], ["3 + 3?", SETTINGS]]),
        "arguments: asks more than one question",
    ),
    (written(arguments=[["The whole text."]]), "arguments: is scored by the likelihood"),
    ({"doc": {}}, "is no logged sample"),
]


@pytest.mark.parametrize(("sample", "message"), UNUSABLE)
def test_what_is_no_question_with_an_answer_is_left_out(
    sample: Mapping[str, Any], message: str
) -> None:
    found = read(written(), sample)
    assert files.left_out(found)[0].startswith(f"samples_t.jsonl:2: {message}")


def test_choices_asked_again_without_a_question_are_passed_over() -> None:
    sample = chosen()
    sample["arguments"] |= {
        f"gen_args_{at + 3}": {"arg_0": "", "arg_1": f" {colour}"}
        for at, colour in enumerate(COLOURS)
    }
    (found,) = files.documents(read(sample))
    assert found["choices"] == [*COLOURS]


def test_what_of_a_document_is_not_asked_is_kept() -> None:
    doc = {"question": "2 + 2?", "prompt": "Add!", "choices": ["4"], "answer": "4"}
    (found,) = files.documents(read(written(doc=doc)))
    kept = {"prompt": "Add!", "choices": ["4"], "answer": "4", "doc_hash": "abc"}
    assert found["metadata"] == kept


def test_documents_keep_their_own_id() -> None:
    samples = [written(doc={"qid": name}, doc_hash=name) for name in ("x", "y")]
    assert [each["id"] for each in files.documents(read(*samples))] == ["x", "y"]


def test_an_id_that_does_not_tell_documents_apart_is_none() -> None:
    samples = [written(doc={"id": "x", "n": n}, doc_id=n) for n in (0, 1)]
    assert [each["id"] for each in files.documents(read(*samples))] == ["0", "1"]


def test_doc_ids_out_of_order_are_not_believed() -> None:
    samples = [written(doc_id=n, doc_hash=f"hash-{n}") for n in (7, 2)]
    found = read(*samples)
    assert [each["id"] for each in files.documents(found)] == ["hash-7", "hash-2"]
    assert "doc_id is out of order" in files.changed(found)[0]


def test_results_are_no_samples() -> None:
    with pytest.raises(SuiteError, match=r"holds results of lm-eval, no samples"):
        files.read("results.json", '{"results": {}, "configs": {}, "versions": {}}')


def recorded(folder: Path, pattern: str) -> Reading:
    (file,) = (folder / "eval_logs/lm_eval").glob(pattern)
    return files.read(file.name, file.read_bytes())


def test_recorded_samples(shared_data: Path) -> None:
    whole = recorded(shared_data, "full/stub-a/samples_lc_gen_*")
    assert len(whole.drafts) == 24  # two filters
    assert {each["id"] for each in files.documents(whole)} == {f"g{n:02}" for n in range(12)}
    choices = recorded(shared_data, "full/stub-b/samples_lc_mc_*")
    golds = [each["metadata"]["gold"] for each in files.documents(choices)]
    assert [each["target"] for each in files.documents(choices)] == [["ABCD"[g]] for g in golds]
    part = recorded(shared_data, "samples/stub-a/samples_lc_gen_*")
    assert {each["id"] for each in files.documents(part)} == {"g02", "g05", "g07", "g10"}
