"""Right is the letter of the right choice.

Read, in this order: the answer that the text states (see `statements`), as a letter or as the words
of a choice; a phrase that settles on one ("B is correct", "I would go with B"); and, unless
`answer: stated`, a text or a last or first line that is a letter or starts with one ("B) Paris"),
or is the words of a choice. A letter that is merely mentioned counts for nothing.

Two letters in one statement ("A or B") are no answer. A before a word is taken for the article and
I for the pronoun, unless marked as a letter: "Option A fits", "(I)", "A because", "Answer: I".

A target is a letter or the exact words of a choice; of several targets one is enough, so this is
not the grader for questions that want all of them. The letters are those of the item's `choices`;
where the question itself lists the choices, `letters` names them, for example ABCD. Where the suite
shuffles choices, texts have the letters that the model saw, and targets and extracted answers those
of the suite's own order.
"""

import re
import string
from collections.abc import Iterator

from monitor.domain import errors, suites
from monitor.grading import grader, normalisation, statements

OPTIONS = {
    "answer": grader.one_of("anywhere", "stated"),
    "marker": grader.words(),
    "letters": grader.Option(
        wanted="different capital letters, such as ABCD",
        accepts=lambda given: (
            isinstance(given, str)
            and set(given) <= set(string.ascii_uppercase)
            and 1 < len(given) == len(set(given))
        ),
        default="",
    ),
}

_NOUN = r"(?:option|choice|letter|answer|statement)"
_FILLER = (
    r"(?:(?:the|correct|right|best|is|it|it's|most|likely|probably|definitely|clearly|therefore"
    rf"|thus|so|indeed|simply|would|be|{_NOUN})(?![\w'])[\s,:(*_]{{0,6}})*"
)
_LETTER = re.compile(
    rf"\W{{0,6}}(?P<before>{_FILLER}\W{{0,6}})(?P<letter>[a-z])(?!['-]?\w)(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_NAMED = re.compile(rf"{_NOUN}\W*$", re.IGNORECASE)
_CONNECTIVE = re.compile(r"\s(?:as|because|but|due|given|is|since|which)\b")
_SECOND = re.compile(
    r"[\s)*_]{0,4}(?:(?:,\s?)?(?:and|or)\s|[/&])[\s(*_]{0,4}(?:option\s)?([A-Z])(?![\w'])"
    r"|,\s?\(?([A-Z])\)?(?=\W*$|,|\s(?:and|or)\b)"
)
_ALONE = re.compile(rf"\W{{0,10}}(?:(?:{_NOUN}|correct)\W{{1,4}})?([a-z])\W{{0,10}}", re.IGNORECASE)
_BRACKETED = re.compile(r"\(([A-Z])\)")
_BEHIND = re.compile(r"\([A-Z]\)\W{0,6}$")
_AFTERWARDS = re.compile(r",\s(?!and\b|or\b)|,?\s(?:as|because|since)\b")
_LEADING = re.compile(
    rf"^[^\w\n]{{0,6}}(?:{_NOUN}\s)?([a-z])(?:[)\]]|\.(?!\w)|:)(?!\w)", re.IGNORECASE | re.MULTILINE
)
_PRAISE = r"(?:correct|right|best|true|accurate|appropriate|suitable)"
_SETTLED = re.compile(
    rf"(?<![\w'-])([A-Z])\W{{0,3}}[ ](?:is|seems|looks|appears|would[ ]be)[ ]"
    rf"(?:\w{{1,12}}ly[ ])?(?:to[ ]be[ ])?(?:the[ ]|my[ ])?(?:most[ ])?"
    rf"(?:{_PRAISE}(?!\w)|(?:final[ ])?(?:answer|choice)(?=\W{{0,4}}(?:[.,;!]|$)))"
    rf"|(?i:choose|choosing|pick|select|go[ ]with|going[ ]with|opt[ ]for)[ ](?:{_NOUN}[ ])?"
    r"\W{0,3}([A-Z])(?![\w'])"
    rf"|(?i:think|believe|say|guess|it[ ]is|it's|that's|must[ ]be|should[ ]be)[ ](?:{_NOUN}[ ])?"
    r"\W{0,3}([A-Z])(?=\W{0,4}(?:[.,;:!)](?!\w)|$))",
    re.MULTILINE,
)
_DENIED = re.compile(
    r"(?:\bnot|n't|\bneither|\bnor|\bnever|\bwhether|\bif)\W[^.,;\n]{0,24}$", re.IGNORECASE
)
_DENIED_WITHIN = 32


def extract(options: grader.Options, item: suites.Item, text: str) -> str | None:
    """Return the capital letter of the choice, in the suite's order, that the text settles on."""
    letters = _letters(options, item)
    shown = _shown(options, letters, item.shown_choices, normalisation.compatible(text))
    if shown is None or not item.order:
        return shown
    return letters[item.order[letters.index(shown)]]


def compare(options: grader.Options, item: suites.Item, extracted: str) -> float:
    """Return 1 where the answer is the letter of one of the targets, else 0."""
    letters = _letters(options, item)
    return float(any(_of_target(target, letters, item) == extracted for target in item.target))


def check(options: grader.Options, item: suites.Item) -> list[errors.Problem]:
    """Find options that do not fit, missing or too many choices, and targets outside them."""
    found = grader.option_problems(options, OPTIONS)
    usable = grader.fitting(options, OPTIONS)
    if unfit := _choice_problems(usable, item):
        return found + unfit
    letters = _letters(usable, item)
    todo = f"give one of the letters {letters}, or the exact words of one choice"
    return found + grader.target_problems(
        item, lambda target: _of_target(target, letters, item) is not None, todo
    )


def _shown(
    options: grader.Options, letters: str, choices: tuple[str, ...], text: str
) -> str | None:
    """Letter that the text settles on, of the choices as the model sees them."""
    for value in statements.stated(text, options.get("marker")):
        if letter := _of_value(value, letters, choices):
            return letter
    visible = normalisation.undecorated(statements.without_reasoning(text))
    if settled := _settled(visible, letters):
        return settled
    if grader.read(options, OPTIONS, "answer") == "stated":
        return None
    return _unstated(visible, letters, choices)


def _choice_problems(options: grader.Options, item: suites.Item) -> list[errors.Problem]:
    if not _letters(options, item):
        todo = "add choices to the item, or the option letters (such as ABCD) to the grader"
        return [errors.Problem(where="choices", what="missing", todo=todo)]
    if len(item.choices) > len(string.ascii_uppercase):
        what = f"{len(item.choices)} choices, but there are 26 letters"
        return [errors.Problem(where="choices", what=what, todo="give fewer, or another grader")]
    return []


def _letters(options: grader.Options, item: suites.Item) -> str:
    given: str = grader.read(options, OPTIONS, "letters")
    return string.ascii_uppercase[: len(item.choices)] or given


def _of_target(target: str, letters: str, item: suites.Item) -> str | None:
    target = target.strip()
    if len(target) == 1 and target.upper() in letters:
        return target.upper()
    return letters[item.choices.index(target)] if item.choices.count(target) == 1 else None


def _of_value(value: str, letters: str, choices: tuple[str, ...]) -> str | None:
    """Letter of a stated answer: a letter alone, the words of a choice, a letter and more."""
    value = normalisation.undecorated(value)
    sentence = statements.first_sentence(value)
    return (
        _alone(value, letters)
        or _of_words(value, letters, choices)
        or _of_words(sentence, letters, choices)
        or _followed(value, letters)
        or _behind(sentence, letters)
        or _of_words(_said(sentence), letters, choices)
    )


def _said(sentence: str) -> str:
    """Words before a comma or a reason; a single letter is left to the other rules."""
    words = _AFTERWARDS.split(sentence, maxsplit=1)[0].strip()
    return words if len(words) > 1 else ""


def _behind(sentence: str, letters: str) -> str | None:
    """Letter in brackets at the end, the only one there is."""
    found = {match[1] for match in _BRACKETED.finditer(sentence)} & set(letters)
    return found.pop() if len(found) == 1 and _BEHIND.search(sentence) else None


def _alone(line: str, letters: str) -> str | None:
    match = _ALONE.fullmatch(line)
    return match[1].upper() if match and match[1].upper() in letters else None


def _of_words(value: str, letters: str, choices: tuple[str, ...]) -> str | None:
    normal = normalisation.normalise(value)
    same = [
        letter
        for letter, choice in zip(letters, choices, strict=False)
        if normalisation.normalise(choice) == normal
    ]
    return same[0] if len(same) == 1 and normal else None


def _followed(value: str, letters: str) -> str | None:
    """Letter in front of further words, if it is a letter and the only one."""
    match = _LETTER.match(value)
    if match is None or match["letter"].upper() not in letters:
        return None
    second = _SECOND.match(match["rest"])
    if second and second[second.lastindex or 0] in letters.replace(match["letter"].upper(), ""):
        return None
    return match["letter"].upper() if _marked_as_letter(match) else None


def _marked_as_letter(match: re.Match[str]) -> bool:
    """Whether a, A or I is more than a word of the sentence, and any other letter a letter."""
    letter, rest = match["letter"], match["rest"]
    if match["before"].endswith(("(", "[")) or rest.startswith((")", "]", ".", ":")):
        return True
    if not rest.strip(normalisation.ENDS) or _NAMED.search(match["before"]):
        return True
    if letter.islower() or letter == "I":
        return False
    return letter != "A" or not rest.startswith(" ") or _CONNECTIVE.match(rest) is not None


def _settled(text: str, letters: str) -> str | None:
    """Letter of the last phrase that settles on one."""
    found = [
        match[match.lastindex or 0]
        for match in _SETTLED.finditer(text)
        if not _DENIED.search(text[max(0, match.start() - _DENIED_WITHIN) : match.start() + 1])
    ]
    return next((letter for letter in reversed(found) if letter in letters), None)


def _unstated(text: str, letters: str, choices: tuple[str, ...]) -> str | None:
    lines = [line for line in text.split("\n") if line.strip()]
    for line in _outer(lines):
        if letter := _alone(line, letters) or _of_words(line, letters, choices):
            return letter
    if lines and (last := _LETTER.match(lines[-1])) and not last["rest"].strip(normalisation.ENDS):
        return last["letter"] if last["letter"] in letters else None
    leading = {match[1].upper() for match in _LEADING.finditer(text)} & set(letters)
    if len(leading) == 1 and any(_LEADING.match(line) for line in _outer(lines)):
        return leading.pop()
    return None


def _outer(lines: list[str]) -> Iterator[str]:
    """Return the last line, then the first."""
    yield from lines[:-2:-1]
    yield from lines[:1]
