"""Any sequence of submissions, commits and restarts leaves what a plain dictionary would."""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import hypothesis
import pytest
from hypothesis import strategies as st

from monitor.domain.identifiers import EvaluationId
from monitor.ports import Assigned, Bus, Commit, Message
from tests.contract.installations import UNWRITABLE, A, B, Installation, records, row, take


@dataclass
class Model:
    """What any bus amounts to."""

    submitted: dict[int, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    rows: dict[tuple[int, EvaluationId, int], bytes] = field(default_factory=dict)
    notes: list[bytes] = field(default_factory=list)
    settled: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    def commit(self, commit: Commit) -> None:
        for entry in commit.entries:
            place = (commit.partition, entry.evaluation_id, entry.sequence)
            if entry.value is None:
                self.rows.pop(place, None)
            else:
                self.rows[place] = entry.value
        self.notes += [message.value for message in commit.messages]
        self.settled[commit.partition] = max(self.settled[commit.partition], commit.settled or 0)

    def assigned(self, partition: int) -> Assigned:
        journals = defaultdict(list)
        for (owner, evaluation_id, sequence), value in sorted(self.rows.items()):
            if owner == partition:
                journals[evaluation_id].append(row(evaluation_id, sequence, value))
        return Assigned(partition=partition, journals=journals)

    def unsettled(self, partition: int) -> list[bytes]:
        return self.submitted[partition][self.settled[partition] :]


@st.composite
def commits(draw: st.DrawFn) -> Commit:
    """A commit whose rows' bytes follow from their place, as a restarted daemon writes them."""
    entries = [
        row(name, sequence, b"%s%d" % (name.encode(), sequence) if draw(st.booleans()) else None)
        for name, sequence in draw(
            st.lists(st.tuples(st.sampled_from([A, B]), st.integers(0, 3)), max_size=4)
        )
    ]
    messages = [
        Message(topic="notes", key=None, value=value)
        for value in draw(st.lists(st.binary(max_size=4), max_size=2))
    ]
    return Commit(
        partition=draw(st.integers(0, 1)),
        entries=tuple(entries),
        messages=(*messages, *([UNWRITABLE] if draw(st.integers(0, 4)) == 0 else [])),
        settled=draw(st.none() | st.integers(0, 4)),
    )


STEPS = st.lists(st.binary(min_size=1, max_size=4) | commits() | st.none(), max_size=12)


async def follow(installation: Installation, model: Model, step: bytes | Commit, bus: Bus) -> None:
    """Do a step to both; bytes are key and value of a request."""
    if isinstance(step, bytes):
        submission = await installation.submission()
        partition, offset = await submission.submit(
            Message(topic="model-versions", key=step, value=step)
        )
        assert offset == len(model.submitted[partition])
        model.submitted[partition].append(step)
    elif UNWRITABLE in step.messages:
        with pytest.raises(ValueError, match="surrogates not allowed"):
            await bus.commit(step)
    else:
        end = len(model.submitted[step.partition])
        possible = replace(step, settled=step.settled and min(step.settled, end))
        await bus.commit(possible)
        model.commit(possible)


async def assert_equal(installation: Installation, model: Model, bus: Bus) -> None:
    """A bus that was just opened delivers what the model holds."""
    assigned = {item.partition: item for item in await take(bus, 2) if isinstance(item, Assigned)}
    assert assigned == {partition: model.assigned(partition) for partition in range(2)}
    expected = [(partition, v) for partition in range(2) for v in model.unsettled(partition)]
    received = await records(bus, len(expected))
    for partition in range(2):
        values = [item.value for item in received if item.partition == partition]
        assert values == model.unsettled(partition)
    assert [item.value for item in await installation.published("notes")] == model.notes


async def walk(installation: Installation, steps: list[bytes | Commit | None]) -> None:
    model, bus = Model(), await installation.bus(partitions=2)
    for step in [*steps, None]:
        if step is not None:
            await follow(installation, model, step, bus)
            continue
        await bus.close()
        bus = await installation.bus(partitions=2)
        await assert_equal(installation, model, bus)


EXAMPLES = {"sqlite": 60, "kafka": 15}


def test_any_sequence_of_commits_and_restarts_equals_the_model(
    install: Callable[[], Installation], request: pytest.FixtureRequest
) -> None:
    async def run(steps: list[bytes | Commit | None]) -> None:
        installation = install()
        try:
            await walk(installation, steps)
        finally:
            await installation.close()

    @hypothesis.settings(max_examples=EXAMPLES[request.node.callspec.id])
    @hypothesis.given(steps=STEPS)
    def check(steps: list[bytes | Commit | None]) -> None:
        asyncio.run(run(steps))

    check()
