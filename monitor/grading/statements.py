r"""Finds where a text says what its answer is.

In order of weight, the last one of a kind first, so that a correction counts:

1. marked: `ANSWER: x`, `Final answer = x`, `the final answer is x`, `\boxed{x}`, `#### x`;
2. said: `the answer is x`, `the correct option would be x`.

A marked answer outweighs a sentence, and both outweigh whatever else a text mentions: "ANSWER: B.
One might think that the answer is A" states B. With a marker of the suite's own, that marker is
the only statement. A `<think>` block is not part of an answer; one that never ends is no answer.

Every pattern is bounded, so that the time is linear in the length of the text.
"""

import re
from collections.abc import Iterator

_LONGEST = 2_000
_MOST = 50

_GAP = r"[ \t*_`~\"']{0,6}"
_IS = r"(?<!\w)(?:is|was|will be|would be|must be|should be)(?![\w'])|[-=]>|\u2192"
_MARKED = re.compile(
    rf"(?<!\w)answer{_GAP}(?:\([^()\n]{{0,30}}\))?{_GAP}[:=\uff1a](?!>)"
    rf"|(?<!\w)final{_GAP}answer{_GAP}(?:{_IS})"
    r"|\\d?(?:boxed|fbox)[ \t]{0,3}(?=\{)"
    r"|(?m:^)#{4}[ \t]{0,3}(?=[^\w\n]{0,3}[\d.,/]{1,40}[^\w\n]{0,3}(?m:$))",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"(?<!\w)(?:answer|(?:correct|right|best)[ ](?:option|choice)|my[ ]choice)"
    rf"(?:[ ](?:to|for|of|here)\b[^.:\n]{{0,80}}?)?{_GAP}(?:{_IS}):?",
    re.IGNORECASE,
)
# Not behind an initial within a name, nor between two of them.
_SENTENCE_END = re.compile(r"[.!?](?=\s|\Z)(?<!\s[A-Z]\.)(?!\s[A-Z]\.)")
_ABBREVIATED = re.compile(r"\b(?:dr|jr|mr|mrs|ms|mt|sr|st|vs)$", re.IGNORECASE)


def without_reasoning(text: str) -> str:
    """Return the text after a model's `<think>` block; empty where the block never ends."""
    _, closed, answer = text.rpartition("</think>")
    if not closed and text.lstrip().startswith("<think>"):
        return ""
    return answer


def stated(text: str, marker: str | None = None) -> Iterator[str]:
    """What the text states as its answer, the weightiest statement first, decoration kept.

    Args:
        text: a model's answer.
        marker: literal text, in any case, that precedes the answer; None looks for the usual ones.
    """
    text = without_reasoning(text)
    if marker is not None:
        yield from _values(text, re.compile(re.escape(marker), re.IGNORECASE))
        return
    yield from _values(text, _MARKED)
    for value in _values(text, _SAID):
        yield first_sentence(value)


def first_sentence(text: str) -> str:
    """Cut at the first full stop, mark or question mark that is not part of a name."""
    for end in _SENTENCE_END.finditer(text):
        if not _ABBREVIATED.search(text[max(0, end.start() - 4) : end.start()]):
            return text[: end.start()]
    return text


def _values(text: str, pattern: re.Pattern[str]) -> Iterator[str]:
    """Read what follows the last matches of a pattern, from the end of the text backwards."""
    ends = [match.end() for match in pattern.finditer(text)]
    for end in reversed(ends[-_MOST:]):
        rest = text[end : end + _LONGEST]
        value = _braced(rest) if rest.startswith("{") else _innermost(_line(rest))
        if value.strip():
            yield value.strip()


def _line(rest: str) -> str:
    """Rest of the line, or the next line that says something."""
    lines = (line.strip() for line in rest.split("\n"))
    return next((line for line in lines if line.strip(" *_`~\"'$\\[(")), "")


def _innermost(value: str) -> str:
    """Of "the answer is x" inside the first sentence of a value, x and what follows."""
    sentence = first_sentence(value)
    while match := _SAID.search(sentence) or _MARKED.search(sentence):
        value = value[match.end() :]
        if value.startswith("{"):
            return _braced(value)
        sentence = sentence[match.end() :]
    return value


def _braced(rest: str) -> str:
    """Text between the first brace and the one that closes it; empty where none does."""
    depth = 0
    for brace in re.finditer(r"[{}]", rest):
        depth += 1 if brace.group() == "{" else -1
        if depth == 0:
            return rest[1 : brace.start()]
    return ""
