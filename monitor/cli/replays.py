"""`variant-monitor replay`."""

import asyncio
from pathlib import Path

from monitor.app import replays
from monitor.app.buses import open_archive
from monitor.cli import lookups
from monitor.cli.output import print_json, print_line
from monitor.domain.errors import UsageError
from monitor.domain.identifiers import EvaluationId
from monitor.ports import Published
from monitor.settings import EmbeddedBus, Settings, load_settings


def replay(identity: str, config: Path, *, state: Path | None, as_json: bool) -> None:
    """Recompute a published result and print its digest.

    Args:
        identity: of the evaluation; on the embedded bus its beginning is enough.
        config: names the bus.
        state: the embedded bus's state directory, instead of the configuration's.
        as_json: print JSON.

    Raises:
        ReplayMismatch: it differs from what was published.
        UsageError: there is no such result, or nothing to replay.
    """
    settings = None if state else load_settings(config)
    if settings is None or isinstance(settings.bus, EmbeddedBus):
        published = asyncio.run(_find_by_beginning(lookups.place(config, state), identity))
    else:
        published = asyncio.run(_find(settings, EvaluationId(identity)))
    agreed = replays.replay(published)
    if as_json:
        found = {"evaluation_id": published.evaluation_id, "agrees": True}
        print_json(found | {"statistics_sha256": agreed})
    else:
        print_line(f"{published.evaluation_id}: agrees to the byte, sha256 {agreed}")


async def _find_by_beginning(at: lookups.Place, beginning: str) -> Published:
    async with lookups.open_archive(at) as archive:
        return await lookups.find(archive, at.topics, beginning)


async def _find(settings: Settings, identity: EvaluationId) -> Published:
    async with open_archive(settings) as archive:
        found = await archive.find(identity)
    if found is None:
        topic = settings.bus.topics.evaluations
        raise UsageError(f"there is no result of evaluation {identity!r} on topic {topic}")
    return found
