"""Whatever is wrong with a suite's files: file, line and field, and what to do."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from monitor.adapters.suite_files import read_suite
from monitor.domain.errors import SuiteError
from monitor.wire import images, item_lines
from tests.unit.wire import pictures

MANIFEST = b"name: s\ngrader: {kind: exact}\n"
BOMB = b"".join(
    b"%c: &%c [%s]\n" % (name, name, b",".join([b"*" + bytes([name - 1])] * 9))
    for name in range(ord("b"), ord("j"))
)


def line(**fields: object) -> bytes:
    return json.dumps({"id": 1, "input": "?", "target": "x", **fields}).encode() + b"\n"


def showing(image: str) -> bytes:
    """A second line whose item shows a picture."""
    part = {"type": "image", "image": image}
    return line() + line(id=2, input=[{"role": "user", "content": [part]}])


def prompting(field: str) -> bytes:
    return MANIFEST + b"prompt:\n  " + field.encode() + b"\n"


ITEMS = {
    "empty file": (b"", ":1: holds no items (write one JSON object"),
    "blank lines": (b"\n \r\n", ":1: holds no items (write one JSON object"),
    "missing field": (line() + b'{"id": 2, "input": "?"}', ":2: target: is missing (add it)"),
    "unknown field": (line(targets="y"), ":1: targets: unknown key (did you mean target?)"),
    "foreign field": (line(messages=[]), ":1: messages: unknown key (did you mean input?)"),
    "wrong type": (line(choices="xy"), ":1: choices: must be a list"),
    "duplicate id": (line() + line(), ":2: id: '1' is the id of line 1 already (give each item"),
    "unknown grader": (
        line(grader={"kind": "exakt"}),
        ":1: grader.kind: unknown grader 'exakt' (did you mean exact?)",
    ),
    "unknown option": (
        line(grader={"kind": "exact", "marked": 1}),
        ":1: grader.marked: unknown option (did you mean marker?)",
    ),
    "wrong option": (
        line(grader={"kind": "exact", "answer": "all"}),
        ":1: grader.answer: should be one of whole, stated, not 'all'",
    ),
    "template": (line(prompt={"user": "{{ inputs }}"}), ":1: prompt.user: the template cannot be"),
    "generation": (line(generation={"max_tokens": 0}), ":1: generation.max_tokens: must be great"),
    "not UTF-8": (line() + b'{"id": "\xe9"}', ":2: is not UTF-8 (save the file in UTF-8)"),
    "UTF-16": (line().decode().encode("utf-16"), ":1: is not UTF-8 (save the file in UTF-8)"),
    "NUL": (b'{"id": "a\0"}', ":1: is not JSON: Invalid control character at at column 10 (write"),
    "half a character": (line(target="\ud800"), ":1: must hold only what JSON has"),
    "not a number": (b'{"id": NaN}', ":1: is not JSON: NaN is no JSON number (write one"),
    "huge number": (b'{"id": ' + b"9" * 5000 + b"}", ":1: is not JSON: Exceeds the limit (4300"),
    "key twice": (b'{"id": 1, "id": 2}', ":1: is not JSON: the key 'id' stands there twice"),
    "one array": (b"[\n" + line() + b"]", ":1: is not JSON: Expecting value at column 2 (write"),
    "enormous line": (
        line() + b'"' + b"x" * item_lines.LONGEST_LINE + b'"',
        ":2: is longer than 32 MiB (put pictures into files, and each item on a line",
    ),
    "deep nesting": (
        b'{"metadata": ' + b"[" * 100_000,
        ":1: is not JSON: it is nested too deeply (put flat values into metadata)",
    ),
    "picture not found": (
        showing("cat.png"),
        ":2: input[0].content[0].image: cannot be read (no such file or directory): put it into",
    ),
    "picture outside": (
        showing("../cat.png"),
        ":2: input[0].content[0].image: must be a file below the suite's folder, such as",
    ),
    "picture by full path": (
        showing("/etc/passwd"),
        ":2: input[0].content[0].image: must be a file below the suite's folder, such as",
    ),
    "link out": (
        showing("out.png"),
        ":2: input[0].content[0].image: is a link that leads out of the suite's folder: put",
    ),
    "folder": (showing("folder"), ":2: input[0].content[0].image: is not a file: name a picture"),
    "pipe": (showing("pipe"), ":2: input[0].content[0].image: is not a file: name a picture"),
    "device": (showing("zero"), ":2: input[0].content[0].image: is a link that leads out of"),
    "no picture": (
        showing("words.png"),
        ":2: input[0].content[0].image: is not a PNG, JPEG, GIF or WebP picture: convert it",
    ),
    "picture too large": (
        showing("large.png"),
        ":2: input[0].content[0].image: is larger than 8 MiB: scale it down",
    ),
    "http": (
        showing("http://host/p.png"),
        ":2: input[0].content[0].image: must be the name of a file, or an https: or data:image/",
    ),
    "no host": (
        showing("https://"),
        ":2: input[0].content[0].image: must be the name of a file, or an https: or data:image/",
    ),
    "blank in a URL": (
        showing("https://host/a b.png"),
        ":2: input[0].content[0].image: must be the name of a file, or an https: or data:image/",
    ),
    "broken data URL": (
        showing("data:image/png;base64,AA"),
        ":2: input[0].content[0].image: holds no valid base64: encode the picture's bytes anew",
    ),
}

MANIFESTS = {
    "empty file": (b"", ":1: must hold named fields (write `name: value` lines below it)"),
    "missing field": (b"name: s\n", ":1: grader: is missing (add it)"),
    "unknown field": (MANIFEST + b"item: x\n", ":3: item: unknown key (did you mean items?)"),
    "unknown grader": (b"name: s\ngrader: {kind: exat}", ":2: grader.kind: unknown grader 'exat'"),
    "grader's name": (
        b"name: s\ngrader: exact",
        ":2: grader: is a name alone: write grader: {kind",
    ),
    "text": (b"name: s\ngrader: {kind: exact}\nprompt: '?'", ":3: prompt: is a text alone: a temp"),
    "template": (prompting('user: "{{ input"'), ":4: prompt.user: the template cannot be used"),
    "picture": (
        prompting("examples: [{user: [{type: image, image: cat.png}], assistant: a}]"),
        ":4: prompt.examples[0].user[0].image: cannot be read (no such file or directory): put it",
    ),
    "example": (prompting("examples: [{user: a}]"), ":4: prompt.examples[0].assistant: is missing"),
    "items elsewhere": (
        MANIFEST + b"items: ../i.jsonl",
        ":3: items: must be the name of a file in",
    ),
    "key twice": (MANIFEST + b"name: t\n", ":3: name: stands here a second time (keep one of the"),
    "not YAML": (b"name: [", ":1: is not YAML: expected the node content"),
    "not UTF-8": (MANIFEST + b"# \xe9", ":3: is not UTF-8 (save the file in UTF-8)"),
    "UTF-16": ("name: s".encode("utf-16"), ":1: is not UTF-8 (save the file in UTF-8)"),
    "NUL": (b"name: a\0b\n", ":1: is not YAML: ReaderError (check its characters)"),
    "tag": (b"name: !!python/name:os.system x", ":1: is not YAML: could not determine a constr"),
    "bomb of aliases": (b"a: &a [x]\n" + BOMB, "is not YAML: more than 100000 values, aliases"),
    "alias of itself": (b"a: &a [*a]", ":1: is nested too deeply (write fewer levels"),
    "deep nesting": (b"a: " + b"[" * 5_000, ":1: is nested too deeply (write fewer levels"),
}


def told(folder: Path, manifest: bytes, items: bytes) -> list[str]:
    """Everything that is found, without the folder."""
    (folder / "suite.yaml").write_bytes(manifest)
    (folder / "items.jsonl").write_bytes(items)
    with pytest.raises(SuiteError) as raised:
        read_suite(folder)
    return [str(problem).replace(f"{folder}/", "") for problem in raised.value.problems]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A suite's folder with things in it that are no pictures, and a picture beside it."""
    inside = tmp_path / "suite"
    (inside / "folder").mkdir(parents=True)
    (tmp_path / "cat.png").write_bytes(pictures.png())
    (inside / "out.png").symlink_to("../cat.png")
    (inside / "zero").symlink_to("/dev/zero")
    (inside / "words.png").write_text("words")
    (inside / "large.png").write_bytes(pictures.png())
    os.truncate(inside / "large.png", images.LARGEST + 1)
    os.mkfifo(inside / "pipe")
    return inside


@pytest.mark.parametrize(("content", "problem"), ITEMS.values(), ids=ITEMS)
def test_items(folder: Path, content: bytes, problem: str) -> None:
    assert told(folder, MANIFEST, content)[0].startswith(f"items.jsonl{problem}")


@pytest.mark.parametrize(("content", "problem"), MANIFESTS.values(), ids=MANIFESTS)
def test_manifests(folder: Path, content: bytes, problem: str) -> None:
    found = told(folder, content, line())
    assert any(each.startswith("suite.yaml:") and problem in each for each in found)


@pytest.mark.parametrize(
    "written",
    [
        lambda content: b"\xef\xbb\xbf" + content,
        lambda content: content.replace(b"\n", b"\r\n"),
        lambda content: content.replace(b"\n", b"\r\n\r\n"),
    ],
    ids=["byte order mark", "CRLF", "blank lines between"],
)
def test_what_editors_do_is_no_problem(folder: Path, written: Callable[[bytes], bytes]) -> None:
    (folder / "suite.yaml").write_bytes(written(MANIFEST))
    (folder / "items.jsonl").write_bytes(written(line() + line(id=2)))
    assert [item.id for item in read_suite(folder).items] == ["1", "2"]
