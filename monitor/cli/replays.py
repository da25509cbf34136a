"""`variant-monitor replay`."""

import asyncio
from pathlib import Path

from monitor.adapters.embedded.archive import SqliteArchive
from monitor.app import replays
from monitor.cli.output import print_json, print_line
from monitor.domain.errors import UsageError
from monitor.domain.identifiers import EvaluationId
from monitor.ports import Published
from monitor.settings import TopicSettings, load_settings


def replay(identity: str, config: Path, *, state: Path | None, as_json: bool) -> None:
    """Recompute a published result and print its digest.

    Raises:
        ReplayMismatch: it differs from what was published.
        UsageError: there is no such result, or nothing to replay.
    """
    directory, topics = state, TopicSettings()
    if directory is None:
        settings = load_settings(config)
        directory, topics = settings.state.directory, settings.bus.topics
    published = asyncio.run(_find(directory, topics, EvaluationId(identity)))
    agreed = replays.replay(published)
    if as_json:
        print_json({"evaluation_id": identity, "agrees": True, "statistics_sha256": agreed})
    else:
        print_line(f"{identity}: agrees to the byte, sha256 {agreed}")


async def _find(directory: Path, topics: TopicSettings, identity: EvaluationId) -> Published:
    archive = await SqliteArchive.open(directory, topics=topics)
    try:
        found = await archive.find(identity)
    finally:
        await archive.close()
    if found is None:
        raise UsageError(f"there is no result of evaluation {identity!r} in {directory}")
    return found
