"""The seam that every grader fills, and the options that it reads.

A grader takes the answer out of a text and then compares what it took: two steps, so that an
answer that cannot be found is told apart from one that is wrong. It does no input or output.
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from monitor.domain import errors, suites

Options = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grader:
    """One way of scoring.

    extract: options, item, text -> the answer in the text, None where there is none.
    compare: options, item, extracted answer -> score in [0, 1].
    check: options, item -> what is wrong with either, `where` being "grader.OPTION" for an
        option and the name of a field for the item.
    prepare: what takes long the first time, such as an import; not part of any time limit.
    can_hang: there are options and texts for which it may run for ever.
    is_binary: every score is 0 or 1, which an exact interval needs.
    """

    extract: Callable[[Options, suites.Item, str], str | None]
    compare: Callable[[Options, suites.Item, str], float]
    check: Callable[[Options, suites.Item], list[errors.Problem]]
    prepare: Callable[[], None] = lambda: None
    can_hang: bool = False
    is_binary: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """A grader whose scores come from elsewhere: only its options and items can be checked here.

    check: as that of a `Grader`. needs: what has to be configured before it can be used.
    """

    check: Callable[[Options, suites.Item], list[errors.Problem]]
    needs: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A named setting of a grader; `wanted` says in words what `accepts` lets through."""

    wanted: str
    accepts: Callable[[Any], bool]
    default: Any


def flag() -> Option:
    """Return an option that is off unless the suite turns it on."""
    return Option(
        wanted="true or false", accepts=lambda given: isinstance(given, bool), default=False
    )


def one_of(*allowed: str) -> Option:
    """Return an option with a closed list of values; the first one is the default."""
    return Option(
        wanted="one of " + ", ".join(allowed),
        accepts=lambda given: isinstance(given, str) and given in allowed,
        default=allowed[0],
    )


def words() -> Option:
    """Return an option that takes a text which is not blank."""
    return Option(
        wanted="a text that is not blank, in quotes",
        accepts=lambda given: isinstance(given, str) and bool(given.strip()),
        default=None,
    )


def read(options: Options, known: Mapping[str, Option], name: str) -> Any:  # noqa: ANN401 - any JSON value
    """Value of an option, or its default where the suite does not give it."""
    return options.get(name, known[name].default)


def nearest(name: str, known: Sequence[str]) -> str:
    """Advice for a name that is not known: the closest one that is, or else all of them."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {close[0]}?" if close else "known: " + ", ".join(sorted(known))


def option_problems(options: Options, known: Mapping[str, Option]) -> list[errors.Problem]:
    """Options that are not known or have a value that does not fit."""
    unknown = [
        errors.Problem(where=f"grader.{name}", what="unknown option", todo=nearest(name, [*known]))
        for name in options
        if name not in known
    ]
    unfit = [
        errors.Problem(
            where=f"grader.{name}",
            what=f"should be {known[name].wanted}, not {given!r:.80}",
        )
        for name, given in options.items()
        if name in known and not known[name].accepts(given)
    ]
    return unknown + unfit


def fitting(options: Options, known: Mapping[str, Option]) -> Options:
    """Return the options that `option_problems` lets pass, to check what depends on them."""
    return {
        name: given
        for name, given in options.items()
        if name in known and known[name].accepts(given)
    }


def target_problems(
    item: suites.Item, fits: Callable[[str], bool], todo: str
) -> list[errors.Problem]:
    """Targets that the grader could never be given as an answer."""
    if not item.target:
        return [errors.Problem(where="target", what="no target to compare with", todo=todo)]
    return [
        errors.Problem(where="target", what=f"{target!r:.80} cannot be an answer", todo=todo)
        for target in item.target
        if not fits(target)
    ]
