from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from monitor.adapters.entailment import LocalEntailment
from monitor.app import surrogates
from monitor.app.signals import SignalFiles
from monitor.app.surrogates import Bought, open_passes, prepare
from monitor.domain.errors import ConfigError, StateLocked, SurrogateError, UsageError
from monitor.domain.facts import SurrogateAttempted
from monitor.domain.results import Money, Purpose, SpendLine
from monitor.settings import Settings
from monitor.simulation.knobs import Fault, Knobs, Trigger
from tests.unit.app import installations
from tests.unit.app.installations import ITEMS, NOWHERE, Served, served
from tests.unit.service.fakes import Facts

pytestmark = pytest.mark.slow

SAMPLES = 2
ANSWERS = SAMPLES * len(ITEMS)
PRICE = {"input_per_million": 1000, "output_per_million": 0}


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    return installations.write_pool(tmp_path)


@pytest.fixture
def endpoint() -> Iterator[Served]:
    with served() as found:
        yield found


def configured(folder: Path, base_url: str = NOWHERE, **own: object) -> Settings:
    surrogate = {"endpoints": ["bad"], "samples": SAMPLES, **own}
    place = {"base_url": base_url, "price": PRICE}
    return installations.configured(
        folder,
        suites=[{"path": str(folder / "suite"), "surrogate": surrogate}],
        endpoints={
            "bad": {**place, "model": "bad"},
            "good": {**place, "model": "good"},
            "locked": {"base_url": NOWHERE, "model": "m", "credential": "absent"},
        },
        credentials={"absent": {"env": "ABSENT"}},
    )


async def run(settings: Settings, facts: Facts | None = None) -> Bought:
    async with open_passes(settings, telemetry=facts or Facts()) as passes:
        (each,) = passes.every
        return await passes.run(each)


async def forecast(settings: Settings) -> tuple[int, int]:
    """Queries and comparisons."""
    async with open_passes(settings, telemetry=Facts(), dry_run=True) as passes:
        found = await passes.forecast(*passes.every)
    return found.queries, found.comparisons


async def test_a_pass_is_paid_once_and_can_be_read_by_everybody(
    pool: Path, endpoint: Served
) -> None:
    settings = configured(pool, endpoint.base_url)
    first, again = await run(settings), await run(settings)
    assert (first.now.attempts, again.now.attempts, endpoint.asked()) == (ANSWERS, 0, ANSWERS)
    assert again.known == first.known
    assert surrogates.known(settings) == [first.known]
    assert first.known.in_all == first.now
    assert first.now.cost == Money(amount=first.now.prompt_tokens / 1000, currency="USD")


async def test_what_is_there_is_not_forecast(pool: Path, endpoint: Served) -> None:
    await run(configured(pool, endpoint.base_url))
    assert await forecast(configured(pool, endpoint.base_url)) == (0, 0)
    assert await forecast(configured(pool, endpoint.base_url, samples=3)) == (len(ITEMS), 0)


async def test_a_dry_run_leaves_nothing_behind(pool: Path) -> None:
    assert await forecast(configured(pool)) == (ANSWERS, 0)
    assert not (pool / "state").exists()


async def test_one_process_asks_at_a_time(pool: Path) -> None:
    settings = configured(pool)
    async with open_passes(settings, telemetry=Facts()):
        with pytest.raises(StateLocked, match="in use by process"):
            await run(settings)
        assert await forecast(settings) == (ANSWERS, 0)


async def test_a_secret_that_surrogates_need_must_be_there(pool: Path) -> None:
    with pytest.raises(ConfigError, match="ABSENT is not set"):
        await run(configured(pool, endpoints=["locked"]))


async def test_a_judge_compares_on_its_own_account(pool: Path, endpoint: Served) -> None:
    """The simulated one rejects every comparison, as it knows the suite alone."""
    settings = configured(pool, endpoint.base_url, clustering="judge", judge="good")
    assert (await forecast(settings))[1] == len(ITEMS)
    facts = Facts()
    bought = await run(settings, facts)
    purposes = [fact.purpose for fact in facts.of(SurrogateAttempted)]
    assert purposes.count(Purpose.JUDGE) == bought.compared.attempts > 0
    assert bought.now.attempts == purposes.count(Purpose.SURROGATE) == ANSWERS


class Agreeing:
    """Implements `ports.Entailment`: everything means the same."""

    async def entails(self, pairs: Sequence[tuple[str, str]]) -> Sequence[bool]:
        return [True] * len(pairs)


async def test_a_model_of_entailment_compares(
    pool: Path, endpoint: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []

    async def opening(model: str, **_: object) -> Agreeing:
        opened.append(model)
        return Agreeing()

    monkeypatch.setattr(LocalEntailment, "open", opening)
    entailment = {"clustering": "entailment", "entailment_model": "nli"}
    bought = await run(configured(pool, endpoint.base_url, **entailment))
    assert opened == ["nli"]
    assert bought.known.signal is not None
    assert all(bought.known.signal.single)


async def test_a_surrogate_that_is_down_leaves_no_signal(pool: Path) -> None:
    knobs = Knobs(faults={Fault.QUOTA: Trigger(share=1.0)})
    with served(knobs=knobs) as refusing:
        settings = configured(pool, refusing.base_url)
        with pytest.raises(SurrogateError, match="'bad'"):
            await run(settings)
    assert surrogates.known(settings)[0].signal is None


@pytest.mark.parametrize(
    ("own", "suites", "message"),
    [
        ({}, ["nope"], "--suite 'nope' is not configured; there are: arithmetic"),
        (None, [], "no surrogate is configured"),
    ],
)
def test_what_cannot_be_asked_is_told(
    own: dict[str, object] | None, suites: list[str], message: str, pool: Path
) -> None:
    settings = installations.configured(pool) if own is None else configured(pool)
    with pytest.raises(UsageError, match=message):
        surrogates.known(settings, suites)


async def bill(settings: Settings, buyer: str, told: list[str]) -> SpendLine | None:
    return await prepare(
        settings,
        buyer=buyer,
        telemetry=Facts(),
        tell=lambda of, forecast: told.append(f"{of.name} {forecast.queries}"),
    )


async def test_whoever_has_it_asked_is_told_and_pays_for_it(pool: Path, endpoint: Served) -> None:
    settings, told = configured(pool, endpoint.base_url), list[str]()
    bills = [await bill(settings, buyer, told) for buyer in ("first", "second", "first")]
    assert bills[0] is not None
    assert bills[0].attempts == ANSWERS
    assert bills == [bills[0], None, bills[0]]
    assert (told, endpoint.asked()) == ([f"bad {ANSWERS}"], ANSWERS)


async def test_what_was_asked_beforehand_is_nobodys(pool: Path, endpoint: Served) -> None:
    settings = configured(pool, endpoint.base_url)
    await run(settings)
    assert await bill(settings, "first", []) is None
    (known,) = surrogates.known(settings)
    assert not SignalFiles(settings.surrogates_directory).claim(known.wanted, "first")
