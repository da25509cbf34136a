"""The process in which a grader runs that can hang; `grader_processes` starts and kills it.

It answers each line of its input with one line. Requests and replies are JSON, so that nothing in
them is run, and it imports neither clients nor arrays, so that a new one is soon there.
"""

import json
import signal
import sys

from monitor.domain import answers, suites
from monitor.grading import graders
from monitor.wire.suites import decode_item, encode_item

READY = b"ready\n"
# The parent kills on time; this is for a parent that is gone.
_ORPHAN_SECONDS = 5.0


def encode_request(spec: suites.GraderSpec, item: suites.Item, text: str) -> bytes:
    """One line that asks for a grade."""
    document = {
        "kind": spec.kind,
        "options": dict(spec.options),
        "item": encode_item(item).decode(),
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


def reply(line: bytes) -> bytes:
    """Grade what a request asks for."""
    document = json.loads(line)
    spec = suites.GraderSpec(kind=document["kind"], options=document["options"])
    item = decode_item(document["item"].encode())
    grade = graders.grade(spec, item, document["text"])
    answer = {"score": grade.score, "ungraded": grade.ungraded, "extracted": grade.extracted}
    return json.dumps(answer).encode() + b"\n"


def main(seconds: float) -> None:
    """Answer requests until the input ends.

    Args:
        seconds: time limit of one request.
    """
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    for line in sys.stdin.buffer:
        signal.setitimer(signal.ITIMER_REAL, seconds + _ORPHAN_SECONDS)
        sys.stdout.buffer.write(reply(line))
        sys.stdout.buffer.flush()
        signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    main(float(sys.argv[1]))
