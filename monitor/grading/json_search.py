"""Finds JSON in prose.

Of the objects (or arrays) that no other one contains, the last that is valid counts, those in code
fences before all others. Valid is what RFC 8259 lets pass, nested no deeper than `DEEPEST`: no
single quotes, no trailing commas, no comments, no NaN. One that never ends, as in a truncated
answer, ends the search; what it contains is not taken for the answer.

The time is linear in the length of the text.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

DEEPEST = 100

_FENCED = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
_STARTS = {
    "{": re.compile(r'\{(?=[ \t\r\n]*["}])'),
    "[": re.compile(r'\[(?=[ \t\r\n]*["{\[\]\dtfn-])'),
}
_STEPS = {"{": 1, "[": 1, "}": -1, "]": -1}
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[][{}"]', re.DOTALL)


def find(text: str, start: str) -> str | None:
    """Return the last JSON value in a text that begins with a bracket, None where there is none.

    Args:
        text: a model's answer.
        start: the bracket, "{" or "[".
    """
    for part in (*reversed(_FENCED.findall(text)), text):
        spans = [*_spans(part, _STARTS[start])]
        for span in reversed(spans):
            if parse(span) is not None:
                return span
    return None


def parse(text: str) -> Any | None:  # noqa: ANN401 - any JSON value
    """Value of an object or array in JSON, None where the text is not one."""
    if text.lstrip()[:1] not in {"{", "["} or _is_deep(text):
        return None
    try:
        return json.loads(text, parse_constant=_refuse)
    except ValueError:
        return None


def _is_deep(text: str) -> bool:
    return any(depth > DEEPEST for depth, _ in _depths(text, 0))


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _spans(text: str, start: re.Pattern[str]) -> Iterator[str]:
    """Everything from an opening bracket to the one that closes it, outermost only."""
    begin = start.search(text)
    while begin:
        end = _end(text, begin.start())
        if end is None:
            return
        yield text[begin.start() : end]
        begin = start.search(text, end)


def _end(text: str, begin: int) -> int | None:
    """Return where the bracket at `begin` is closed, None where it is not."""
    return next((end for depth, end in _depths(text, begin) if depth == 0), None)


def _depths(text: str, begin: int) -> Iterator[tuple[int, int]]:
    """Return how deep each bracket leaves a text, and where it ends, up to an endless string.

    Brackets within strings do not count.
    """
    depth = 0
    for token in _TOKEN.finditer(text, begin):
        if token[0] == '"':
            return
        if token[0] in _STEPS:
            depth += _STEPS[token[0]]
            yield depth, token.end()
