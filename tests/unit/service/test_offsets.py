from hypothesis import given, strategies as st

from monitor.service.offsets import LowWaterMark


def marked(*offsets: int) -> LowWaterMark:
    mark = LowWaterMark()
    for offset in offsets:
        mark.take(offset)
    return mark


def test_an_event_that_finishes_alone_is_settled() -> None:
    assert marked(7).settled_without(7) == 8


def test_an_open_event_holds_back_the_ones_after_it() -> None:
    mark = marked(7, 8, 9)
    mark.finish(8)
    assert mark.settled_without(9) == 7
    assert mark.open == 2


def test_the_last_open_event_settles_all_that_finished_after_it() -> None:
    mark = marked(7, 8, 9)
    mark.finish(8)
    mark.finish(9)
    assert mark.settled_without(7) == 10


def test_gaps_between_offsets_do_not_matter() -> None:
    mark = marked(3, 10, 25)
    mark.finish(3)
    assert mark.settled_without(10) == 25


def test_asking_settles_nothing() -> None:
    mark = marked(7)
    assert mark.settled_without(7) == 8
    assert mark.open == 1


@given(st.sets(st.integers(0, 50), min_size=1), st.data())
def test_nothing_open_is_ever_passed_and_nothing_finished_is_read_again_without_need(
    offsets: set[int], data: st.DataObject
) -> None:
    taken = sorted(offsets)
    mark, still_open = marked(*taken), set(taken)
    for offset in data.draw(st.permutations(taken)):
        settled = mark.settled_without(offset)
        still_open.remove(offset)
        assert settled == min(still_open, default=taken[-1] + 1)
        mark.finish(offset)
