from monitor.wire.imports import readings
from monitor.wire.imports.readings import Finding, Reading, Record, Remark


def test_what_says_the_same_is_counted_beyond_the_first_ones() -> None:
    same = [
        Finding(place=f"f:{line}", remark=Remark(field="target", what="is empty"))
        for line in range(1, 13)
    ]
    other = Finding(place="f:20", remark=Remark(what="is no object", todo="write one"))
    shown = [str(problem) for problem in readings.problems([*same, other])]
    assert shown == [
        *(f"f:{line}: target: is empty" for line in range(1, 11)),
        "f:20: is no object (write one)",
        "2 more records: target is empty",
    ]


def test_what_a_draft_does_not_have_is_not_written() -> None:
    reading = Reading()
    record = Record(place="f:1", content=None, spare_id="f-1")
    reading.draft(record, {"id": None, "input": "?", "choices": [], "metadata": {}, "target": 0})
    assert reading.drafts[0].document == {"input": "?", "target": 0, "id": "f-1"}
