import pytest
from hypothesis import given

from monitor.domain.plans import Strata
from monitor.wire import columns, tables
from monitor.wire.outcomes import Outcomes
from tests.unit.wire import examples


@given(examples.outcomes())
def test_draws_and_answers_come_back(outcomes: Outcomes) -> None:
    assert tables.to_draws(tables.from_draws(outcomes.draws)) == outcomes.draws
    assert tables.to_answers(tables.from_answers(outcomes.answers)) == outcomes.answers


@given(examples.strata())
def test_strata_come_back(strata: Strata) -> None:
    assert tables.to_strata(tables.from_strata(strata)) == strata
    assert tables.to_strata(tables.from_strata(None)) is None


@pytest.mark.parametrize(("count", "kind"), [(1, "uint8"), (256, "uint8"), (257, "int32")])
def test_labels_take_no_more_than_they_need(count: int, kind: str) -> None:
    table = tables.from_strata(Strata(labels=tuple(range(count)), draws=(1,) * count))
    assert table is not None
    assert table.labels.kind == kind


def test_columns_of_unequal_length_are_refused() -> None:
    table = tables.from_draws(examples.DRAWS)
    short = table.model_copy(update={"item": columns.pack_integers([1], "int32")})
    with pytest.raises(ValueError, match="shorter"):
        tables.to_draws(short)


def test_a_status_without_a_name_is_refused() -> None:
    table = tables.from_answers(examples.ANSWERS).model_copy(update={"statuses": ()})
    with pytest.raises(ValueError, match="not among the 0"):
        tables.to_answers(table)


@given(examples.outcomes())
def test_tables_are_not_larger_than_announced(outcomes: Outcomes) -> None:
    empty = (tables.from_draws([]), tables.from_answers([]))
    full = (tables.from_draws(outcomes.draws), tables.from_answers(outcomes.answers))
    grown = sum(len(table.to_bytes()) for table in full)
    start = sum(len(table.to_bytes()) for table in empty)
    assert grown <= start + tables.largest_growth(len(outcomes.draws))
