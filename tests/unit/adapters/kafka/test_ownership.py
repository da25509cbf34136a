import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from math import inf

import pytest

from monitor.adapters.kafka import journal, ownership, rows, transactions
from monitor.adapters.kafka.clients import Cluster
from monitor.adapters.kafka.journal import Restored
from monitor.adapters.kafka.lease import Lease
from monitor.adapters.kafka.ownership import Group, Listener, Ownership
from monitor.domain.errors import OwnershipLost, StateCorrupt, StateError
from monitor.domain.facts import TransactionOutcome
from monitor.ports import Commit
from tests.unit.adapters.kafka.examples import CLUSTER, commit, entry, message

SECONDS = 30.0
REFUSAL = ValueError("too large")


class Brokers:
    """Stands for the brokers: what they hold, how often they were asked, and when they fail."""

    def __init__(self) -> None:
        self.told: list[object] = []
        self.written: list[transactions.Contents] = []
        self.outcomes: list[transactions.Outcome] = []
        self.takeovers = 0
        self.marker: bytes | None = None
        self.settled = 0
        self.closed = threading.Event()
        self.open = threading.Event()
        self.open.set()
        self.lease = Lease(inf)
        self.failure: Exception | None = None
        self.confirm()

    def confirm(self) -> None:
        """The group answers what was asked just now."""
        self.lease.note(sent=time.monotonic(), received=time.monotonic())

    def open_producer(self, _cluster: Cluster, _partition: int) -> "Brokers":
        self.takeovers += 1
        return self

    def init_transactions(self) -> None: ...

    def close(self, timeout: float) -> None:
        assert timeout

    def read(self, _cluster: Cluster, _partition: int, *, seconds: float) -> Restored:
        assert seconds
        if self.failure is not None:
            raise self.failure
        return Restored(journals={}, settled=self.settled, marker=self.marker, row_count=0)

    def write(
        self, _producer: object, contents: transactions.Contents, *_: object
    ) -> transactions.Outcome:
        self.open.wait(SECONDS)
        self.written.append(contents)
        return self.outcomes.pop(0) if self.outcomes else transactions.Committed()


@pytest.fixture
def brokers(monkeypatch: pytest.MonkeyPatch) -> Brokers:
    made = Brokers()
    monkeypatch.setattr(transactions, "open_producer", made.open_producer)
    monkeypatch.setattr(transactions, "write", made.write)
    monkeypatch.setattr(journal, "read", made.read)
    monkeypatch.setattr(ownership, "RETRY_SECONDS", 0.01)
    return made


@pytest.fixture
def owned(brokers: Brokers) -> Iterator[Ownership]:
    listener = Listener(
        restored=lambda partition, *_: brokers.told.append(("restored", partition)),
        lost=lambda partition: brokers.told.append(("lost", partition)),
        failed=brokers.told.append,
        written=lambda _, outcome, commits, __: brokers.told.append((outcome, commits)),
    )
    group = Group(lease=brokers.lease, metadata=lambda: None)
    made = Ownership(CLUSTER, 3, group=group, listener=listener)
    yield made
    made.lose()


def wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def submit(owned: Ownership, *commits: Commit) -> list[Future[None]]:
    return [owned.submit(rows.prepare(each, CLUSTER)) for each in commits]


def together(brokers: Brokers, owned: Ownership, *commits: Commit) -> Sequence[Future[None]]:
    """Outcomes of commits that wait at the same time."""
    brokers.open.clear()
    owned.start()
    first = submit(owned, commit(entry(99)))
    wait(first[0].running)
    futures = submit(owned, *commits)
    brokers.open.set()
    for future in futures:
        future.exception(SECONDS)
    return futures


def test_commits_that_wait_share_a_transaction(brokers: Brokers, owned: Ownership) -> None:
    together(brokers, owned, commit(entry(0)), commit(entry(1)), commit(entry(2)))
    assert [len(each.writings) for each in brokers.written] == [1, 3]
    assert (TransactionOutcome.COMMITTED, 3) in brokers.told


def test_one_that_is_refused_takes_nothing_with_it(brokers: Brokers, owned: Ownership) -> None:
    refused = transactions.Refused(REFUSAL)
    committed = transactions.Committed()
    brokers.outcomes += [committed, refused, committed, refused, committed]
    futures = together(brokers, owned, commit(entry(0)), commit(entry(1)), commit(entry(2)))
    assert [future.exception() is None for future in futures] == [True, False, True]
    with pytest.raises(StateError, match=r"127\.0\.0\.1:1 refuse a record \(too large\)"):
        futures[1].result()


def test_a_loss_while_they_are_tried_one_by_one_fails_all_the_others(
    brokers: Brokers, owned: Ownership
) -> None:
    refused, unknown = transactions.Refused(REFUSAL), transactions.Unknown(REFUSAL)
    brokers.outcomes += [transactions.Committed(), refused, transactions.Committed(), unknown]
    brokers.open.clear()
    owned.start()
    (first,) = submit(owned, commit(entry(99)))
    wait(first.running)
    futures = submit(owned, commit(entry(0)), commit(entry(1)), commit(entry(2)))
    brokers.open.set()
    wait(lambda: owned.trouble is not None)
    owned.lose()
    errors = [type(future.exception(SECONDS)) for future in futures]
    assert errors == [type(None), OwnershipLost, OwnershipLost]


def test_a_cancelled_commit_that_still_waits_is_not_written(
    brokers: Brokers, owned: Ownership
) -> None:
    first, second = submit(owned, commit(entry(0)), commit(entry(1)))
    assert first.cancel()
    owned.start()
    second.result(SECONDS)
    assert [len(each.writings) for each in brokers.written] == [1]


def test_settling_goes_forwards_only(brokers: Brokers, owned: Ownership) -> None:
    brokers.settled = 5
    owned.start()
    for settled in (4, 5, 7, 6):
        submit(owned, Commit(partition=3, settled=settled))[0].result(SECONDS)
    assert [each.offset for each in brokers.written] == [7]
    assert owned.settled == 7


def test_an_unknown_outcome_is_settled_once_the_group_has_confirmed(
    brokers: Brokers, owned: Ownership
) -> None:
    brokers.outcomes.append(transactions.Unknown(REFUSAL))
    owned.start()
    (future,) = submit(owned, commit(entry(0), messages=(message("notes"),)))
    wait(lambda: owned.trouble is not None)
    assert "has a commit of unknown outcome: too large" in str(owned.trouble)
    assert (brokers.takeovers, future.done()) == (1, False)
    brokers.confirm()
    future.result(SECONDS)
    assert (brokers.takeovers, len(brokers.written), owned.trouble) == (2, 2, None)
    assert brokers.told.count(("restored", 3)) == 1


def test_what_is_found_in_the_journal_is_not_written_again(
    brokers: Brokers, owned: Ownership
) -> None:
    brokers.outcomes.append(transactions.Unknown(REFUSAL))
    owned.start()
    (future,) = submit(owned, commit(messages=(message("notes"),)))
    wait(lambda: bool(brokers.written))
    brokers.marker = brokers.written[0].marker
    brokers.confirm()
    future.result(SECONDS)
    assert len(brokers.written) == 1


def test_a_partition_lost_meanwhile_is_not_taken_over_again(
    brokers: Brokers, owned: Ownership
) -> None:
    brokers.outcomes.append(transactions.Unknown(REFUSAL))
    owned.start()
    (future,) = submit(owned, commit(entry(0)))
    wait(lambda: owned.trouble is not None)
    owned.lose()
    with pytest.raises(OwnershipLost, match="model-versions: partition 3"):
        future.result(SECONDS)
    assert (brokers.takeovers, brokers.told[-2:]) == (
        1,
        [("lost", 3), (TransactionOutcome.LOST, 1)],
    )


def test_nothing_is_written_while_the_lease_does_not_hold(
    brokers: Brokers, owned: Ownership
) -> None:
    lapsed = Lease(0.0)
    owned._group = Group(lease=lapsed, metadata=lambda: None)  # noqa: SLF001 - a group gone silent
    owned.start()
    (future,) = submit(owned, commit(entry(0)))
    wait(lambda: owned.is_restored and future.running())
    assert not owned.holds()
    owned.lose()
    assert isinstance(future.exception(SECONDS), OwnershipLost)
    assert brokers.written == []


def test_what_waits_is_written_before_the_end(brokers: Brokers, owned: Ownership) -> None:
    futures = submit(owned, commit(entry(0)), commit(entry(1)))
    owned.start()
    owned.finish()
    owned.wait(SECONDS)
    assert [future.exception() for future in futures] == [None, None]
    assert [len(each.writings) for each in brokers.written] == [2]
    assert owned.is_lost
    with pytest.raises(OwnershipLost):
        submit(owned, commit(entry(2)))


def test_a_partition_that_was_never_restored_is_lost_in_silence(
    brokers: Brokers, owned: Ownership
) -> None:
    brokers.failure = TimeoutError("nobody there")
    owned.start()
    wait(lambda: owned.trouble == "is being taken over: nobody there")
    owned.lose()
    assert brokers.told == []


def test_a_journal_that_cannot_be_read_is_told(brokers: Brokers, owned: Ownership) -> None:
    brokers.failure = StateCorrupt("no row of ours")
    owned.start()
    wait(lambda: brokers.told == [brokers.failure])
