from monitor.adapters.kafka.lease import SHARE, Lease


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_nobody_holds_a_lease_before_a_heartbeat_was_answered() -> None:
    lease = Lease(10.0, monotonic=Clock())
    assert not lease.holds()
    lease.note(sent=99.0, received=float("-inf"))
    assert not lease.holds()


def test_a_lease_runs_from_the_sending() -> None:
    clock = Clock()
    lease = Lease(10.0, monotonic=clock)
    lease.note(sent=99.0, received=100.0)
    clock.now = 99.0 + 10.0 * SHARE - 0.001
    assert lease.holds()
    clock.now += 0.002
    assert not lease.holds()


def test_an_answer_that_waited_while_the_process_was_stopped_renews_nothing() -> None:
    clock = Clock()
    lease = Lease(10.0, monotonic=clock)
    clock.now = 160.0
    lease.note(sent=99.0, received=160.0)
    assert not lease.holds()


def test_a_heartbeat_under_way_leaves_the_lease_as_it_is() -> None:
    clock = Clock()
    lease = Lease(10.0, monotonic=clock)
    lease.note(sent=99.0, received=99.5)
    lease.note(sent=100.0, received=99.5)
    assert not lease.confirmed_after(99.0)
    lease.note(sent=100.0, received=100.5)
    assert lease.confirmed_after(99.0)
