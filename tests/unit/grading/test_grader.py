import pytest

from monitor.grading import grader

KNOWN = {"fold": grader.flag(), "match": grader.one_of("first", "last"), "mark": grader.words()}


def test_options_have_defaults() -> None:
    assert [grader.read({}, KNOWN, name) for name in KNOWN] == [False, "first", None]
    assert grader.read({"match": "last"}, KNOWN, "match") == "last"


@pytest.mark.parametrize("options", [{"fold": True, "match": "last", "mark": "="}, {}])
def test_what_fits(options: grader.Options) -> None:
    assert grader.option_problems(options, KNOWN) == []
    assert grader.fitting(options, KNOWN) == options


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"fold": "yes"}, "grader.fold: should be true or false, not 'yes'"),
        ({"fold": 1}, "grader.fold: should be true or false, not 1"),
        ({"match": None}, "grader.match: should be one of first, last, not None"),
        ({"mark": ""}, "grader.mark: should be a text that is not blank, in quotes, not ''"),
        ({"folds": True}, "grader.folds: unknown option (did you mean fold?)"),
        ({"xyz": 1}, "grader.xyz: unknown option (known: fold, mark, match)"),
    ],
)
def test_what_does_not_fit(options: grader.Options, problem: str) -> None:
    assert [str(each) for each in grader.option_problems(options, KNOWN)] == [problem]
    assert grader.fitting(options, KNOWN) == {}
