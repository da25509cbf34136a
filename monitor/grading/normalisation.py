r"""Two spellings of one answer become one string.

`normalise` applies these rules until nothing changes, which is why it is idempotent:

1. Invisible characters (zero-width spaces and joiners, soft hyphens, byte order marks) go.
2. Unicode NFKC: full-width letters, ligatures, no-break spaces become their plain forms.
3. Typographic quotes, dashes and the minus sign become their ASCII forms.
4. Decoration goes: runs of two or more of `*`, `_` and backtick, single backticks; and, leaving a
   space, braces and LaTeX commands that only change the looks (`\text`, `\boxed`, `\(`, `\,` ...).
   An escaped `\%`, `\$`, `\#`, `\&` loses its backslash.
5. Letters are case-folded.
6. White space, line breaks included, becomes one space.
7. Both ends lose spaces, list bullets, `$`, emphasis, quotes, brackets and the punctuation
   `. , ; : ! ?`. A sign in front and `%`, `+`, `#` behind stay: -5 is not 5, C# is not C.
8. With `ignore_articles`, the English words a, an, the go, wherever they stand.

Inner punctuation stays: 3.5 is not 35.
"""

import re
import unicodedata

_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
_TYPOGRAPHIC = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u2032\u00b4", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        "{": " ",
        "}": " ",
    }
)
_DECORATION = re.compile(r"[*_`]{2,}|`")
_LOOKS = re.compile(
    r"\\(?:(?:text(?:bf|it|rm|tt)?|math(?:bf|it|rm)|d?boxed|fbox|left|right|displaystyle|quad)"
    r"(?![a-z])|[()\[\],;:! ])",
    re.IGNORECASE,
)
_ESCAPED = re.compile(r"(?<!\\)\\+([%$#&])")
ENDS = " .,;:!?\"'()[]<>*_~|$"
_BULLETS = re.compile(r"(?:[-\u2022] )+")
_ARTICLES = re.compile(r"(?<![\w'-])(?:a|an|the)(?![\w'-])")


def undecorated(text: str) -> str:
    """Apply rules 1 to 4, once: what is left are letters, punctuation and line breaks."""
    text = unicodedata.normalize("NFKC", text.translate(_INVISIBLE)).translate(_TYPOGRAPHIC)
    return _ESCAPED.sub(r"\1", _LOOKS.sub(" ", _DECORATION.sub("", text)))


def normalise(text: str, *, ignore_articles: bool = False) -> str:
    """Apply every rule of this module until the text no longer changes."""
    after = _pass(text, ignore_articles=ignore_articles)
    while after != text:
        text, after = after, _pass(after, ignore_articles=ignore_articles)
    return text


def _pass(text: str, *, ignore_articles: bool) -> str:
    folded = undecorated(text).casefold()
    if ignore_articles:
        folded = _ARTICLES.sub(" ", folded)
    trimmed = " ".join(folded.split()).strip(ENDS)
    return _BULLETS.sub("", trimmed, count=1) if _BULLETS.match(trimmed) else trimmed
