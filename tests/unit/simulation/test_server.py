from collections.abc import Mapping
from typing import Any

import httpx2
import numpy as np
import pytest

from monitor.domain import errors
from monitor.simulation import answers, suites
from monitor.simulation.knobs import Fault, Knobs, Trigger
from monitor.simulation.server import RateLimit, Simulation

ITEMS = ("a", "b", "c")
SUITE = suites.recorded_suite(ITEMS)
OUTCOMES = np.array([[1.0, 0.0, np.nan], [0.0, 0.0, 1.0]])
BOOK = answers.recorded_book(OUTCOMES, models=["old", "new"], items=ITEMS)


def simulation(*, api_key: str | None = None, **knobs: Any) -> Simulation:  # noqa: ANN401
    return Simulation(SUITE, BOOK, knobs=Knobs(**knobs), api_key=api_key)


def client(simulated: Simulation) -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(app=simulated.app)
    return httpx2.AsyncClient(transport=transport, base_url="http://simulated")


def question(item: str, model: str = "old") -> dict[str, Any]:
    asked = f"Does the model get {item} right?"
    return {"model": model, "messages": [{"role": "user", "content": asked}]}


async def ask(
    simulated: Simulation,
    item: str = "a",
    model: str = "old",
    headers: Mapping[str, str] | None = None,
) -> httpx2.Response:
    async with client(simulated) as http:
        return await http.post(
            "/v1/chat/completions", json=question(item, model), headers=headers or {}
        )


async def said(simulated: Simulation, item: str, model: str) -> Any:  # noqa: ANN401 - JSON
    response = await ask(simulated, item, model)
    return response.json()["choices"][0]["message"]["content"]


async def test_models_answer_as_the_book_says() -> None:
    simulated = simulation()
    assert [await said(simulated, item, "new") for item in ITEMS] == ["no", "no", "yes"]
    assert [await said(simulated, item, "old") for item in "ab"] == ["yes", "no"]


async def samples(
    simulated: Simulation, item: str, model: str, temperature: float, **seed: int
) -> list[str]:
    asked = question(item, model) | {"temperature": temperature} | seed
    async with client(simulated) as http:
        answers = [await http.post("/v1/chat/completions", json=asked) for _ in range(400)]
    return [answer.json()["choices"][0]["message"]["content"] for answer in answers]


async def test_at_a_temperature_answers_scatter_around_the_book() -> None:
    """Of item a, "old" is right and "new" wrong, so half of the models are right."""
    for model, share in (("old", 0.6 + 0.4 / 2), ("new", 0.4 / 2)):
        said = await samples(simulation(), "a", model, 1.0)
        assert said.count("yes") / 400 == pytest.approx(share, abs=4 * (0.16 / 400) ** 0.5)
        assert len(set(said)) == 5


async def test_requests_of_one_seed_get_one_answer() -> None:
    simulated = simulation()
    said = [set(await samples(simulated, "a", "old", 1.0, seed=seed)) for seed in range(20)]
    assert {len(texts) for texts in said} == {1}
    assert len(set.union(*said)) > 1


@pytest.mark.parametrize(("temperature", "scatter"), [(0.0, 0.4), (1.0, 0.0)])
async def test_otherwise_answers_are_by_the_book(temperature: float, scatter: float) -> None:
    said = await samples(simulation(scatter=scatter), "a", "new", temperature)
    assert set(said) == {"no"}


async def test_the_same_answer_is_given_under_another_id() -> None:
    simulated = simulation()
    first, second = [(await ask(simulated)).json() for _ in range(2)]
    assert first.pop("id") != second.pop("id")
    assert first == second


async def test_what_was_not_recorded_is_a_server_error() -> None:
    simulated = simulation()
    response = await ask(simulated, "c", "old")
    assert response.status_code == 500
    assert response.json()["error"]["code"] == "not_recorded"
    assert simulated.ledger.answered("old") == {}


async def test_the_key_is_asked_for() -> None:
    simulated = simulation(api_key="sk-made-up")
    statuses = [
        (await ask(simulated, headers=headers)).status_code
        for headers in ({}, {"authorization": "Bearer x"}, {"authorization": "Bearer sk-made-up"})
    ]
    assert statuses == [401, 401, 200]
    async with client(simulated) as http:
        assert (await http.get("/v1/models")).status_code == 401


async def test_models_and_health_are_shown() -> None:
    async with client(simulation()) as http:
        listed = (await http.get("/v1/models")).json()
        assert [model["id"] for model in listed["data"]] == ["old", "new"]
        assert (await http.get("/health")).json() == {"status": "ok"}
        assert (await http.get("/_simulation/truth")).json() == {"old": 0.5, "new": 1 / 3}


async def test_first_attempts_fail_and_are_counted() -> None:
    simulated = simulation(faults={Fault.SERVER_ERROR: Trigger(first=2)})
    statuses = [(await ask(simulated)).status_code for _ in range(4)]
    assert statuses == [500, 500, 200, 200]
    assert (simulated.ledger.asked("old"), simulated.ledger.answered("old")) == ({"a": 4}, {"a": 2})


async def test_rate_limits_say_when_to_come_back() -> None:
    simulated = simulation(faults={Fault.RATE_LIMIT: Trigger(first=1)}, retry_after=0.5)
    response = await ask(simulated)
    assert response.status_code == 429
    assert response.headers["retry-after-ms"] == "500"


async def test_a_hang_ends_with_an_error_at_last() -> None:
    response = await ask(simulation(faults={Fault.HANG: Trigger()}, hang=0.01))
    assert response.status_code == 504


async def test_knobs_are_set_at_run_time() -> None:
    simulated = simulation(latency=0.001)
    async with client(simulated) as http:
        response = await http.post("/_simulation/knobs", json={"faults": {"refusal": 1}})
        assert response.json() == (await http.get("/_simulation/knobs")).json()
    assert simulated.knobs == Knobs(faults={Fault.REFUSAL: Trigger()})
    assert await said(simulated, "a", "old") is None


@pytest.mark.parametrize("content", [b"", b"[1]", b'{"latency": "slow"}', b"\xff"])
async def test_knobs_that_do_not_fit_change_nothing(content: bytes) -> None:
    simulated = simulation(latency=0.001)
    async with client(simulated) as http:
        response = await http.post("/_simulation/knobs", content=content)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid_knobs"
    assert simulated.knobs == Knobs(latency=0.001)


async def test_the_ledger_is_shown_and_reset() -> None:
    simulated = simulation()
    await ask(simulated, "b", "new")
    async with client(simulated) as http:
        shown = (await http.get("/_simulation/requests")).json()
        assert shown["requests"] == [{"model": "new", "item": "b", "asked": 1, "answered": 1}]
        assert (await http.post("/_simulation/reset")).json()["asked"] == 0
    assert simulated.ledger.asked("new") == {}


async def test_the_book_may_know_more_items_in_another_order() -> None:
    few = Simulation(suites.recorded_suite(["c", "a"]), BOOK)
    assert [await said(few, item, "new") for item in "ac"] == ["no", "yes"]
    async with client(few) as http:
        assert (await http.get("/_simulation/truth")).json() == {"old": 1.0, "new": 0.5}


def test_the_book_must_know_every_item() -> None:
    with pytest.raises(errors.UsageError, match="no outcomes are known for item 'd' and 1 more"):
        Simulation(suites.recorded_suite(["a", "d", "e"]), BOOK)


def test_a_rate_is_kept() -> None:
    limit = RateLimit()
    refused = [limit.wait(10.0, now=step * 0.01) > 0.0 for step in range(1000)]
    # Ten at once, and ten a second from then on, for 9.99 seconds.
    assert refused.count(False) == 109
    assert not any(refused[:10])


def test_who_comes_too_early_is_told_when() -> None:
    limit = RateLimit()
    assert limit.wait(0.5, now=100.0) == 0.0
    wait = limit.wait(0.5, now=100.5)
    assert wait == pytest.approx(1.5)
    assert limit.wait(0.5, now=100.5 + wait) == 0.0
    assert limit.wait(None, now=100.6) == 0.0
