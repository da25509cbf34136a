from dataclasses import replace

from monitor.domain.answers import Answer, Status, Usage
from monitor.domain.plans import Draw
from monitor.engine import repeats
from tests.unit.wire.examples import DRAWS


def drawn(*items: int) -> tuple[Draw, ...]:
    return tuple(replace(DRAWS[0], step=step, item=item) for step, item in enumerate(items))


def came(step: int, score: float = 1.0) -> Answer:
    usage = Usage(attempts=2, prompt_tokens=7, completion_tokens=3)
    return Answer(step=step, status=Status.GRADED, score=score, usage=usage)


def test_the_first_draw_of_each_item_is_its_question() -> None:
    found = repeats.first_draws(drawn(5, 3, 5, 5, 9, 3))
    assert [(draw.step, draw.item) for draw in found] == [(0, 5), (1, 3), (4, 9)]


def test_an_item_drawn_again_has_its_answer_again_at_no_cost() -> None:
    found = repeats.settle(drawn(5, 3, 5, 5), {0: came(0, 0.25)})
    again = replace(came(0, 0.25), usage=Usage(attempts=0))
    assert found == {0: came(0, 0.25), 2: replace(again, step=2), 3: replace(again, step=3)}


def test_answers_stand_in_the_order_of_their_draws() -> None:
    found = repeats.settle(drawn(5, 3, 9, 3), {2: came(2), 1: came(1)})
    assert list(found) == [1, 2, 3]


def test_a_missing_answer_is_missing_again() -> None:
    lost = Answer(step=0, status=Status.TIMEOUT, score=None)
    again = repeats.settle(drawn(5, 5), {0: lost})[1]
    assert (again.status, again.score, again.usage.attempts) == (Status.TIMEOUT, None, 0)


def test_what_is_settled_stays_as_it_is() -> None:
    draws = drawn(5, 3, 5)
    settled = repeats.settle(draws, {0: came(0), 1: came(1)})
    assert repeats.settle(draws, settled) == settled


def test_a_repeat_is_known_by_its_item() -> None:
    draws = drawn(5, 3, 5)
    assert [repeats.is_repeat(draws, step) for step in range(3)] == [False, False, True]
