import json
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from monitor.adapters import grader_worker
from monitor.domain.answers import Grade, Ungraded
from monitor.domain.identifiers import ItemId
from monitor.domain.suites import GraderSpec, ImagePart, Item, Message, item_digest
from monitor.grading import graders

SPEC = GraderSpec(kind="regex", options={"pattern": "(?s)is (.*)"})
ASKED = (Message(role="user", content="?"),)
ITEM = Item(
    id=ItemId("1"),
    input=ASKED,
    target=("\u00e4\n",),
    metadata={"n": [1]},
    digest=item_digest(input=ASKED, target=("\u00e4\n",)),
)


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("is \u00e4", Grade(score=1.0, extracted="\u00e4")),
        ("is \ud800\n\u2028x", Grade(score=0.0, extracted="\ud800\n\u2028x")),
        ("", Grade(ungraded=Ungraded.NO_ANSWER)),
    ],
)
def test_reply_to_a_request(text: str, grade: Grade) -> None:
    request = grader_worker.encode_request(SPEC, ITEM, text)
    ready, reply = grader_worker.replies(request)
    assert ready == grader_worker.READY
    assert grader_worker.decode_reply(reply) == grade
    assert request.count(b"\n") == reply.count(b"\n") == 1


def test_pictures_stay_here() -> None:
    part = ImagePart(url="data:image/png;base64," + "A" * 1_000_000)
    shown = replace(ITEM, input=(Message(role="user", content=(part,)),))
    assert len(grader_worker.encode_request(SPEC, shown, "is x")) < 1000


def test_the_order_of_choices_is_known_to_the_worker() -> None:
    shuffled = replace(ITEM, choices=("x", "y", "z"), target=("C",), order=(2, 0, 1))
    request = grader_worker.encode_request(GraderSpec(kind="choice"), shuffled, "ANSWER: A")
    _, reply = grader_worker.replies(request)
    assert grader_worker.decode_reply(reply) == Grade(score=1.0, extracted="C")


def test_ready_is_who_is_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: list[str] = []
    noting = replace(graders.GRADERS["regex"], prepare=lambda: prepared.append("regex"))
    monkeypatch.setitem(graders.GRADERS, "regex", noting)
    replies = grader_worker.replies(grader_worker.encode_request(SPEC, ITEM, "is x"))
    assert prepared == []
    assert next(replies) == grader_worker.READY
    assert prepared == ["regex"]


@pytest.mark.parametrize("line", [b"", b'{"score": 1.0', b'{"score": null, "ungraded": "?"}'])
def test_broken_reply(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        grader_worker.decode_reply(line)


def run(request: bytes, *, seconds: float) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-P", "-m", grader_worker.__name__, str(seconds)]
    return subprocess.run(command, input=request, capture_output=True, check=False)


def test_worker_ends_with_its_input() -> None:
    done = run(grader_worker.encode_request(SPEC, ITEM, "is x") * 2, seconds=60)
    lines = done.stdout.splitlines(keepends=True)
    assert (done.returncode, done.stderr, lines[::2]) == (0, b"", [grader_worker.READY] * 2)
    assert [json.loads(reply)["extracted"] for reply in lines[1::2]] == ["x", "x"]


def test_worker_that_hangs_ends_without_its_parent() -> None:
    hanging = GraderSpec(kind="regex", options={"pattern": "(a+)+$"})
    request = grader_worker.encode_request(hanging, ITEM, "a" * 60 + "!")
    assert run(request, seconds=-4.9).returncode == -signal.SIGALRM
