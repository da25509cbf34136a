"""Right is what a program of the installation says: a command that is run, or a service.

For what no table of graders can hold, such as running the code of an answer. The suite names the
program, the configuration says what the name stands for: a suite can start nothing of its own.
This is the pure half: what such a grader is told, and what its reply is worth.
"""

import json

from monitor.domain import answers, errors, suites
from monitor.grading import grader

OPTIONS = {"name": grader.words()}
KINDS = ("command", "http")
LONGEST_REPLY = 64 * 1024
"""Bytes."""


def check(options: grader.Options, _item: suites.Item) -> list[errors.Problem]:
    """Find options that do not fit, and a missing name."""
    found = grader.option_problems(options, OPTIONS)
    if "name" not in options:
        todo = "name it as under `graders` in the configuration, where it has to be allowed"
        found.append(errors.Problem(where="grader.name", what="missing", todo=todo))
    return found


def question(item: suites.Item, text: str) -> bytes:
    """JSON that a program is given: the `item`, named as in the suite, and the `answer`."""
    asked = item.input
    document = {
        "id": item.id,
        "input": asked if isinstance(asked, str) else [_turn(message) for message in asked],
        "target": list(item.target),
        "choices": list(item.choices),
        "metadata": dict(item.metadata),
    }
    return json.dumps({"item": document, "answer": text}).encode()


def _turn(message: suites.Message) -> dict[str, str]:
    """A message with its words; pictures are left out."""
    content = message.content
    parts = (suites.TextPart(text=content),) if isinstance(content, str) else content
    words = (part.text for part in parts if isinstance(part, suites.TextPart))
    return {"role": message.role, "content": "\n".join(words)}


def grade(reply: bytes) -> answers.Grade:
    """The `score` in [0, 1] of a reply in JSON; with an `error`, or without it, grading failed."""
    try:
        document = json.loads(reply)
    except (ValueError, RecursionError):
        return answers.Grade(ungraded=answers.Ungraded.FAILED)
    if not isinstance(document, dict) or len(reply) > LONGEST_REPLY:
        return answers.Grade(ungraded=answers.Ungraded.FAILED)
    score = document.get("score") if document.get("error") is None else None
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
        return answers.Grade(ungraded=answers.Ungraded.FAILED)
    return answers.Grade(score=float(score))
