"""Suites and histories made up on the spot, for the demo and for serving recorded outcomes."""

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from monitor.domain import errors
from monitor.domain.identifiers import ItemId, SuiteName
from monitor.domain.suites import (
    Generation,
    GraderSpec,
    Item,
    Prompt,
    Suite,
    item_digest,
    suite_digest,
)
from monitor.simulation import answers

RIGHT = "yes"
# Far fewer than there are different questions of each group.
MOST_QUESTIONS = 100_000
OLDEST = dt.date(2024, 1, 1)
LOWEST_ACCURACY, HIGHEST_ACCURACY = 0.45, 0.9

Question = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SyntheticHistory:
    """Outcomes of made-up earlier models: the arrays of a file of outcomes.

    outcomes: (M, N), 0, 1 or NaN where missing; dates: (M,), YYYY-MM-DD, ascending.
    """

    outcomes: npt.NDArray[np.float64]
    models: tuple[str, ...]
    items: tuple[str, ...]
    dates: tuple[str, ...]


def arithmetic_suite(items: int, seed: int = 0, name: str = "arithmetic") -> Suite:
    """A pool of different arithmetic questions with numeric answers.

    Args:
        items: N, shared evenly among the groups.
        seed: the same seed gives the same suite.
        name: of the suite.

    Raises:
        UsageError: fewer than one item, or more than there are questions for.
    """
    if items > MOST_QUESTIONS:
        raise errors.UsageError(f"{items} arithmetic items are more than {MOST_QUESTIONS}")
    generator = np.random.default_rng(seed)
    kinds = list(QUESTIONS)
    asked: set[str] = set()
    pool = []
    for index in range(items):
        group = kinds[index % len(kinds)]
        question, result = _new_question(group, generator, asked)
        item_id = f"{group}/{index // len(kinds):04}"
        pool.append(_item(item_id, question, target=str(result), group=group))
    return _suite(name, pool, kind="numeric", user="{{ input }}\nAnswer with a number.")


def recorded_suite(
    items: Sequence[str], groups: Sequence[str] | None = None, name: str = "recorded"
) -> Suite:
    """One item per column of a matrix of outcomes, so that these can be served and evaluated.

    What is asked is the column's name, the item's id as well; the right answer is always "yes".

    Args:
        items: (N,), the columns' names.
        groups: (N,), or None.
        name: of the suite.

    Raises:
        UsageError: there are no items.
    """
    filed: Sequence[str | None] = groups if groups is not None else [None] * len(items)
    pool = [
        _item(item, f"Does the model get {item} right?", target=RIGHT, group=group)
        for item, group in zip(items, filed, strict=True)
    ]
    return _suite(name, pool, kind="exact", user="{{ input }}")


def synthetic_history(
    items: Sequence[str], *, models: int = 40, missing: float = 0.1, seed: int = 0
) -> SyntheticHistory:
    """Earlier models on the same items, of accuracies spread evenly, the oldest first.

    An item is as hard for them as for the models of an `item_response_book` of the same seed.

    Args:
        items: (N,), item names.
        models: M.
        missing: share of cells to leave out.
        seed: that of the answer book.
    """
    accuracies = np.linspace(LOWEST_ACCURACY, HIGHEST_ACCURACY, models)
    earlier = [
        answers.SimulatedModel(name=f"earlier-{row:02}", accuracy=float(accuracy))
        for row, accuracy in enumerate(accuracies)
    ]
    book = answers.item_response_book(earlier, items=items, seed=seed)
    gaps = np.random.default_rng(seed).random(book.outcomes.shape) < missing
    return SyntheticHistory(
        outcomes=np.where(gaps, np.nan, book.outcomes),
        models=book.models,
        items=book.items,
        dates=tuple(str(OLDEST + dt.timedelta(weeks=row)) for row in range(models)),
    )


def _add(draw: Callable[[int, int], int]) -> Question:
    first, second = draw(10, 9999), draw(10, 9999)
    return f"What is {first} + {second}?", first + second


def _subtract(draw: Callable[[int, int], int]) -> Question:
    first, second = draw(10, 9999), draw(10, 9999)
    return f"What is {first} - {second}?", first - second


def _multiply(draw: Callable[[int, int], int]) -> Question:
    first, second = draw(12, 999), draw(12, 999)
    return f"What is {first} * {second}?", first * second


def _divide(draw: Callable[[int, int], int]) -> Question:
    divisor, result = draw(3, 99), draw(12, 999)
    return f"What is {divisor * result} / {divisor}?", result


QUESTIONS: dict[str, Callable[[Callable[[int, int], int]], Question]] = {
    "addition": _add,
    "subtraction": _subtract,
    "multiplication": _multiply,
    "division": _divide,
}


def _new_question(group: str, generator: np.random.Generator, asked: set[str]) -> Question:
    """A question that is not yet in `asked`, and is afterwards."""
    while True:
        question, result = QUESTIONS[group](lambda low, high: int(generator.integers(low, high)))
        if question not in asked:
            asked.add(question)
            return question, result


def _item(item_id: str, question: str, *, target: str, group: str | None) -> Item:
    return Item(
        id=ItemId(item_id),
        input=question,
        target=(target,),
        group=group,
        digest=item_digest(input=question, target=(target,)),
    )


def _suite(name: str, items: Sequence[Item], *, kind: str, user: str) -> Suite:
    if not items:
        raise errors.UsageError(f"suite {name!r} would have no items; ask for at least one")
    prompt, generation, grader = Prompt(user=user), Generation(), GraderSpec(kind=kind)
    return Suite(
        name=SuiteName(name),
        items=tuple(items),
        prompt=prompt,
        generation=generation,
        grader=grader,
        digest=suite_digest(items=items, prompt=prompt, generation=generation, grader=grader),
    )
