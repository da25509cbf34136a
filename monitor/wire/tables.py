"""Strata, draws and answers as columns, for the journal and for the outcomes record."""

from collections.abc import Sequence

from monitor.domain.answers import Answer, Status, Usage
from monitor.domain.identifiers import canonical_json
from monitor.domain.plans import Draw, Strata
from monitor.wire.columns import (
    Column,
    largest_growth as column_growth,
    pack_floats,
    pack_integers,
    unpack_floats,
    unpack_integers,
    unpack_optional_floats,
)
from monitor.wire.records import Record

FEW_STRATA = 256  # as many labels as a byte has


class StrataTable(Record):
    """labels: a row an item; uint8 where they fit, else int32. draws: int32, a row a stratum."""

    labels: Column
    draws: Column


class DrawTable(Record):
    """One row a draw; the columns are the fields of a draw, in int32 and float64."""

    step: Column
    round: Column
    item: Column
    probability: Column
    prediction: Column
    rest_prediction_sum: Column
    model_variance: Column
    group_mass: Column
    group_rest_prediction_sum: Column
    group_model_variance: Column


class AnswerTable(Record):
    """One row an answer.

    status: uint8, an index into `statuses`. score: float64, missing where the status has none.
    attempts, prompt_tokens, completion_tokens: int64, what the answer took.
    """

    step: Column
    statuses: tuple[Status, ...]
    status: Column
    score: Column
    attempts: Column
    prompt_tokens: Column
    completion_tokens: Column


def largest_growth(rows: int) -> int:
    """Bytes of JSON by which no tables of so many draws and answers exceed two empty ones."""
    legend = len(canonical_json(list(Status)))
    return (
        legend
        + 4 * column_growth("int32", rows)
        + 7 * column_growth("float64", rows)
        + 3 * column_growth("int64", rows)
        + column_growth("uint8", rows)
        + column_growth("float64", rows, optional=True)
    )


def from_strata(strata: Strata | None) -> StrataTable | None:
    if strata is None:
        return None
    fits = len(strata.draws) <= FEW_STRATA
    return StrataTable(
        labels=pack_integers(strata.labels, "uint8" if fits else "int32"),
        draws=pack_integers(strata.draws, "int32"),
    )


def to_strata(table: StrataTable | None) -> Strata | None:
    """The strata of a table.

    Raises:
        ValueError: a column is damaged.
    """
    if table is None:
        return None
    return Strata(labels=unpack_integers(table.labels), draws=unpack_integers(table.draws))


def from_draws(draws: Sequence[Draw]) -> DrawTable:
    return DrawTable(
        step=pack_integers([draw.step for draw in draws], "int32"),
        round=pack_integers([draw.round for draw in draws], "int32"),
        item=pack_integers([draw.item for draw in draws], "int32"),
        probability=pack_floats([draw.probability for draw in draws]),
        prediction=pack_floats([draw.prediction for draw in draws]),
        rest_prediction_sum=pack_floats([draw.rest_prediction_sum for draw in draws]),
        model_variance=pack_floats([draw.model_variance for draw in draws]),
        group_mass=pack_floats([draw.group_mass for draw in draws]),
        group_rest_prediction_sum=pack_floats([draw.group_rest_prediction_sum for draw in draws]),
        group_model_variance=pack_floats([draw.group_model_variance for draw in draws]),
    )


def to_draws(table: DrawTable) -> tuple[Draw, ...]:
    """Rows of a table.

    Raises:
        ValueError: a column is damaged or longer than another.
    """
    columns = zip(
        unpack_integers(table.step),
        unpack_integers(table.round),
        unpack_integers(table.item),
        unpack_floats(table.probability),
        unpack_floats(table.prediction),
        unpack_floats(table.rest_prediction_sum),
        unpack_floats(table.model_variance),
        unpack_floats(table.group_mass),
        unpack_floats(table.group_rest_prediction_sum),
        unpack_floats(table.group_model_variance),
        strict=True,
    )
    return tuple(
        Draw(
            step=step,
            round=round_,
            item=item,
            probability=probability,
            prediction=prediction,
            rest_prediction_sum=rest,
            model_variance=variance,
            group_mass=mass,
            group_rest_prediction_sum=group_rest,
            group_model_variance=group_variance,
        )
        for (
            step, round_, item, probability, prediction, rest, variance,
            mass, group_rest, group_variance,
        ) in columns
    )  # fmt: skip


def from_answers(answers: Sequence[Answer]) -> AnswerTable:
    statuses = sorted({answer.status for answer in answers})
    return AnswerTable(
        step=pack_integers([answer.step for answer in answers], "int32"),
        statuses=tuple(statuses),
        status=pack_integers([statuses.index(answer.status) for answer in answers], "uint8"),
        score=pack_floats([answer.score for answer in answers]),
        attempts=pack_integers([answer.usage.attempts for answer in answers], "int64"),
        prompt_tokens=pack_integers([answer.usage.prompt_tokens for answer in answers], "int64"),
        completion_tokens=pack_integers(
            [answer.usage.completion_tokens for answer in answers], "int64"
        ),
    )


def to_answers(table: AnswerTable) -> tuple[Answer, ...]:
    """Rows of a table.

    Raises:
        ValueError: a column is damaged or longer than another, or a score does not go with
            its status.
    """
    columns = zip(
        unpack_integers(table.step),
        unpack_integers(table.status),
        unpack_optional_floats(table.score),
        unpack_integers(table.attempts),
        unpack_integers(table.prompt_tokens),
        unpack_integers(table.completion_tokens),
        strict=True,
    )
    return tuple(
        Answer(
            step=step,
            status=_status(table, status),
            score=score,
            usage=Usage(attempts=attempts, prompt_tokens=prompt, completion_tokens=completion),
        )
        for step, status, score, attempts, prompt, completion in columns
    )


def _status(table: AnswerTable, code: int) -> Status:
    if code >= len(table.statuses):
        raise ValueError(f"status {code} is not among the {len(table.statuses)} that are named")
    return table.statuses[code]
