import pytest
from hypothesis import given, strategies as st

from monitor.grading import judge_replies

USABLE: list[tuple[str, float]] = [
    ("Rating: 4", 4),
    ("The answer names the right city.\n\nRating: 4", 4),
    ("**Rating: 4**", 4),
    ("**Rating:** 4", 4),
    ("Rating: **4**", 4),
    ("### Rating: 4", 4),
    ("Rating: [[4]]", 4),
    ("Rating: [4]", 4),
    ("Rating: 4/5", 4),
    ("Rating: **4**/5", 4),
    ("Rating: 4 out of 5", 4),
    ("Rating: 4.5", 4.5),
    ("Rating: 4.", 4),
    ("Final rating: 2", 2),
    ("My overall rating is 3", 3),
    ("My rating is: 3", 3),
    ("rating = 1", 1),
    ("RATING: 5\n\n", 5),
    ("`Rating: 5`", 5),
    ("```\nRating: 5\n```", 5),
    ("Rating: 5\r\n---", 5),
    ("Rating: 2\nOn reflection the date is right after all.\nRating: 4", 4),
    ("The answer asks for 'Rating: 5', which it does not get.\nRating: 1", 1),
]
UNUSABLE = [
    "",
    "\n\n",
    "4",
    "Rating:",
    "Rating: N",
    "Rating: four",
    "Rating: 6",
    "Rating: 0",
    "Rating: -4",
    "Rating: 8/10",
    "Rating: 40%",
    "Rating: 3-4",
    "Rating: 3 or 4",
    "Rating: between 3 and 4",
    "Rating: 4 because it is nearly right",
    "I would give it a 4.",
    "The rating of 4 seems fair.",
    "Rating: 4\nLet me know whether you need more detail!",
    '{"rating": 4}',
    "Score: 4",
    "Rating: $\\boxed{4}$",
    "Rating: nan",
    "Rating: 1e0",
    "I cannot rate this answer.",
    "Rating: 4 Rating: 5",
    "Rating: " + "4" * 5_000,
    "Rating: 4" + " " * 300,
    "Rating: 1\n\nThe answer itself says:\n> Rating: 5",
    'Rating: 1\n\nThe answer itself says:\n"Rating: 5"',
    "Rating: 1\n\nThe answer itself says:\n'Rating: 5'",
]


@pytest.mark.parametrize(("reply", "expected"), USABLE)
def test_ratings_that_count(reply: str, expected: float) -> None:
    assert judge_replies.rating(reply, lowest=1, highest=5) == expected


@pytest.mark.parametrize("reply", UNUSABLE)
def test_replies_without_a_rating(reply: str) -> None:
    assert judge_replies.rating(reply, lowest=1, highest=5) is None


PREFERENCES = [
    ("Verdict: A", 1.0),
    ("Both are fluent, but B gives the wrong year.\nVerdict: A", 1.0),
    ("**Verdict: B**", 0.0),
    ("Verdict: **B**", 0.0),
    ("Verdict: [[B]]", 0.0),
    ("Final verdict: tie", 0.5),
    ("Verdict: Tie.", 0.5),
    ("verdict: TIE", 0.5),
    ("Verdict: Answer A", 1.0),
    ("Verdict: Assistant B.", 0.0),
    ("Verdict: 'A'", 1.0),
    ("My verdict is B", 0.0),
    ("Verdict: A\nNo, A misses the unit.\nVerdict: B", 0.0),
    ("Verdict: C", None),
    ("Verdict: A or B", None),
    ("Verdict: A > B", None),
    ("Verdict: A is better", None),
    ("Verdict: neither", None),
    ("Verdict: A/B", None),
    ("Verdict: both", None),
    ("Verdict:", None),
    ("A", None),
    ("A is better than B.", None),
    ("Verdict: A\nHope this helps!", None),
    ("Verdict: about the same", None),
    ("I cannot compare these.", None),
    ("Verdict: tied", None),
    ("Verdict: t\N{LATIN SMALL LETTER DOTLESS I}e", None),
    ("VERDICT: T\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}E", None),
    ("Verdict: B\n> Verdict: A", None),
    ("", None),
]


@pytest.mark.parametrize(("reply", "expected"), PREFERENCES)
def test_preferences(reply: str, expected: float | None) -> None:
    assert judge_replies.preference(reply) == expected


@given(st.text(), st.integers(1, 5))
def test_nothing_before_the_last_line_decides(before: str, stars: int) -> None:
    assert judge_replies.rating(f"{before}\nRating: {stars}", lowest=1, highest=5) == stars


@pytest.mark.parametrize("repeated", ["Rating: ", "*", "> ", "(", "the ", "rating is ", "4 "])
def test_a_very_long_reply_ends_soon(repeated: str) -> None:
    assert judge_replies.rating(repeated * 200_000, lowest=1, highest=5) is None
    assert judge_replies.preference(repeated * 200_000) is None
