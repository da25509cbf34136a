"""What looking back finds, whatever the results were published to."""

from collections.abc import Sequence

from monitor.domain.identifiers import EvaluationId, SuiteName, VariantName
from monitor.ports import Commit, Message, Published
from tests.contract.installations import Installation

CHAT, MAIL = VariantName("chat"), VariantName("mail")
MATH, CODE = SuiteName("math"), SuiteName("code")


def published(name: str, *outcomes: bytes) -> Published:
    return Published(
        evaluation_id=EvaluationId(name), result=b"result of " + name.encode(), outcomes=outcomes
    )


def commit(wanted: Published, variant: str = "chat", suite: str = "math") -> Commit:
    """The end of an evaluation, its outcomes in reverse order."""
    headers = (
        ("content-type", b"application/json"),
        ("evaluation_id", wanted.evaluation_id.encode()),
        ("variant", variant.encode()),
        ("suite", suite.encode()),
        ("version", b"1"),
    )
    key = f"{variant}/{suite}".encode()
    result = Message(topic="model-evaluations", key=key, value=wanted.result, headers=headers)
    parts = [
        Message(
            topic="model-outcomes",
            key=wanted.evaluation_id.encode(),
            value=value,
            headers=(*headers, ("part", str(number).encode())),
        )
        for number, value in enumerate(wanted.outcomes)
    ]
    return Commit(partition=0, messages=(result, *reversed(parts)))


async def publish(installation: Installation, *commits: Commit) -> None:
    bus = await installation.bus()
    for each in commits:
        await bus.commit(each)


def names(found: Sequence[Published]) -> list[str]:
    return [each.evaluation_id for each in found]


async def test_nothing_is_found_where_nothing_was_published(installation: Installation) -> None:
    await publish(installation)
    archive = await installation.archive()
    assert await archive.find(EvaluationId("a")) is None
    assert list(await archive.recent(CHAT, MATH, limit=5)) == []
    assert list(await archive.newest()) == []


async def test_a_result_is_found_by_its_evaluation(installation: Installation) -> None:
    a, b = published("a", b"one"), published("b")
    await publish(installation, commit(a), commit(b))
    archive = await installation.archive()
    assert await archive.find(a.evaluation_id) == a
    assert await archive.find(b.evaluation_id) == b
    assert await archive.find(EvaluationId("c")) is None


async def test_outcomes_come_in_the_order_of_their_parts(installation: Installation) -> None:
    wanted = published("a", *(b"%d" % number for number in range(12)))
    await publish(installation, commit(wanted))
    archive = await installation.archive()
    assert await archive.find(wanted.evaluation_id) == wanted
    assert list(await archive.recent(CHAT, MATH, limit=1)) == [wanted]
    assert list(await archive.newest()) == [wanted]


async def test_recent_results_come_newest_first(installation: Installation) -> None:
    await publish(installation, *(commit(published(name)) for name in "abcd"))
    archive = await installation.archive()
    assert names(await archive.recent(CHAT, MATH, limit=3)) == ["d", "c", "b"]
    assert names(await archive.recent(CHAT, MATH, limit=9)) == ["d", "c", "b", "a"]


async def test_variants_and_suites_are_kept_apart(installation: Installation) -> None:
    await publish(
        installation,
        commit(published("a")),
        commit(published("b"), variant="mail"),
        commit(published("c"), suite="code"),
    )
    archive = await installation.archive()
    assert names(await archive.recent(CHAT, MATH, limit=9)) == ["a"]
    assert names(await archive.recent(MAIL, MATH, limit=9)) == ["b"]
    assert names(await archive.recent(MAIL, CODE, limit=9)) == []


async def test_the_newest_of_each_comes_oldest_first(installation: Installation) -> None:
    await publish(
        installation,
        commit(published("a")),
        commit(published("b"), variant="mail"),
        commit(published("c")),
        commit(published("d"), suite="code"),
    )
    assert names(await (await installation.archive()).newest()) == ["b", "c", "d"]


async def test_an_open_archive_sees_what_is_published_later(installation: Installation) -> None:
    bus = await installation.bus()
    archive = await installation.archive()
    for name in "ab":
        await bus.commit(commit(published(name)))
        assert names(await archive.newest()) == [name]


async def test_results_outlive_the_bus(installation: Installation) -> None:
    bus = await installation.bus()
    await bus.commit(commit(published("a", b"one")))
    await bus.close()
    archive = await installation.archive()
    assert await archive.find(EvaluationId("a")) == published("a", b"one")
