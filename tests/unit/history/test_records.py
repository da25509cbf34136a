import json
from dataclasses import asdict, replace

from monitor.history import records
from tests.unit.history.recorded import HIT, UNKNOWN


def test_a_record_is_one_line_that_reads_back_to_the_same_bits() -> None:
    record = replace(HIT, estimate=0.1 + 0.2, exact_variance=1e-17)
    line = records.encode(record)
    assert line.endswith("}\n")
    assert json.loads(line) == asdict(record)


def test_no_estimate_is_null() -> None:
    assert json.loads(records.encode(UNKNOWN))["estimate"] is None


def test_intervals_cover_with_their_ends() -> None:
    assert replace(HIT, lower=0.5).covers
    assert replace(HIT, upper=0.5).covers
    assert not replace(HIT, lower=0.51).covers
    assert not UNKNOWN.covers
