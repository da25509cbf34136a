from dataclasses import replace
from math import exp, log

import pytest
from hypothesis import given, strategies as st

from monitor.domain.identifiers import Digest, SuiteName
from monitor.domain.surrogates import Served, SurrogateSettings, SurrogateSignal
from monitor.surrogate import measures
from monitor.surrogate.clusters import Sampled
from monitor.surrogate.measures import Measure, measure


def samples(count: int, *logprobs: float) -> list[Sampled]:
    return [
        Sampled(text="", meaning="", score=0.5, mean_logprob=logprob)
        for logprob in logprobs or [None] * count
    ]


def entropy_of(*labels: int) -> float:
    return measure(samples(len(labels)), labels, likelihood=False).entropy


@pytest.mark.parametrize(
    ("labels", "entropy", "consistency"),
    [
        ((0,), 0.0, 1.0),
        ((0, 0, 0, 0), 0.0, 1.0),
        ((0, 0, 1, 1), log(2), 0.5),
        ((0, 1, 2, 3), log(4), 0.25),
        # The smallest value above zero at K = 10.
        ((0,) * 9 + (1,), 0.325083, 0.9),
    ],
)
def test_answers_that_scatter_more_have_more_entropy(
    labels: tuple[int, ...], entropy: float, consistency: float
) -> None:
    found = measure(samples(len(labels)), labels, likelihood=False)
    assert found.entropy == pytest.approx(entropy, abs=1e-6)
    assert (found.consistency, found.single) == (consistency, len(set(labels)) == 1)


def test_one_cluster_has_no_entropy_at_all() -> None:
    assert str(entropy_of(0, 0, 0)) == "0.0"


@given(st.permutations([0, 0, 0, 1, 1, 2, 3]))
def test_the_order_of_answers_does_not_matter(labels: list[int]) -> None:
    assert entropy_of(*labels) == entropy_of(0, 0, 0, 1, 1, 2, 3)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=10))
def test_entropy_is_between_none_and_that_of_all_different(labels: list[int]) -> None:
    assert 0.0 <= entropy_of(*labels) <= log(len(labels)) + 1e-12


def test_the_values_at_ten_samples_are_as_many_as_documented() -> None:
    def partitions(total: int, largest: int) -> list[list[int]]:
        sizes = range(min(total, largest), 0, -1)
        return [[size, *rest] for size in sizes for rest in partitions(total - size, size)] or [[]]

    def values(total: int) -> set[float]:
        return {
            round(entropy_of(*(label for label, size in enumerate(sizes) for _ in range(size))), 12)
            for sizes in partitions(total, total)
        }

    assert [len(values(5)), len(values(8)), len(values(10))] == [7, 21, 39]


def test_likely_answers_weigh_more() -> None:
    found = measure(samples(3, -0.1, -0.2, -3.0), (0, 0, 1), likelihood=True)
    first = (exp(-0.1) + exp(-0.2)) / (exp(-0.1) + exp(-0.2) + exp(-3.0))
    assert found.entropy == pytest.approx(-first * log(first) - (1 - first) * log(1 - first))
    assert found.consistency == pytest.approx(2 / 3)


def test_answers_that_are_all_unlikely_still_weigh() -> None:
    found = measure(samples(2, -5000.0, -5000.0), (0, 1), likelihood=True)
    assert found.entropy == pytest.approx(log(2))


def test_an_answer_that_is_all_but_impossible_weighs_nothing() -> None:
    found = measure(samples(3, -0.1, -0.1, -9999.0), (0, 0, 1), likelihood=True)
    assert (found.entropy, found.single) == (0.0, False)


def test_an_answer_without_likelihood_makes_all_weigh_the_same() -> None:
    mixed = [*samples(2, -0.1, -9.0), *samples(1)]
    assert measure(mixed, (0, 1, 1), likelihood=True) == measure(mixed, (0, 1, 1), likelihood=False)


def test_the_pass_rate_is_the_mean_score() -> None:
    graded = [Sampled(text="", meaning="", score=score) for score in (1.0, 0.0, 0.5)]
    assert measure(graded, (0, 1, 2), likelihood=False).pass_rate == 0.5
    graded.append(Sampled(text="", meaning=""))
    assert measure(graded, (0, 1, 2, 3), likelihood=False).pass_rate is None


RIGHT = Measure(entropy=0.0, consistency=1.0, single=True, pass_rate=1.0)
HALF = Measure(entropy=log(2), consistency=0.5, single=False, pass_rate=0.5)
UNGRADED = Measure(entropy=0.0, consistency=1.0, single=True, pass_rate=None)


def test_an_item_without_answers_has_the_mean_pass_rate() -> None:
    assert measures.pass_rates([RIGHT, None, HALF]) == (1.0, 0.75, 0.5)


@pytest.mark.parametrize("found", [[RIGHT, UNGRADED], [UNGRADED, None], [None]])
def test_one_item_without_a_pass_rate_leaves_none(found: list[Measure | None]) -> None:
    assert measures.pass_rates(found) is None


def test_no_answer_is_as_uncertain_as_can_be() -> None:
    scattered = measure(samples(4), (0, 1, 2, 3), likelihood=False)
    assert measures.unanswered(4) == replace(scattered, pass_rate=None)


def test_a_signal_is_handed_on() -> None:
    signal = SurrogateSignal(
        suite=SuiteName("s"),
        suite_digest=Digest("d"),
        surrogate="small",
        served=Served(base_url="http://small/v1", model="small"),
        settings=SurrogateSettings(),
        entropy=(0.0, log(2)),
        consistency=(1.0, 0.5),
        single=(True, False),
        pass_rate=(1.0, 0.5),
        answered=(10, 10),
        counts={},
        prompt_tokens=0,
        completion_tokens=0,
        software="0",
    )
    found = measures.to_signal(signal)
    assert found.entropy.tolist() == [0.0, log(2)]
    assert found.single.tolist() == [True, False]
    assert found.pass_rate is not None
    assert found.pass_rate.tolist() == [1.0, 0.5]
