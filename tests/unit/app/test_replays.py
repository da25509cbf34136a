import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from monitor.app.replays import replay
from monitor.domain.errors import ReplayMismatch, UsageError
from monitor.ports import Published
from monitor.wire import outcomes, results
from tests.unit.app import installations
from tests.unit.app.installations import configured, published, served

pytestmark = pytest.mark.slow

LIMIT = 900_000

Statistics = dict[str, Any]


@pytest.fixture
async def found(tmp_path: Path) -> Published:
    installations.write_pool(tmp_path)
    with served() as endpoint:
        settings = configured(tmp_path, endpoint.base_url, policies=[{"budget": 20}])
        return await published(settings, "good")


def with_statistics(found: Published, change: Callable[[Statistics], None]) -> Published:
    """The same result with tampered statistics."""
    result = json.loads(found.result)
    change(result["data"]["statistics"])
    return replace(found, result=json.dumps(result).encode())


def test_a_result_agrees_with_its_record(found: Published) -> None:
    assert replay(found) == results.statistics_digest(results.statistics_of(found.result))


def set_value(statistics: Statistics) -> None:
    statistics["estimate"]["value"] = 0.125


def set_kind_of_number(statistics: Statistics) -> None:
    statistics["missing"] = 0.0


def drop_field(statistics: Statistics) -> None:
    del statistics["verdict"]["reason"]


def retype_labels(statistics: Statistics) -> None:
    statistics["subject"]["labels"] = ["a"]


DIFFERENCES = [
    (set_value, r"at statistics.estimate.value:\n  published:  0.125\n  recomputed: 0\.\d+"),
    (set_kind_of_number, r"at statistics.missing:\n  published:  0.0\n  recomputed: 0"),
    (drop_field, r'at statistics.verdict.reason:\n  published:  nothing\n  recomputed: "'),
    (retype_labels, r'at statistics.subject.labels:\n  published:  \["a"\]\n  recomputed: {}'),
]


@pytest.mark.parametrize(("change", "message"), DIFFERENCES)
def test_a_tampered_result_disagrees_at_a_named_place(
    change: Callable[[Statistics], None], message: str, found: Published
) -> None:
    with pytest.raises(ReplayMismatch, match=message):
        replay(with_statistics(found, change))


def test_a_tampered_answer_disagrees(found: Published) -> None:
    record = outcomes.decode(found.outcomes)
    first, *rest = record.answers
    assert first.score is not None
    answers = (replace(first, score=1.0 - first.score), *rest)
    parts = outcomes.encode(replace(record, answers=answers), limit=LIMIT)
    with pytest.raises(ReplayMismatch, match=r"statistics\.\w+"):
        replay(replace(found, outcomes=parts))


def test_a_damaged_record_disagrees(found: Published) -> None:
    damaged = tuple(part.replace(b'"quantile"', b'"Quantile"') for part in found.outcomes)
    with pytest.raises(ReplayMismatch, match=r"evaluation \w+ cannot be replayed: "):
        replay(replace(found, outcomes=damaged))


async def test_without_a_record_there_is_nothing_to_replay(tmp_path: Path) -> None:
    installations.write_pool(tmp_path)
    settings = configured(tmp_path, limits={"gate_seconds": 0.1})
    with pytest.raises(UsageError, match=r"FAULTED \(endpoint_fault\) .*: there is nothing to rep"):
        replay(await published(settings, "good"))
