from monitor.simulation.ledger import Ledger


def test_attempts_are_numbered_by_model_and_item() -> None:
    ledger, numbers = Ledger(), []
    for model, item in [("m", "a"), ("m", "a"), ("m", "b"), ("n", "a"), ("m", "a")]:
        with ledger.attempt(model, item) as attempt:
            numbers.append(attempt.number)
    assert numbers == [0, 1, 0, 0, 2]
    assert ledger.asked("m") == {"a": 3, "b": 1}


def test_answers_are_counted_apart() -> None:
    ledger = Ledger()
    for answered in (False, True):
        with ledger.attempt("m", "a") as attempt:
            if answered:
                ledger.answer(attempt)
    assert ledger.answered("m") == {"a": 1}
    assert ledger.document() == {
        "asked": 2,
        "answered": 1,
        "most_under_way": 1,
        "requests": [{"model": "m", "item": "a", "asked": 2, "answered": 1}],
    }


def test_what_is_under_way_is_counted_through_a_clearing() -> None:
    ledger = Ledger()
    with ledger.attempt("m", "a"), ledger.attempt("m", "b"):
        ledger.clear()
        assert ledger.document()["most_under_way"] == 2
    with ledger.attempt("m", "a") as attempt:
        assert attempt.number == 0
    ledger.clear()
    assert ledger.document() == {"asked": 0, "answered": 0, "most_under_way": 0, "requests": []}
