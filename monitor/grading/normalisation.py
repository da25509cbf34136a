r"""Two spellings of one answer become one string.

`normalise` applies these rules until nothing changes, which is why it is idempotent:

1. Invisible characters (zero-width spaces and joiners, soft hyphens, byte order marks) go.
2. Fractions such as ½ become a space and 1/2. Then Unicode NFKC: full-width letters, ligatures,
   no-break spaces become their plain forms.
3. Typographic quotes, dashes and the minus sign become their ASCII forms.
4. Decoration goes: runs of two or more of `*`, `_` and backtick, single backticks; and, leaving a
   space, braces and LaTeX commands that only change the looks (`\text`, `\boxed`, `\(`, `\,` ...).
   An escaped `\%`, `\$`, `\#`, `\&` loses its backslash.
5. Letters are case-folded, unless `keep_case` is set.
6. White space, line breaks included, becomes one space.
7. Both ends lose spaces, list bullets, `$`, emphasis, quotes, brackets and the punctuation
   `. , ; : ! ?`. A sign in front and `%`, `+`, `#` behind stay: -5 is not 5, C# is not C.
8. With `ignore_articles`, the English words a, an, the go, wherever they stand, unless nothing
   else is left.

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
        "\u2044": "/",
    }
)
_FRACTIONS = str.maketrans({
    "½": " 1/2", "⅓": " 1/3", "⅔": " 2/3", "¼": " 1/4", "¾": " 3/4", "⅕": " 1/5", "⅖": " 2/5",
    "⅗": " 3/5", "⅘": " 4/5", "⅙": " 1/6", "⅚": " 5/6", "⅛": " 1/8", "⅜": " 3/8", "⅝": " 5/8",
    "⅞": " 7/8",
})  # fmt: skip
_DECORATION = re.compile(r"[*_`]{2,}|`")
_LOOKS = re.compile(
    r"\\(?:(?:text(?:bf|it|rm|tt)?|math(?:bf|it|rm)|d?boxed|fbox|left|right|displaystyle|quad)"
    r"(?![a-z])|[()\[\],;:! ])",
    re.IGNORECASE,
)
_ESCAPED = re.compile(r"(?<!\\)\\+([%$#&])")
ENDS = " .,;:!?\"'()[]<>*_~|$"
_BULLETS = re.compile(r"(?:[-\u2022] )+")
_ARTICLES = re.compile(r"(?<![\w-])(?<!\w')(?:a|an|the)(?![\w-])(?!'\w)")
# Letters of the scripts that put no spaces between words: Thai to Tibetan, Burmese, Khmer, kana,
# Han. Hangul has spaces.
_WITHOUT_SPACES = "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
UNSPACED = f"[{_WITHOUT_SPACES}]"
SPACED = rf"[^\W{_WITHOUT_SPACES}]"


def compatible(text: str) -> str:
    """Apply rule 2: NFKC alone would make eleven halves of one and a half."""
    return unicodedata.normalize("NFKC", text.translate(_FRACTIONS))


def undecorated(text: str) -> str:
    """Apply rules 1 to 4, once: what is left are letters, punctuation and line breaks."""
    text = compatible(text.translate(_INVISIBLE)).translate(_TYPOGRAPHIC)
    return _ESCAPED.sub(r"\1", _LOOKS.sub(" ", _DECORATION.sub("", text)))


def normalise(text: str, *, ignore_articles: bool = False, keep_case: bool = False) -> str:
    """Apply every rule of this module until the text no longer changes."""
    normal = _settled(text, keep_case=keep_case)
    while ignore_articles:
        left = _settled(_ARTICLES.sub(" ", normal), keep_case=keep_case)
        if left in {"", normal}:
            break
        normal = left
    return normal


def _settled(text: str, *, keep_case: bool) -> str:
    after = _pass(text, keep_case=keep_case)
    while after != text:
        text, after = after, _pass(after, keep_case=keep_case)
    return text


def _pass(text: str, *, keep_case: bool) -> str:
    spelled = undecorated(text) if keep_case else undecorated(text).casefold()
    trimmed = " ".join(spelled.split()).strip(ENDS)
    return _BULLETS.sub("", trimmed, count=1) if _BULLETS.match(trimmed) else trimmed
