import numpy as np
import pytest

from monitor.domain import errors
from monitor.simulation import knobs
from monitor.simulation.knobs import Attempt, Fault, Knobs, Trigger


def attempt(item: str = "a", number: int = 0, model: str = "m") -> Attempt:
    return Attempt(model=model, item=item, number=number)


def happens(trigger: Trigger, asked: Attempt) -> bool:
    return Knobs(faults={Fault.HANG: trigger}).fault(asked) is Fault.HANG


def test_without_triggers_nothing_goes_wrong() -> None:
    assert Knobs().fault(attempt()) is None


def test_a_trigger_without_conditions_always_fires() -> None:
    assert happens(Trigger(), attempt("b", number=9))


def test_items_and_first_attempts_both_count() -> None:
    trigger = Trigger(items=frozenset({"a", "b"}), first=2)
    fired = [happens(trigger, attempt(item, n)) for item in "abc" for n in range(3)]
    assert fired == [True, True, False, True, True, False, False, False, False]


def test_a_share_is_kept_over_items_and_over_attempts() -> None:
    trigger = Trigger(share=0.3)
    by_item = [happens(trigger, attempt(f"item-{index}")) for index in range(4000)]
    by_attempt = [happens(trigger, attempt(number=index)) for index in range(4000)]
    bound = 4 * (0.21 / 4000) ** 0.5
    assert np.mean(by_item) == pytest.approx(0.3, abs=bound)
    assert np.mean(by_attempt) == pytest.approx(0.3, abs=bound)
    assert np.corrcoef(by_item, by_attempt)[0, 1] == pytest.approx(0.0, abs=4 / 4000**0.5)


def test_the_first_of_the_list_happens() -> None:
    both = Knobs(faults={Fault.REFUSAL: Trigger(), Fault.SERVER_ERROR: Trigger(first=1)})
    assert both.fault(attempt(number=0)) is Fault.SERVER_ERROR
    assert both.fault(attempt(number=1)) is Fault.REFUSAL


def test_the_seed_changes_who_is_hit() -> None:
    def hit(seed: int) -> list[Fault | None]:
        drawn = Knobs(seed=seed, faults={Fault.HANG: Trigger(share=0.5)})
        return [drawn.fault(attempt(str(index))) for index in range(50)]

    assert hit(1) == hit(1)
    assert hit(1) != hit(2)


def test_latency_is_fixed_or_lognormal() -> None:
    assert Knobs(latency=0.2).seconds(attempt()) == 0.2
    drawn = Knobs(latency=0.2, latency_sigma=0.5)
    logs = np.log([drawn.seconds(attempt(str(index))) for index in range(2000)])
    assert drawn.seconds(attempt("1")) == drawn.seconds(attempt("1"))
    assert np.mean(logs) == pytest.approx(np.log(0.2), abs=4 * 0.5 / 2000**0.5)
    assert np.std(logs) == pytest.approx(0.5, abs=4 * 0.5 / 4000**0.5)


def test_a_document_is_read_back_as_it_was() -> None:
    original = Knobs(
        seed=2**60 + 1,
        latency=0.5,
        rate=3.0,
        retry_after=None,
        faults={
            Fault.HANG: Trigger(items=frozenset({"b", "a"}), first=1),
            Fault.REFUSAL: Trigger(share=0.5),
        },
    )
    assert knobs.parse_knobs(knobs.knobs_document(original)) == original


def test_what_is_left_out_has_its_default() -> None:
    parsed = knobs.parse_knobs({"faults": {"malformed": 0.25}, "rate": None})
    assert parsed == Knobs(faults={Fault.MALFORMED: Trigger(share=0.25)})


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], r"the knobs must be an object, not \[\]"),
        ({"latencyy": 1}, "the knobs: 'latencyy' is unknown; known are faults, seed, latency"),
        ({"faults": {"hangs": 1}}, "faults: 'hangs' is unknown; known are rate_limit"),
        ({"faults": [1]}, "faults must be an object"),
        ({"faults": {"hang": "often"}}, "hang must be a number, not 'often'"),
        ({"faults": {"hang": 1.5}}, r"share 1.5 is not in \[0, 1\]"),
        ({"faults": {"hang": float("nan")}}, r"share nan is not in \[0, 1\]"),
        ({"faults": {"hang": True}}, "hang must be a number, not True"),
        ({"faults": {"hang": {"last": 1}}}, "hang: 'last' is unknown; known are share, items"),
        ({"faults": {"hang": {"items": "a"}}}, "hang.items must be a list of item ids, not 'a'"),
        ({"faults": {"hang": {"items": [1]}}}, r"hang.items must be a list of item ids, not \[1\]"),
        ({"faults": {"hang": {"first": 1.5}}}, "hang.first must be a whole number"),
        ({"faults": {"hang": {"first": -1}}}, "first -1 is negative"),
        ({"seed": 1.5}, "seed must be a whole number"),
        ({"latency": None}, "latency must be a number, not None"),
        ({"latency": -1}, "latency -1.0 is not a number from 0 on"),
        ({"hang": float("inf")}, "hang inf is not a number from 0 on"),
        ({"rate": 0}, "rate 0 answers nothing"),
        ({"scatter": 1.5}, r"scatter 1.5 is not in \[0, 1\]"),
        ({"rate": 10**400}, "rate must be a number that fits a float"),
    ],
)
def test_what_does_not_fit_is_named(document: object, message: str) -> None:
    with pytest.raises(errors.UsageError, match=message):
        knobs.parse_knobs(document)
