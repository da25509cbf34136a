import logging

import pytest

from monitor.adapters.telemetries import Telemetries
from monitor.domain import facts
from tests.unit.adapters import examples


class Listening:
    def __init__(self) -> None:
        self.heard: list[facts.Fact] = []

    def record(self, fact: facts.Fact) -> None:
        self.heard.append(fact)


class Broken:
    def record(self, fact: facts.Fact) -> None:
        raise LookupError(f"no idea of {fact}")


def test_every_member_hears_every_fact() -> None:
    first, second = Listening(), Listening()
    telemetries = Telemetries(first, second)
    telemetries.record(examples.EVENT)
    telemetries.record(examples.FAILED)
    assert first.heard == second.heard == [examples.EVENT, examples.FAILED]
    assert telemetries.dropped == 0


def test_broken_member_is_counted_and_harms_nobody() -> None:
    listening = Listening()
    telemetries = Telemetries(Broken(), listening)
    telemetries.record(examples.EVENT)
    telemetries.record(examples.EVENT)
    assert telemetries.dropped == 2
    assert len(listening.heard) == 2


def test_broken_member_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    telemetries = Telemetries(Broken())
    with caplog.at_level(logging.ERROR):
        telemetries.record(examples.EVENT)
        telemetries.record(examples.EVENT)
    assert [record.args for record in caplog.records] == [("Broken",)]
