"""promptfoo's assertions as graders where there is an exact counterpart, or why there is none."""

import csv
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from monitor.wire.imports import samples
from monitor.wire.imports.readings import Remark

ANYWHERE = {"kind": "include", "inside_words": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterpart:
    """How an assertion is graded here: options of the grader, and the targets."""

    grader: dict[str, Any]
    target: list[str]


def spelled(value: object) -> str:
    """A value as JavaScript spells it, where 2.0 is 2."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return samples.as_text(value)


def _equals(value: object) -> Counterpart:
    if isinstance(value, (Mapping, list)):
        return Counterpart(grader={"kind": "json", "score": "all"}, target=[json.dumps(value)])
    return Counterpart(grader={"kind": "exact"}, target=[spelled(value)])


def _contains(value: object) -> Counterpart:
    return Counterpart(grader={**ANYWHERE, "case_sensitive": True}, target=_texts(value))


def _contains_in_any_case(value: object) -> Counterpart:
    return Counterpart(grader=dict(ANYWHERE), target=_texts(value))


def _starts_with(value: object) -> Counterpart:
    start = spelled(value)
    pattern = rf"\A\s*({re.escape(start)})"
    return Counterpart(grader={"kind": "regex", "pattern": pattern}, target=[start])


COUNTERPARTS: Mapping[str, Callable[[object], Counterpart]] = {
    "equals": _equals,
    "starts-with": _starts_with,
    "contains": _contains,
    "icontains": _contains_in_any_case,
    "contains-any": lambda value: _contains(_several(value)),
    "icontains-any": lambda value: _contains_in_any_case(_several(value)),
}
"""By type of the assertion, the strictest first."""

CODE = ("javascript", "python", "ruby", "webhook")
JUDGED = (
    "answer-relevance",
    "conversation-relevance",
    "classifier",
    "context-faithfulness",
    "context-recall",
    "context-relevance",
    "factuality",
    "g-eval",
    "human",
    "llm-rubric",
    "model-graded-closedqa",
    "model-graded-factuality",
    "moderation",
    "pi",
    "search-rubric",
    "select-best",
    "similar",
)
UNMATCHED = (
    "assert-set",
    "bleu",
    "contains-all",
    "contains-html",
    "contains-json",
    "contains-sql",
    "contains-xml",
    "cost",
    "f-score",
    "finish-reason",
    "gleu",
    "guardrails",
    "icontains-all",
    "is-html",
    "is-json",
    "is-refusal",
    "is-sql",
    "is-valid-function-call",
    "is-valid-openai-function-call",
    "is-valid-openai-tools-call",
    "is-xml",
    "latency",
    "levenshtein",
    "max-score",
    "meteor",
    "perplexity",
    "perplexity-score",
    "regex",
    "rouge-n",
    "tool-call-f1",
    "trace-error-spans",
    "trace-span-count",
    "trace-span-duration",
    "word-count",
)
_SHORT = {"fn": "javascript", "eval": "javascript", "grade": "llm-rubric"}
_WRITTEN = re.compile(r"(not-)?([a-z][a-z0-9-]*)(?:\([\d.]+\))?(?::\s*(.*))?", re.DOTALL)


def counterpart(assertion: Mapping[str, Any]) -> Counterpart | Remark:
    """The grader that scores as an assertion does, or why there is none.

    Args:
        assertion: its type and value, variables filled in.
    """
    kind, value = str(assertion.get("type")), assertion.get("value")
    if "$ref" in assertion:
        what = "refers to what stands elsewhere"
        return Remark(field="assert", what=what, todo="write the assertion into the test")
    if kind not in COUNTERPARTS:
        return Remark(field="assert", what=f"{kind!r:.60} {_reason(kind)}")
    if assertion.get("transform"):
        what = f"{kind!r} looks at what code makes of the answer, and no code is run"
        return Remark(field="assert", what=what)
    if value is None or (isinstance(value, str) and value.startswith("file://")):
        what = f"{kind!r} has its value in another file, or none"
        return Remark(field="assert", what=what, todo="write the value into the test")
    found = COUNTERPARTS[kind](value)
    if not found.target or not all(text.strip() for text in found.target):
        return Remark(field="assert", what=f"{kind!r} looks for an empty text")
    return found


def written(text: str) -> dict[str, Any]:
    """An assertion as tables write it: `icontains: Paris`; a plain text is to be equal."""
    match = _WRITTEN.fullmatch(text.strip())
    if match is not None:
        kind = _SHORT.get(match[2], match[2])
        if kind in {*COUNTERPARTS, *CODE, *JUDGED, *UNMATCHED}:
            return {"type": f"{match[1] or ''}{kind}", "value": match[3]}
    return {"type": "equals", "value": text}


def _reason(kind: str) -> str:
    if kind.startswith("not-"):
        return "forbids something, and graders look for what is right"
    if kind in CODE:
        return "is code, which is not run"
    if kind in JUDGED:
        return "asks another model"
    return "has no counterpart among the graders"


def _texts(value: object) -> list[str]:
    return [spelled(each) for each in (value if isinstance(value, list) else [value])]


def _several(value: object) -> Sequence[object]:
    if isinstance(value, list):
        return value
    # A value in quotes may hold a comma.
    (values,) = csv.reader([spelled(value)], skipinitialspace=True)
    return [each.strip() for each in values]
