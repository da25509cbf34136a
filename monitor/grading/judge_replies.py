"""Reads what a judge has decided: from the last line of its reply, and from nowhere else.

A judge that explains itself quotes what it judges, so whatever stands before its last line may
come from the answer, and so may a last line that is itself a quotation. A line that says more than
the decision, or anything else, cannot be used: guessing would turn a failure of the judge into a
score.
"""

import re

LARGEST = 1e6
_LONGEST = 200
_EDGE = r"[\s*_`~#]{0,8}"
_OPEN = r"[\s*_`~\"'(\[]{0,8}"
_CLOSE = r"[\s*_`~\"')\]]{0,8}"
_NUMBER = r"[-+]?\d{1,7}(?:\.\d{1,6})?"
_RATING = re.compile(
    rf"{_EDGE}(?:(?:my|the|final|overall)\s)*rating{_EDGE}(?:[:=]|is:?){_OPEN}(?P<rating>{_NUMBER})"
    rf"{_CLOSE}(?:(?:/|out\sof|of){_OPEN}(?P<highest>{_NUMBER}){_CLOSE})?[.!]?{_EDGE}",
    re.IGNORECASE,
)
_VERDICT = re.compile(
    rf"{_EDGE}(?:(?:my|the|final|overall)\s)*verdict{_EDGE}(?:[:=]|is:?){_OPEN}"
    rf"(?:(?:answer|response|assistant|option)\s)?(?P<verdict>a|b|tie){_CLOSE}[.!]?{_EDGE}",
    re.IGNORECASE,
)
_SAYS_NOTHING = re.compile(r"[\s*_`~#>|-]*")
_PREFERENCES = {"a": 1.0, "b": 0.0, "tie": 0.5}


def rating(reply: str, *, lowest: float, highest: float) -> float | None:
    """The number in a last line such as `Rating: 4`, None where there is none on the scale."""
    match = _RATING.fullmatch(_last_line(reply))
    if match is None or float(match["highest"] or highest) != highest:
        return None
    number = float(match["rating"])
    return number if lowest <= number <= highest else None


def preference(reply: str) -> float | None:
    """1 for a last line `Verdict: A`, 0 for B, .5 for a tie, None where it says none of these."""
    match = _VERDICT.fullmatch(_last_line(reply))
    # Not every letter that the pattern takes for an i is one: there are Turkish ones.
    return _PREFERENCES.get(match["verdict"].lower()) if match else None


def _last_line(reply: str) -> str:
    lines = (line for line in reversed(reply.splitlines()) if not _SAYS_NOTHING.fullmatch(line))
    last = next(lines, "")
    return last if len(last) <= _LONGEST else ""
