import json

import pytest
from hypothesis import given

from monitor.domain.answers import Answer, Status
from monitor.domain.errors import StateCorrupt, StateTooNew
from monitor.domain.plans import Answered, Drawn, Ended, Planned, Resumed, Row
from monitor.domain.results import Outcome
from monitor.wire import journal
from tests.unit.wire import examples

ENDED = Ended(outcome=Outcome.MET, statistics_digest=examples.PLAN.clock_seed)


@given(examples.rows)
def test_every_row_comes_back_and_has_one_form(row: Row) -> None:
    stored = journal.encode(row)
    assert journal.decode(stored) == row
    assert journal.encode(journal.decode(stored)) == stored


def test_whole_numbers_given_as_integers_are_stored_as_floats() -> None:
    answer = Answer(step=0, status=Status.GRADED, score=1)
    assert b'"score":1.0' in journal.encode(Answered(answers=(answer,)))


def test_what_judges_were_asked_comes_back() -> None:
    row = Answered(answers=(examples.JUDGED_ANSWER,))
    assert journal.decode(journal.encode(row)) == row
    assert b"judged" not in journal.encode(Answered(answers=examples.ANSWERS))


def test_a_row_of_two_hundred_draws_stays_small() -> None:
    draws = tuple(examples.DRAWS[step % 6] for step in range(200))
    assert len(journal.encode(Drawn(draws=draws))) < 6_000


def test_a_newer_row_is_refused_and_says_what_to_do() -> None:
    newer = json.loads(journal.encode(ENDED)) | {"version": 2, "kind": "dreamt"}
    with pytest.raises(StateTooNew, match="format 2, this program reads up to 1; run the newer"):
        journal.decode(json.dumps(newer).encode())


def test_fields_that_are_not_known_are_ignored() -> None:
    extended = json.loads(journal.encode(ENDED)) | {"since": "later"}
    assert journal.decode(json.dumps(extended).encode()) == ENDED


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        (b"", "Invalid JSON"),
        (b"\xff", "Invalid JSON"),
        (b"[]", "object"),
        (b"{}", "version: Field required"),
        (b'{"version":1}', "kind"),
        (b'{"version":1,"kind":"dreamt"}', "dreamt"),
        (b'{"version":1,"kind":"resumed","pending":"3"}', "pending"),
        (b'{"version":1,"kind":"answered","answers":[{"step":0,"status":"graded"}]}', "score"),
    ],
)
def test_what_is_no_row_is_corrupt(value: bytes, complaint: str) -> None:
    with pytest.raises(StateCorrupt, match=f"journal row: .*{complaint}"):
        journal.decode(value)


def test_damaged_columns_are_corrupt() -> None:
    row = json.loads(journal.encode(Planned(plan=examples.PLAN, at=examples.TIMES.started)))
    row["weights"]["length"] = 7
    with pytest.raises(StateCorrupt, match="kind planned: a column does not unpack"):
        journal.decode(json.dumps(row).encode())


def test_strata_that_contradict_themselves_are_corrupt() -> None:
    planned = Planned(plan=examples.STRATIFIED_PLAN, at=examples.TIMES.started)
    row = json.loads(journal.encode(planned))
    row["strata"]["draws"] = row["strata"]["labels"]
    with pytest.raises(StateCorrupt, match="kind planned: strata: labels must be 0 to 8"):
        journal.decode(json.dumps(row).encode())


def test_rows_name_their_kind() -> None:
    assert journal.encode(Resumed(pending=3)) == b'{"kind":"resumed","pending":3,"version":1}'
