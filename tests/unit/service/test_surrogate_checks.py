import pytest

from monitor.domain.answers import Completed, Fault, Status
from monitor.domain.errors import SurrogateError
from monitor.domain.surrogates import Served
from monitor.engine.statuses import EndpointFault, Gradable, Settled
from monitor.service.surrogate_checks import FAILURES_IN_A_ROW, ITEMS_IN_A_ROW, Progress, SameModel

SERVED = Served(base_url="http://small/v1", model="small")
ANSWER = Gradable(text="4")
TIMEOUT = Settled(status=Status.TIMEOUT, detail="no response")


def answer(model: str | None, fingerprint: str | None = None) -> Completed:
    return Completed(content="4", finish_reason="stop", served_model=model, fingerprint=fingerprint)


def rejected(rejection: str) -> Settled:
    return Settled(status=Status.REJECTED, rejection=rejection)


def test_the_first_answer_says_what_runs() -> None:
    model = SameModel("small", SERVED, same_fingerprint=True)
    for completed in (answer(None), answer("a"), answer(None, "f"), answer("a", "f"), answer(None)):
        model.check(completed)
    assert (model.served.served_model, model.served.fingerprint) == ("a", "f")


def test_another_model_is_refused_with_both_names() -> None:
    model = SameModel("small", SERVED, same_fingerprint=True)
    model.check(answer("a", "f"))
    with pytest.raises(SurrogateError, match=r"of a with fingerprint f, .* as b .*revision"):
        model.check(answer("b", "f"))
    model.check(answer("a", "f"))


def test_another_fingerprint_is_refused_unless_it_may_differ() -> None:
    strict = SameModel("small", SERVED, same_fingerprint=True)
    strict.check(answer("a", "f"))
    with pytest.raises(SurrogateError, match=r"as a with fingerprint g.*same_fingerprint to false"):
        strict.check(answer("a", "g"))
    lenient = SameModel("small", SERVED, same_fingerprint=False)
    lenient.check(answer("a", "f"))
    lenient.check(answer("a", "g"))
    assert lenient.served.fingerprint is None


def test_failures_in_a_row_end_it() -> None:
    progress = Progress("small", concurrency=1)
    for item in range(FAILURES_IN_A_ROW - 1):
        progress.absorb(item, TIMEOUT)
    with pytest.raises(SurrogateError, match=r"last 20 questions.*timeout \(no response\); mend"):
        progress.absorb(0, TIMEOUT)


def test_a_few_items_that_cannot_be_answered_do_not_end_it() -> None:
    progress = Progress("small", concurrency=1)
    for _ in range(10):
        for item in range(ITEMS_IN_A_ROW - 1):
            progress.absorb(item, TIMEOUT)
    with pytest.raises(SurrogateError, match="last 41 questions"):
        progress.absorb(ITEMS_IN_A_ROW, TIMEOUT)


def test_an_answer_now_and_then_keeps_it_going() -> None:
    progress = Progress("small", concurrency=1)
    for item in range(10 * FAILURES_IN_A_ROW):
        progress.absorb(item, TIMEOUT if item % 5 else ANSWER)


def test_what_is_under_way_at_once_fails_at_once() -> None:
    progress = Progress("small", concurrency=100)
    for item in range(199):
        progress.absorb(item, TIMEOUT)
    with pytest.raises(SurrogateError, match="last 200 questions"):
        progress.absorb(0, TIMEOUT)


def test_an_endpoint_that_rejects_everything_ends_it() -> None:
    progress = Progress("small", concurrency=1)
    progress.absorb(0, rejected("400"))
    progress.absorb(1, rejected("400"))
    with pytest.raises(SurrogateError, match="rejects_everything: the first 3 items"):
        progress.absorb(2, rejected("400"))


def test_single_requests_may_be_rejected() -> None:
    progress = Progress("small", concurrency=1)
    progress.absorb(0, ANSWER)
    for item in range(10 * FAILURES_IN_A_ROW):
        progress.absorb(item, rejected("400"))


def test_a_fault_ends_it() -> None:
    fault = EndpointFault(fault=Fault.UNAUTHORIZED, detail="HTTP 401")
    with pytest.raises(SurrogateError, match="surrogate 'small': unauthorized: HTTP 401; mend it"):
        Progress("small", concurrency=1).absorb(0, fault)
