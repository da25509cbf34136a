"""Recomputes a published result from its record, without asking anybody or running any guide."""

import json
from itertools import zip_longest

from monitor.domain.errors import ReplayMismatch, StateCorrupt, UsageError
from monitor.domain.identifiers import Digest
from monitor.engine import concluding
from monitor.ports import Published
from monitor.wire import outcomes, results
from monitor.wire.yaml_documents import Location, field_name

ABSENT = object()


def replay(published: Published) -> Digest:
    """Recompute a result; returns the digest of its statistics, which agree to the byte.

    Raises:
        ReplayMismatch: they do not, or the record is damaged.
        UsageError: the evaluation ended without a record, so there is nothing to recompute.
        StateError: a newer version of this program wrote it.
    """
    identity = f"evaluation {published.evaluation_id}"
    if not published.outcomes:
        verdict = results.decode(published.result).data.statistics.verdict
        raise UsageError(
            f"{identity} ended {verdict.outcome} ({verdict.reason}) before all its draws were "
            "answered, so it has no record: there is nothing to replay"
        )
    try:
        recomputed = _recompute(published)
        stated = results.statistics_of(published.result)
    except StateCorrupt as error:
        raise ReplayMismatch(f"{identity} cannot be replayed: {error}") from error
    if recomputed != stated:
        raise ReplayMismatch(f"{identity}: {_describe(recomputed, stated)}")
    return results.statistics_digest(recomputed)


def _recompute(published: Published) -> bytes:
    record = outcomes.decode(published.outcomes)
    try:
        findings = concluding.conclude(
            record.plan, record.draws, record.answers, quantile=record.quantile
        )
    except (ArithmeticError, LookupError, ValueError) as error:
        raise StateCorrupt(f"the record contradicts itself: {error}") from error
    return results.statistics_bytes(record.plan, findings)


def _describe(recomputed: bytes, stated: bytes) -> str:
    location, ours, theirs = _first_difference(json.loads(recomputed), json.loads(stated))
    return (
        f"the recomputed result differs from the published one at statistics.{field_name(location)}"
        f":\n  published:  {_text(theirs)}\n  recomputed: {_text(ours)}"
    )


def _first_difference(ours: object, theirs: object) -> tuple[Location, object, object]:
    """Where two different documents first differ, and what stands there in each."""
    below: list[tuple[str | int, object, object]] = []
    if isinstance(ours, dict) and isinstance(theirs, dict):
        keys = sorted(ours.keys() | theirs.keys())
        below = [(key, ours.get(key, ABSENT), theirs.get(key, ABSENT)) for key in keys]
    elif isinstance(ours, list) and isinstance(theirs, list):
        pairs = enumerate(zip_longest(ours, theirs, fillvalue=ABSENT))
        below = [(index, *pair) for index, pair in pairs]
    for part, our, their in below:
        if _text(our) != _text(their):
            location, *values = _first_difference(our, their)
            return (part, *location), values[0], values[1]
    return (), ours, theirs


def _text(value: object) -> str:
    return "nothing" if value is ABSENT else json.dumps(value, ensure_ascii=False)
