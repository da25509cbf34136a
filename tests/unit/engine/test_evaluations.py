from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given, strategies as st

from monitor.domain.answers import Answer, Status, Usage
from monitor.domain.errors import StateCorrupt
from monitor.domain.identifiers import digest
from monitor.domain.plans import Answered, Draw, Drawn, Ended, Planned, Resumed, Row
from monitor.domain.policies import Budget, Method, Policy
from monitor.domain.results import Outcome
from monitor.engine import evaluations, planning, repeats
from monitor.engine.evaluations import Evaluation
from monitor.stats import answers, guides, rounds
from monitor.stats.answers import History
from monitor.stats.arrays import FloatArray
from monitor.wire import journal
from tests.unit.engine.examples import (
    HISTORY,
    POPULATION,
    SURROGATE,
    Reply,
    answer,
    begun,
    complete,
    drawn_rounds,
    learnt,
    published_policy,
    replies,
    scores,
    simple_policy,
    steps,
    stratified_policy,
)

KNOWN = scores()
ROUNDS = begun().plan.round_sizes
ENDED = Ended(outcome=Outcome.MET, statistics_digest=digest("statistics"))

REPEATING = published_policy(50)
AGAIN = complete(begun(policy=REPEATING), replies(KNOWN))
REPEATED = [draw for draw in AGAIN.draws if repeats.is_repeat(AGAIN.draws, draw.step)]

STRATIFIED: dict[str, Any] = {"policy": stratified_policy(30), "signal": SURROGATE}

possible_scores = st.lists(
    st.sampled_from([0.0, 1.0, None]), min_size=POPULATION, max_size=POPULATION
)


def draws_of(reply: Reply) -> tuple[Draw, ...]:
    return complete(begun(), reply).draws


def at_round(number: int) -> int:
    """Number of draws before a round."""
    return (0, *accumulate(ROUNDS))[number]


def written(evaluation: Evaluation, reply: Reply) -> list[Row]:
    return [row for row, _ in steps(evaluation, reply)]


def described(evaluation: Evaluation) -> tuple[Any, ...]:
    """All that an evaluation is, to the bit."""
    pool = evaluation.pool
    return (
        evaluation.draws,
        dict(evaluation.answers),
        pool.clocks.tobytes(),
        pool.times_drawn.tolist(),
        evaluation.maybe_repeated,
        evaluation.ended,
    )


@pytest.mark.parametrize("number", range(len(ROUNDS)))
def test_a_round_is_drawn_from_answers_of_the_rounds_before_the_last(number: int) -> None:
    """Other answers from round `number` - 1 on change nothing in round `number`."""
    usual, later = replies(KNOWN), at_round(max(0, number - 1))

    def reply(draw: Draw) -> float | None:
        right = usual(draw)
        return right if draw.step < later or right is None else 1.0 - right

    upto = at_round(number + 1)
    assert draws_of(reply)[:upto] == draws_of(usual)[:upto]


def test_draws_keep_to_the_floor_of_the_plan() -> None:
    evenly = begun(history=learnt(HISTORY.guide, HISTORY.digest, floor=1.0))
    chances = [draw.probability for draw in complete(evenly, replies(KNOWN)).draws]
    assert chances == pytest.approx([1 / (POPULATION - step) for step in range(len(chances))])


def test_earlier_answers_do_change_later_draws() -> None:
    other = replies([1.0 - score for score in KNOWN])
    same = at_round(2)
    assert draws_of(other)[:same] == draws_of(replies(KNOWN))[:same]
    assert draws_of(other)[same:] != draws_of(replies(KNOWN))[same:]


def test_a_round_waits_for_the_answers_it_depends_on() -> None:
    evaluation = begun()
    for _ in range(2):
        drawn = evaluations.draw_round(evaluation)
        assert drawn is not None
        _, evaluation = drawn
    *first, last = evaluation.draws[: ROUNDS[0]]
    evaluation = answered(evaluation, *first)
    assert evaluations.draw_round(evaluation) is None
    assert evaluations.draw_round(answered(evaluation, last)) is not None


def answered(evaluation: Evaluation, *draws: Draw) -> Evaluation:
    row = Answered(answers=tuple(answer(draw, KNOWN[draw.item]) for draw in draws))
    return evaluations.absorb(evaluation, row)


@given(possible_scores, st.sampled_from([{}, {"policy": REPEATING}, STRATIFIED]), st.data())
def test_neither_order_nor_grouping_of_answers_matters(
    known: list[float | None], kind: dict[str, Any], data: st.DataObject
) -> None:
    """Draw when it pleases, answer any of what is out, in any grouping: the end is the same."""
    reply, evaluation = replies(known), begun(**kind)
    while not evaluation.is_complete:
        if data.draw(st.booleans()) or not evaluation.pending:
            drawn = evaluations.draw_round(evaluation)
            evaluation = evaluation if drawn is None else drawn[1]
        if evaluation.pending:
            came = data.draw(st.permutations(evaluation.pending))
            came = came[: data.draw(st.integers(0, len(came)))] or came[:1]
            row = Answered(answers=tuple(answer(draw, reply(draw)) for draw in came))
            evaluation = evaluations.absorb(evaluation, row)
    assert described(evaluation) == described(complete(begun(**kind), reply))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"history": None, "policy": Policy(method=Method.FAQ, budget=Budget(count=30))},
        {"policy": simple_policy(30)},
        {"policy": Policy(budget=Budget(count=POPULATION))},
        {"policy": published_policy(50)},
        {"policy": published_policy(50), "history": None},
        STRATIFIED,
    ],
)
def test_a_crash_after_any_row_changes_nothing(changes: dict[str, Any]) -> None:
    """Rows go through their bytes, the state is folded from them, and goes on to the same end."""
    reply = replies([None if item % 7 == 0 else score for item, score in enumerate(KNOWN)])
    live = [(None, begun(**changes)), *steps(begun(**changes), reply)]
    rows = [journal.decode(journal.encode(row)) for row, _ in live if row is not None]
    for count, (_, state) in enumerate(live):
        folded = evaluations.fold(begun(**changes), rows[:count])
        assert described(folded) == described(state)
        assert written(folded, reply) == rows[count:]


@given(possible_scores)
def test_no_question_is_drawn_twice(known: list[float | None]) -> None:
    items = [draw.item for draw in draws_of(replies(known))]
    assert len(set(items)) == len(items) == sum(ROUNDS)


def test_a_census_draws_everything() -> None:
    end = complete(begun(policy=Policy(budget=Budget(count=POPULATION))), replies(KNOWN))
    assert sorted(draw.item for draw in end.draws) == list(range(POPULATION))


def test_another_evaluation_draws_other_questions() -> None:
    evaluation = begun()
    other = replace(evaluation.plan, clock_seed=digest("other"))
    again = evaluations.begin(other, suite=evaluation.suite, guide=evaluation.guide)
    assert complete(again, replies(KNOWN)).draws != draws_of(replies(KNOWN))


def test_rounds_have_their_planned_sizes() -> None:
    rows = drawn_rounds(written(begun(), replies(KNOWN)))
    assert tuple(len(row.draws) for row in rows) == ROUNDS
    assert {draw.round for draw in rows[2].draws} == {2}


def test_nothing_is_drawn_after_the_last_round() -> None:
    assert evaluations.draw_round(complete(begun(), replies(KNOWN))) is None


def test_usage_retries_and_interruptions_add_up() -> None:
    first, evaluation = _one_round()
    tried = [Usage(attempts=number, prompt_tokens=5) for number in (1, 3, 2)]
    came = tuple(
        Answer(step=step, status=Status.GRADED, score=1.0, usage=usage)
        for step, usage in enumerate(tried)
    )
    rows: list[Row] = [first, Answered(answers=came), Resumed(pending=1), Resumed(pending=2)]
    evaluation = evaluations.fold(in_fours(), rows)
    assert evaluation.usage == Usage(attempts=6, prompt_tokens=15)
    assert (evaluation.retries, evaluation.maybe_repeated) == (3, 3)
    assert [draw.step for draw in evaluation.pending] == [3]


def in_fours(**changes: object) -> Evaluation:
    """The evaluation before its first draw, with at least four draws a round."""
    evaluation = begun(**changes)
    sizes = rounds.round_sizes(evaluation.plan.draws, first=4)
    return replace(evaluation, plan=replace(evaluation.plan, round_sizes=sizes))


def _one_round() -> tuple[Drawn, Evaluation]:
    drawn = evaluations.draw_round(in_fours())
    assert drawn is not None
    return drawn


FIRST_ROUND, DRAWN_ONCE = _one_round()
_, *LATER = drawn_rounds(written(in_fours(), replies(KNOWN)))


def right(step: int) -> Answer:
    return Answer(step=step, status=Status.GRADED, score=1.0)


def moved(row: Drawn, **changes: object) -> Drawn:
    first = replace(row.draws[0], **changes)  # type: ignore[arg-type]
    return Drawn(draws=(first, *row.draws[1:]))


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (FIRST_ROUND, "round 1 does not follow"),
        (Drawn(draws=LATER[0].draws[:-1]), "round 1 does not follow"),
        (Drawn(draws=()), "round 1 does not follow"),
        (moved(LATER[0], round=0), "round 1 does not follow"),
        (moved(LATER[0], item=FIRST_ROUND.draws[0].item), "twice"),
        (moved(LATER[0], item=LATER[0].draws[1].item), "twice"),
        (moved(LATER[0], item=POPULATION), "no item"),
        (moved(LATER[0], item=-1), "no item"),
        (Answered(answers=(right(4),)), "draw 4, which is not waiting"),
        (Answered(answers=(right(-1),)), "draw -1, which is not waiting"),
        (Answered(answers=(right(0), right(0))), "draw 0, which is not waiting"),
        (Planned(plan=begun().plan, at=None), "second plan"),  # type: ignore[arg-type]
    ],
)
def test_a_row_that_cannot_follow_is_refused(row: Row, text: str) -> None:
    with pytest.raises(StateCorrupt, match=f"evaluation e2: .*{text}"):
        evaluations.absorb(DRAWN_ONCE, row)


def test_a_round_before_the_answers_it_depends_on_is_refused() -> None:
    state = evaluations.fold(in_fours(), [FIRST_ROUND, LATER[0]])
    with pytest.raises(StateCorrupt, match="round 2 stands before answers"):
        evaluations.absorb(state, LATER[1])


def test_a_round_more_than_planned_is_refused() -> None:
    end = complete(begun(), replies(KNOWN))
    extra = Drawn(draws=(replace(end.draws[-1], step=30, round=end.draws[-1].round + 1),))
    with pytest.raises(StateCorrupt, match="does not follow"):
        evaluations.absorb(end, extra)


def test_nothing_follows_the_end() -> None:
    ended = evaluations.absorb(DRAWN_ONCE, ENDED)
    assert ended.ended == ENDED
    with pytest.raises(StateCorrupt, match="has ended"):
        evaluations.absorb(ended, Resumed(pending=1))


def test_another_guide_goes_on_with_fresh_clocks() -> None:
    rows = written(begun(), replies(KNOWN))[:7]
    other = guides.GUIDES["constant"].fit(History.empty(POPULATION))
    folded = evaluations.fold(replace(begun(), guide=other), rows)
    went_on = complete(folded, replies(KNOWN))
    assert went_on.draws[: len(folded.draws)] == folded.draws
    assert len({draw.item for draw in went_on.draws}) == len(went_on.draws)
    usual = evaluations.fold(begun(), rows)
    left = usual.pool.undrawn
    assert (folded.pool.undrawn == left).all()
    assert (folded.pool.clocks[left] != usual.pool.clocks[left]).all()


def asked(rows: Sequence[Row]) -> list[int]:
    """Steps of the answers that were paid for."""
    return [each.step for row in rows if isinstance(row, Answered) for each in row.answers]


def test_an_item_drawn_again_is_not_asked_again() -> None:
    rows, items = written(begun(policy=REPEATING), replies(KNOWN)), set[int]()
    for step in asked(rows):
        assert AGAIN.draws[step].item not in items
        items.add(AGAIN.draws[step].item)
    assert items == {draw.item for draw in AGAIN.draws}
    assert len(items) == 50 - len(REPEATED) < 50


def test_an_item_drawn_again_counts_again_and_costs_nothing() -> None:
    assert REPEATED
    for draw in REPEATED:
        first = next(each for each in AGAIN.draws if each.item == draw.item)
        known, again = AGAIN.answers[first.step], AGAIN.answers[draw.step]
        assert (again.status, again.score) == (known.status, known.score)
        assert again.usage == Usage(attempts=0)
    assert AGAIN.usage.attempts == 50 - len(REPEATED)
    assert AGAIN.retries == 0


def twice_in_one_round() -> Evaluation:
    """After the first round, in which the second draw took the item of the first."""
    evaluation = in_fours(policy=REPEATING)
    drawn = evaluations.draw_round(evaluation)
    assert drawn is not None
    first, second, *others = drawn[0].draws
    row = Drawn(draws=(first, replace(second, item=first.item), *others))
    return evaluations.absorb(evaluation, row)


def test_an_item_drawn_twice_in_one_round_is_asked_once() -> None:
    evaluation = twice_in_one_round()
    assert [draw.step for draw in evaluation.pending] == [0, 2, 3]
    evaluation = answered(evaluation, evaluation.draws[0])
    assert sorted(evaluation.answers) == [0, 1]
    assert [draw.step for draw in evaluation.pending] == [2, 3]


def test_the_answer_to_a_repeat_is_refused() -> None:
    with pytest.raises(StateCorrupt, match="draw 1, which is not waiting"):
        evaluations.absorb(twice_in_one_round(), Answered(answers=(right(1),)))


def test_an_item_drawn_again_is_learnt_from_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guide is told of every draw of the rounds before the last, repeats among them."""
    told: list[list[int]] = []
    kind = type(AGAIN.guide)
    predict = kind.predict

    def listen(guide: guides.Guide, known: answers.Answers) -> FloatArray:
        told.append(known.items.tolist())
        return predict(guide, known)

    monkeypatch.setattr(kind, "predict", listen)
    end = complete(begun(policy=REPEATING), replies(KNOWN))
    last = end.draws[-1].round
    usable = [draw.item for draw in end.draws if draw.round <= last - 2]
    assert told[-1] == usable
    assert len(set(usable)) < len(usable)


def test_another_guide_goes_on_with_repeats() -> None:
    rows = written(begun(policy=REPEATING), replies(KNOWN))[:9]
    other = guides.GUIDES["constant"].fit(History.empty(POPULATION))
    folded = evaluations.fold(replace(begun(policy=REPEATING), guide=other), rows)
    went_on = complete(folded, replies(KNOWN))
    assert went_on.draws[: len(folded.draws)] == folded.draws
    assert len({draw.item for draw in went_on.draws}) < len(went_on.draws) == 50


def test_strata_are_drawn_from_at_once_as_planned() -> None:
    """All are asked together, and each stratum gives the draws that the plan says."""
    first, *others = written(begun(**STRATIFIED), replies(KNOWN))
    strata = begun(**STRATIFIED).plan.strata
    assert isinstance(first, Drawn)
    assert drawn_rounds(others) == []
    assert strata is not None
    drawn = Counter(strata.labels[draw.item] for draw in first.draws)
    assert drawn == dict(enumerate(strata.draws))


def test_a_resumed_evaluation_keeps_to_the_strata_of_its_plan() -> None:
    """The signal is gone, and with it the guide: strata and draws are the stored ones."""
    usual = complete(begun(**STRATIFIED), replies(KNOWN))
    guide = planning.guide_named("surrogate", suite=usual.suite, history=None)
    went_on = complete(replace(begun(**STRATIFIED), guide=guide), replies(KNOWN))
    assert [(draw.item, draw.probability) for draw in went_on.draws] == [
        (draw.item, draw.probability) for draw in usual.draws
    ]
    assert len({draw.prediction for draw in went_on.draws}) == 1


def test_draws_beyond_those_of_a_stratum_are_refused() -> None:
    (row,) = drawn_rounds(written(begun(**STRATIFIED), replies(KNOWN)))
    strata = begun(**STRATIFIED).plan.strata
    assert strata is not None
    drawn, label = {draw.item for draw in row.draws}, strata.labels[row.draws[1].item]
    more = next(item for item, of in enumerate(strata.labels) if of == label and item not in drawn)
    lost = next(draw for draw in row.draws if strata.labels[draw.item] != label)
    draws = tuple(replace(draw, item=more) if draw == lost else draw for draw in row.draws)
    with pytest.raises(StateCorrupt, match="round 0 draws more of a stratum than was planned"):
        evaluations.absorb(begun(**STRATIFIED), Drawn(draws=draws))
