import multiprocessing
import operator
import os

import pytest

from monitor.adapters.worker_processes import AHEAD, ONE_THREAD, WorkerProcesses
from monitor.domain.errors import UsageError

NAMES = [f"${name}" for name in ONE_THREAD]


@pytest.mark.parametrize("processes", [1, 2])
def test_results_come_in_the_order_of_the_arguments(processes: int) -> None:
    with WorkerProcesses(processes) as workers:
        assert list(workers.map(operator.neg, range(20))) == [-each for each in range(20)]


def test_each_worker_has_one_thread() -> None:
    with WorkerProcesses(1) as workers:
        assert list(workers.map(os.path.expandvars, NAMES)) == ["1"] * len(NAMES)


def test_what_a_function_raises_is_raised() -> None:
    with WorkerProcesses(1) as workers, pytest.raises(ValueError, match="invalid literal"):
        list(workers.map(int, ["1", "one"]))


def test_a_worker_that_dies_is_told_of() -> None:
    with WorkerProcesses(1) as workers, pytest.raises(UsageError, match="fewer --processes"):
        list(workers.map(os._exit, [3]))


def test_no_worker_outlives_the_context() -> None:
    with WorkerProcesses(2) as workers:
        next(workers.map(operator.neg, range(1000)))
        assert multiprocessing.active_children()
    assert multiprocessing.active_children() == []


def test_work_is_given_out_as_it_is_done() -> None:
    arguments = iter(range(1000))
    with WorkerProcesses(2) as workers:
        assert next(workers.map(operator.neg, arguments)) == 0
    assert next(arguments) <= 2 * AHEAD + 1
