r"""Finds where a text says what its answer is.

In order of weight, the last one of a kind first, so that a correction counts:

1. marked: `ANSWER: x`, `Final answer = x`, `the final answer is x`, `\boxed{x}`, `#### x`,
   `<answer>x</answer>`;
2. said: `the answer is x`, `the correct option would be x`.

A marked answer outweighs a sentence, and both outweigh whatever else a text mentions: "ANSWER: B.
One might think that the answer is A" states B. Boxes with nothing but commas, semicolons, "and" or
"or" between them are one statement: of `\boxed{x}, \boxed{y}` it is "x, y". With a marker of the
suite's own, that marker is the only statement. A `<think>` block is not part of an answer; one that
never ends is no answer.

Every pattern is bounded, so that the time is linear in the length of the text.
"""

import itertools
import re
from collections.abc import Callable, Iterator

_LONGEST = 2_000
_MOST = 50

_GAP = r"[ \t*_`~\"']{0,6}"
_IS = r"(?<!\w)(?:is|was|(?:will|would|must|should|seems to|appears to) be)(?![\w'])|[-=]>|\u2192"
_BOX = r"\\d?(?:boxed|fbox)[ \t]{0,3}(?=\{)"
_MARKED = re.compile(
    rf"(?<!\w)ans(?:wer)?{_GAP}(?:\([^()\n]{{0,30}}\))?{_GAP}[:=\uff1a](?!>)"
    rf"|(?<!\w)final{_GAP}answer{_GAP}(?:{_IS})"
    rf"|<answer>|{_BOX}"
    r"|(?m:^)#{4}[ \t]{0,3}(?=[^\w\n]{0,3}[\d.,/]{1,40}[^\w\n]{0,3}(?m:$))",
    re.IGNORECASE,
)
_BETWEEN_BOXES = re.compile(
    r"(?:[\s$,;]|\\[()\[\],;]|\\q?quad|\\text\{|\}|\band\b|\bor\b){0,30}", re.IGNORECASE
)
_SAID = re.compile(
    r"(?<!\w)(?:answer|(?:correct|right|best)[ ](?:option|choice)|my[ ]choice)"
    rf"(?:[ ](?:to|for|of|here)\b[^.:\n]{{0,80}}?)?{_GAP}(?:{_IS}):?",
    re.IGNORECASE,
)
# Not behind an initial within a name, nor between two of them.
_SENTENCE_END = re.compile(r"[.!?](?=\s|\Z)(?<!\s[A-Z]\.)(?!\s[A-Z]\.)")
BULLET = re.compile(r"[ \t]{0,20}(?:[-*+\u2022]|\(?\d{1,3}[.)])[ \t]{1,10}(?=\S)")
_EMPTY = re.compile(r"```\w*|[ *_`~\"'$\\\[(]*")
_ARRAY = re.compile(r"[\s*_~$]*(?:```\w*\s*|`)?(\[[^\[\]]*\])")
_ABBREVIATED = re.compile(r"\b(?:dr|jr|mr|mrs|ms|mt|sr|st|vs)$", re.IGNORECASE)


def without_reasoning(text: str) -> str:
    """Return the text after a model's `<think>` block; empty where the block never ends."""
    _, closed, answer = text.rpartition("</think>")
    if not closed and text.lstrip().startswith("<think>"):
        return ""
    return answer


def stated(text: str, marker: str | None = None, *, lists: bool = False) -> Iterator[str]:
    """What the text states as its answer, the weightiest statement first, decoration kept.

    Args:
        text: a model's answer.
        marker: literal text, in any case, that precedes the answer; None looks for the usual ones.
        lists: of an answer that is an array, or starts with a bullet or a number, read every line.
    """
    text = without_reasoning(text)
    read = _listed if lists else _line
    if marker is not None:
        yield from _values(text, re.compile(re.escape(marker), re.IGNORECASE), read)
        return
    yield from _values(text, _MARKED, read)
    for value in _values(text, _SAID, read):
        yield value if "\n" in value else first_sentence(value)


def boxed(text: str) -> dict[int, str]:
    r"""What the last boxes of a text hold, by the position of the brace behind `\boxed`.

    Several in a row are listed at the last of them.
    """
    found: dict[int, str] = {}
    group: list[str] = []
    before = end = 0
    for box in [*re.finditer(_BOX, text)][-_MOST:]:
        content = braced(text[box.end() : box.end() + _LONGEST])
        if not content.strip():
            continue
        if group and _BETWEEN_BOXES.fullmatch(text, end, box.start()):
            del found[before]
        else:
            group = []
        group.append(content.strip())
        before, end = box.end(), box.end() + len(content) + 2
        found[before] = ", ".join(dict.fromkeys(group))
    return found


def first_sentence(text: str) -> str:
    """Cut at the first full stop, mark or question mark that is not part of a name."""
    for end in _SENTENCE_END.finditer(text):
        if not _ABBREVIATED.search(text[max(0, end.start() - 4) : end.start()]):
            return text[: end.start()]
    return text


def _line(rest: str) -> str:
    """Rest of the line, or the next line that says something."""
    lines = (line.strip() for line in rest.split("\n"))
    return next((line for line in lines if not _EMPTY.fullmatch(line)), "")


def _listed(rest: str) -> str:
    """Rest of the line, or the list that it starts or that follows it."""
    if array := _ARRAY.match(rest):
        return array[1]
    first = _line(rest)
    lines = filter(str.strip, rest[rest.index(first) :].split("\n"))
    return "\n".join(itertools.takewhile(BULLET.match, lines)) or first


def _values(text: str, pattern: re.Pattern[str], read: Callable[[str], str]) -> Iterator[str]:
    """Read what follows the last matches of a pattern, from the end of the text backwards."""
    ends = [match.end() for match in pattern.finditer(text)]
    boxes = boxed(text)
    for end in reversed(ends[-_MOST:]):
        rest = text[end : end + _LONGEST].partition("</answer>")[0]
        value = boxes.get(end, "") if rest.startswith("{") else _innermost(read(rest))
        if value.strip():
            yield value.strip()


def _innermost(value: str) -> str:
    """Of "the answer is x" inside the first sentence of a value, x and what follows."""
    sentence = first_sentence(value)
    while match := _SAID.search(sentence) or _MARKED.search(sentence):
        value = value[match.end() :]
        if value.startswith("{"):
            return ""  # a box is a statement of its own
        sentence = sentence[match.end() :]
    return value


def braced(rest: str) -> str:
    """Text between the first brace and the one that closes it; empty where none does."""
    depth = 0
    for brace in re.finditer(r"[{}]", rest):
        depth += 1 if brace.group() == "{" else -1
        if depth == 0:
            return rest[1 : brace.start()]
    return ""
