"""What a user can set, see or be told is in the documentation."""

import json
import re
from collections.abc import Iterator
from typing import get_args

import jsonschema
import pytest
from pydantic import BaseModel

from monitor import settings
from monitor.adapters.metric_names import METRICS
from monitor.adapters.structured_logs import event_name
from monitor.domain import facts
from monitor.domain.answers import Status
from monitor.domain.errors import DeadLetterReason
from monitor.domain.results import Outcome
from monitor.wire import schemas
from tests.rules import repository

OPERATING = (repository.ROOT / "docs/operating.md").read_text()
EVENTS = (repository.ROOT / "docs/events.md").read_text()


def setting_names() -> Iterator[str]:
    for group in vars(settings).values():
        if isinstance(group, type) and issubclass(group, settings.Group):
            for name, field in group.model_fields.items():
                if not _holds_groups(field.annotation):
                    yield name


def _holds_groups(annotation: object) -> bool:
    if isinstance(annotation, type):
        return issubclass(annotation, BaseModel)
    return any(map(_holds_groups, get_args(annotation)))


@pytest.mark.parametrize("name", sorted(set(setting_names())))
def test_settings_are_documented(name: str) -> None:
    assert re.search(rf"`[\w.\[\]]*\b{name}`", OPERATING)


@pytest.mark.parametrize("name", sorted(METRICS))
def test_metrics_are_documented(name: str) -> None:
    assert f"| `{name}` |" in OPERATING


@pytest.mark.parametrize("fact", get_args(facts.Fact), ids=lambda fact: fact.__name__)
def test_log_events_are_documented(fact: type[facts.Fact]) -> None:
    assert f"| `{event_name(fact)}` |" in OPERATING


@pytest.mark.parametrize("word", [*Status, *Outcome])
def test_statuses_and_verdicts_are_documented(word: str) -> None:
    assert word in OPERATING


@pytest.mark.parametrize("reason", DeadLetterReason)
def test_dead_letter_reasons_are_documented(reason: DeadLetterReason) -> None:
    assert f"`{reason}`" in EVENTS


EXAMPLES = (
    "version-event.v1.json",
    "evaluation-completed.v1.json",
    "outcomes.v1.json",
    "journal-row.v1.json",
)


def test_examples_are_valid() -> None:
    blocks = re.findall(r"```json\n(.*?)```", EVENTS, re.DOTALL)
    generated = schemas.generate()
    for block, schema in zip(blocks, EXAMPLES, strict=True):
        jsonschema.validate(json.loads(block), json.loads(generated[schema]))
