"""The process in which a grader runs that can hang; `grader_processes` starts and kills it.

It answers each line of its input with two: `READY` when the grader is prepared, from when its time
counts, and the grade. Requests and replies are JSON, so that nothing in them is run, and it imports
neither clients nor arrays, so that a new one is soon there.
"""

import json
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace

from monitor.domain import answers, suites
from monitor.grading import graders
from monitor.wire.suites import decode_item, encode_item

READY = b"ready\n"
# The parent kills on time; this is for a parent that is gone.
_ORPHAN_SECONDS = 5.0
_QUESTION = "?"


def encode_request(spec: suites.GraderSpec, item: suites.Item, text: str) -> bytes:
    """One line that asks for a grade."""
    # No grader here reads the question, and there may be large pictures in it.
    bare = replace(item, input=_QUESTION, prompt={})
    document = {
        "kind": spec.kind,
        "options": dict(spec.options),
        "item": encode_item(bare).decode(),
        "order": list(item.order),
        "text": text,
    }
    return json.dumps(document).encode() + b"\n"


def decode_reply(line: bytes) -> answers.Grade:
    """Read the grade in a reply.

    Raises:
        ValueError: the line is not a whole reply.
    """
    document = json.loads(line)
    ungraded = document["ungraded"]
    return answers.Grade(
        score=document["score"],
        ungraded=None if ungraded is None else answers.Ungraded(ungraded),
        extracted=document["extracted"],
    )


def replies(line: bytes) -> Iterator[bytes]:
    """Say when the grader of a request is prepared, then grade what the request asks for."""
    document = json.loads(line)
    spec = suites.GraderSpec(kind=document["kind"], options=document["options"])
    item = replace(decode_item(document["item"].encode()), order=tuple(document["order"]))
    graders.GRADERS[spec.kind].prepare()
    yield READY
    grade = graders.grade(spec, item, document["text"])
    answer = {"score": grade.score, "ungraded": grade.ungraded, "extracted": grade.extracted}
    yield json.dumps(answer).encode() + b"\n"


def main(seconds: float) -> None:
    """Answer requests until the input ends.

    Args:
        seconds: time limit of one request.
    """
    for line in sys.stdin.buffer:
        for reply in replies(line):
            sys.stdout.buffer.write(reply)
            sys.stdout.buffer.flush()
            limit = seconds + _ORPHAN_SECONDS if reply == READY else 0
            signal.setitimer(signal.ITIMER_REAL, limit)


if __name__ == "__main__":
    main(float(sys.argv[1]))
