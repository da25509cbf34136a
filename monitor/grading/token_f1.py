"""Scores how far the words of a text and of a target agree: their F1, between 0 and 1.

The measure of SQuAD (Rajpurkar et al. 2016, section 6.1): of the words of answer and target, each
counted as often as it occurs, F1 is twice the number in common over the number in both; of several
targets the best counts. Words are taken from the normalised text (see `normalisation`), without a,
an and the unless `keep_articles` is set, and by rules that differ from the original where that
merges what is different:

- A number is one word with its sign and decimals: 3.5 is not 35. Thousands lose their commas.
- A hyphen separates words; `+` and `#` at the end of one stay: C# is not C.
- In scripts without spaces every character is a word.
"""

import re
from collections import Counter

from monitor.domain import errors, suites
from monitor.grading import grader, normalisation, normalised

OPTIONS = {
    "answer": normalised.OPTIONS["answer"],
    "marker": normalised.OPTIONS["marker"],
    "keep_articles": grader.flag(),
}
_TODO = "give the right answer in words or digits, not in punctuation alone"
_WORD = re.compile(
    r"(?:(?<![\w)])-)?(?<![\w.])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,])|(?:(?<![\w)])-)?\d+(?:\.\d+)?"
    rf"|{normalisation.UNSPACED}|{normalisation.SPACED}+(?:'{normalisation.SPACED}+)*"
    r"(?:[+#]{1,2}(?!\w))?"
)


def extract(options: grader.Options, item: suites.Item, text: str) -> str | None:
    """Return the words of what the text states, or of the whole text, with spaces between."""
    said = {name: options[name] for name in ("answer", "marker") if name in options}
    found = normalised.extract(said, item, text)
    return " ".join(_words(options, found)) or None if found else None


def compare(options: grader.Options, item: suites.Item, extracted: str) -> float:
    """Return the F1 of the words of the answer and of the target that is closest to it."""
    answer = Counter(_words(options, extracted))
    return max((_f1(answer, Counter(_words(options, each))) for each in item.target), default=0.0)


def check(options: grader.Options, item: suites.Item) -> list[errors.Problem]:
    """Find options that do not fit, and targets without words."""
    usable = grader.fitting(options, OPTIONS)
    targets = grader.target_problems(item, lambda target: bool(_words(usable, target)), _TODO)
    return grader.option_problems(options, OPTIONS) + targets


def _words(options: grader.Options, text: str) -> list[str]:
    without = not grader.read(options, OPTIONS, "keep_articles")
    normal = normalisation.normalise(text, ignore_articles=without)
    return [word.replace(",", "") for word in _WORD.findall(normal)]


def _f1(answer: Counter[str], target: Counter[str]) -> float:
    return 2 * (answer & target).total() / ((answer.total() + target.total()) or 1)
