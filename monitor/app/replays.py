"""Recomputes a published result from its record, without asking anybody or running any guide."""

from monitor.domain.errors import ReplayMismatch, UsageError
from monitor.domain.identifiers import Digest, EvaluationId
from monitor.engine import concluding
from monitor.ports import Published
from monitor.wire import outcomes, results


def replay(published: Published) -> Digest:
    """Recompute a result; returns the digest of its statistics, which agree to the byte.

    Raises:
        ReplayMismatch: they do not.
        UsageError: the evaluation ended without a record, so there is nothing to recompute.
        StateError: the record cannot be read.
    """
    if not published.outcomes:
        verdict = results.decode(published.result).data.statistics.verdict
        raise UsageError(
            f"evaluation {published.evaluation_id} ended {verdict.outcome} before its draws were "
            "all answered: it has no record to replay"
        )
    record = outcomes.decode(published.outcomes)
    findings = concluding.conclude(
        record.plan, record.draws, record.answers, quantile=record.quantile
    )
    recomputed = results.statistics_bytes(record.plan, findings)
    stated = results.statistics_of(published.result)
    if recomputed != stated:
        raise ReplayMismatch(_describe(published.evaluation_id, recomputed, stated))
    return results.statistics_digest(recomputed)


def _describe(identity: EvaluationId, recomputed: bytes, stated: bytes) -> str:
    pairs = enumerate(zip(recomputed, stated, strict=False))
    shorter = min(len(recomputed), len(stated))
    position = next((place for place, (ours, theirs) in pairs if ours != theirs), shorter)
    window = slice(max(0, position - 40), position + 40)
    return (
        f"evaluation {identity}: the recomputed result differs from the published one:\n"
        f"  published:  ...{stated[window].decode(errors='replace')}...\n"
        f"  recomputed: ...{recomputed[window].decode(errors='replace')}..."
    )
