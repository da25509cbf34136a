import json

import pytest

from monitor.wire import item_lines


def line(item_id: object = "a", **fields: object) -> bytes:
    return json.dumps({"id": item_id, "input": "?", "target": "x", **fields}).encode()


def told(content: bytes) -> list[str]:
    _, findings = item_lines.read(content)
    return [str(problem) for problem in item_lines.problems(findings, name="f")]


def test_blank_lines_count_but_hold_no_item() -> None:
    lines, findings = item_lines.read(b"\n" + line("a") + b"\r\n \n" + line("b"))
    assert [(each.number, each.model.id) for each in lines] == [(2, "a"), (4, "b")]
    assert findings == []


def test_byte_order_mark_is_skipped() -> None:
    assert told(b"\xef\xbb\xbf" + line()) == []


def test_characters_that_only_some_take_for_line_breaks() -> None:
    separators = json.dumps(
        {"id": "a", "input": "x\u2028\u0085y", "target": "x"}, ensure_ascii=False
    )
    lines, _ = item_lines.read(separators.encode())
    assert lines[0].model.asked() == "x\u2028\u0085y"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "f:1: holds no items (write one JSON object with id, input and target on each line)"),
        (b"\xff", "f:1: is not UTF-8 (save the file in UTF-8)"),
        ('{"id": 1}'.encode("utf-16"), "f:1: is not UTF-8 (save the file in UTF-8)"),
        ('{"id": 1}'.encode("utf-32-le"), "f:1: is not JSON"),
        (b"{'id': 1}", "f:1: is not JSON: Expecting property name enclosed in double quotes"),
        (b'{"id": NaN}', "f:1: is not JSON: NaN is no JSON number"),
        (b'{"id": 1, "id": 2}', "f:1: is not JSON: the key 'id' stands there twice"),
        (b"[" * 100_000, "f:1: is not JSON: it is nested too deeply"),
        (b"[]", "f:1: must hold named fields"),
        (line(target=4), "f:1: target: must be text in quotes, or a list of such texts"),
        (line(targt="x"), "f:1: targt: unknown key (did you mean target?)"),
        (line(question="?"), "f:1: question: unknown key (did you mean input?)"),
        (line(prompt="?"), "f:1: prompt: is a text alone: a template is written as {user: ...}"),
        (line(answer="?"), "f:1: answer: unknown key (did you mean target?)"),
        (line(grader="numeric"), "f:1: grader: is a name alone: write grader: {kind: numeric}"),
        (line(choices="xy"), "f:1: choices: must be a list"),
        (line(input=[{"role": "usr", "content": "?"}]), "f:1: input[0].role: must be 'system'"),
        (line(input=[{"role": "user", "contnt": "?"}]), "f:1: input[0].content: is missing"),
        (line(input=[]), "f:1: input: "),
        (line(metadata={"n": 1}) + b"\n" + line(), "f:2: id: 'a' is the id of line 1 already"),
        (line(1) + b"\n" + line("1"), "f:2: id: '1' is the id of line 1 already"),
    ],
)
def test_problems(content: bytes, problem: str) -> None:
    assert told(content)[0].startswith(problem)


def test_every_line_is_looked_at() -> None:
    content = b"\n".join([line("a", grup="g"), b"?", line("b"), line("b"), line("c", target=[])])
    places = [problem.split(" ")[0] for problem in told(content)]
    assert places == ["f:1:", "f:2:", "f:4:", "f:5:"]


def test_a_line_may_be_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(item_lines, "LONGEST_LINE", len(line()))
    assert told(line()) == []
    assert told(line("b") + b"\n" + line("long"))[0].startswith("f:2: is longer than 0 MiB")


def test_what_is_wrong_on_many_lines_is_summed_up() -> None:
    problems = told(b"\n".join(line(number, grup="g") for number in range(14)))
    assert len(problems) == item_lines.SAME_PROBLEM_AT_MOST + 1
    assert problems[-1] == "f: 4 more lines: grup unknown key"
