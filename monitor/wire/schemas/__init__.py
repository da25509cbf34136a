"""JSON Schemas of what travels on the topics, for those who write or read it in other languages.

They are generated from the models that validate, and stored beside this file as part of the
package. A test keeps the two equal and refuses changes that would break whoever relies on one.
"""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from monitor.wire import events, journal, outcomes, results

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TOPICS: Mapping[str, tuple[str, TypeAdapter[Any]]] = {
    "version-event.v1": ("Value of the request topic, structured mode", events.VERSION_EVENT),
    "evaluation-completed.v1": (
        "Value of the results topic",
        TypeAdapter(results.CompletedEvaluation),
    ),
    "outcomes.v1": ("Value of the outcomes topic: one part of a record", outcomes.PART),
    "journal-row.v1": ("Value of the journal topic; private to the daemon", journal.ROW),
}


def generate() -> dict[str, bytes]:
    """Every schema as the content of a file, by the file's name."""
    return {f"{name}.json": _schema(name, *topic) for name, topic in TOPICS.items()}


def _schema(name: str, description: str, adapter: TypeAdapter[Any]) -> bytes:
    document = {
        **adapter.json_schema(),
        "$schema": DIALECT,
        "$id": f"urn:model-variant-monitor:{name}",
        "description": description,
    }
    return (json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()
