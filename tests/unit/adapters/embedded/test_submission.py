from pathlib import Path

import pytest

from monitor.adapters.embedded.bus import SqliteBus
from monitor.adapters.embedded.submission import SqliteSubmission
from monitor.ports import Message


def message(key: bytes | None, topic: str = "model-versions") -> Message:
    return Message(topic=topic, key=key, value=b"v")


async def test_offsets_count_up_without_a_bus(tmp_path: Path) -> None:
    for number in range(2):
        submission = await SqliteSubmission.open(tmp_path)
        assert await submission.submit(message(b"chat")) == (0, number)
        await submission.close()


async def test_partitions_that_a_bus_adds_are_used_at_once(tmp_path: Path) -> None:
    submission = await SqliteSubmission.open(tmp_path)
    assert await submission.submit(message(b"search")) == (0, 0)
    await (await SqliteBus.open(tmp_path, partitions=3)).close()
    assert await submission.submit(message(b"search")) == (2, 0)
    await submission.close()


async def test_a_message_that_cannot_be_stored_leaves_no_gap(tmp_path: Path) -> None:
    submission = await SqliteSubmission.open(tmp_path)
    with pytest.raises(ValueError, match="surrogates"):
        await submission.submit(message(None, topic="\ud800"))
    assert await submission.submit(message(None)) == (0, 0)
    await submission.close()
