from pathlib import Path

import pytest

from monitor.adapters.embedded.archive import SqliteArchive
from monitor.adapters.embedded.bus import SqliteBus
from monitor.domain.errors import StateError
from monitor.domain.identifiers import EvaluationId
from monitor.ports import Commit, Message
from monitor.settings import TopicSettings

HEADERS = (("evaluation_id", b"e"), ("variant", b"chat"), ("suite", b"math"))


async def publish(directory: Path, topics: TopicSettings, *messages: Message) -> None:
    bus = await SqliteBus.open(directory, topics=topics)
    await bus.commit(Commit(partition=0, messages=messages))
    await bus.close()


async def test_without_a_state_it_does_not_open(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="there is no state"):
        await SqliteArchive.open(tmp_path)


async def test_messages_are_read_page_by_page(tmp_path: Path) -> None:
    notes = [Message(topic="notes", key=None, value=b"%d" % number) for number in range(5)]
    await publish(tmp_path, TopicSettings(), *notes)
    archive = await SqliteArchive.open(tmp_path)
    pages = [await archive.messages("notes", after, limit=2) for after in (-1, 1, 3, 4)]
    values = [[record.value for record in page] for page in pages]
    assert values == [[b"0", b"1"], [b"2", b"3"], [b"4"], []]
    await archive.close()


async def test_results_are_those_of_the_topics_that_are_named(tmp_path: Path) -> None:
    topics = TopicSettings(evaluations="results", outcomes="parts")
    await publish(
        tmp_path,
        topics,
        Message(topic="results", key=None, value=b"result", headers=HEADERS),
        Message(topic="parts", key=None, value=b"part", headers=HEADERS),
        Message(topic="model-outcomes", key=None, value=b"other", headers=HEADERS),
    )
    archive = await SqliteArchive.open(tmp_path, topics=topics)
    found = await archive.find(EvaluationId("e"))
    assert found is not None
    assert (found.result, found.outcomes) == (b"result", (b"part",))
    await archive.close()
