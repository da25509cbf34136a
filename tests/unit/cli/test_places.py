from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.cli.places import SurrogatePlace
from tests.unit.app.installations import NOWHERE, Served, served
from tests.unit.cli.terminal import Ended, Terminal

pytestmark = pytest.mark.slow

SAMPLES = 2
PASS = SAMPLES * 60


@pytest.fixture
def endpoint() -> Iterator[Served]:
    with served() as found:
        yield found


def evaluate(terminal: Terminal, *options: object, base_url: str = NOWHERE) -> Ended:
    """Evaluate the model good, with bad as its surrogate."""
    named = {"suite": "suite", "base-url": base_url, "model": "good", "version": "1"}
    surrogate = {"surrogate-url": base_url, "surrogate-model": "bad", "surrogate-samples": SAMPLES}
    words = [word for name, value in (named | surrogate).items() for word in (f"--{name}", value)]
    return terminal.run("evaluate", *words, "--budget", "45", *options)


MISTAKES = [
    (("--surrogate-url", ""), "--surrogate-url and --surrogate-model go together"),
    (("--surrogate-url", "ftp://x"), "--surrogate-url: must be an http or https URL"),
    (("--surrogate-url", "http://127.1/v1"), "--surrogate-url: its host is not allowed"),
    (("--surrogate-credential-env", "lower"), "--surrogate-credential-env: must be the name of"),
    (("--surrogate-credential-env", "ABSENT"), "environment variable ABSENT is not set"),
    (("--surrogate-price", "1"), "price '1' is not IN/OUT"),
    (("--surrogate-price", "1/-1"), "--surrogate-price: must be greater than or equal to 0"),
    (("--price", "a/b"), "price 'a/b' is not IN/OUT"),
    (("--price", "nan/1"), "--price: must be a finite number"),
    (("--surrogate-samples", "0"), "--surrogate-samples"),
]


@pytest.mark.parametrize(("options", "message"), MISTAKES)
@pytest.mark.usefixtures("pool")
def test_a_mistake_is_explained(options: tuple[str, str], message: str, terminal: Terminal) -> None:
    ended = evaluate(terminal, *options)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err


@pytest.mark.usefixtures("pool")
def test_a_price_needs_a_surrogate(terminal: Terminal) -> None:
    ended = evaluate(
        terminal,
        *("--surrogate-url", "", "--surrogate-model", "", "--surrogate-price", "1/1"),
    )
    assert "--surrogate-url and --surrogate-model are missing" in ended.err


@pytest.mark.parametrize(
    ("model", "name"), [("small", "small"), ("Qwen/Qwen3 0.6B", "Qwen-Qwen3-0.6B"), ("??", "surr")]
)
def test_plans_name_the_surrogate_by_its_model(model: str, name: str) -> None:
    place = SurrogatePlace.of(base_url="u", model=model, credential_env="", samples=1, price="")
    assert place is not None
    assert place.endpoint.startswith(name)


def test_a_dry_run_tells_both_prices_and_asks_nothing(pool: Path, terminal: Terminal) -> None:
    prices = ("--price", "1/2", "--surrogate-price", "0.5/1")
    ended = evaluate(terminal, "--dry-run", *prices, "--state", pool / "kept")
    assert (ended.code, ended.err) == (0, "")
    surrogate, version = ended.out.splitlines()
    assert surrogate.startswith(f"suite 'arithmetic', surrogate 'bad': {PASS} queries, about ")
    assert version.startswith("version '1': 45 queries, about ")
    assert surrogate.endswith(" USD")
    assert version.endswith(" USD")
    assert not (pool / "kept").exists()


@pytest.mark.usefixtures("pool")
def test_a_dry_run_without_prices_or_surrogate(terminal: Terminal) -> None:
    none = ("--surrogate-url", "", "--surrogate-model", "")
    found = evaluate(terminal, "--dry-run", "--json", *none).document()
    assert found["surrogates"] == []
    assert (found["version"]["queries"], found["version"]["cost"]) == (45, None)
    assert "no price configured" in evaluate(terminal, "--dry-run", *none).out


def test_the_surrogate_is_asked_once_and_billed_to_the_first_version(
    pool: Path, terminal: Terminal, endpoint: Served
) -> None:
    options = ("--state", pool / "kept", "--json", "--method", "neyman")
    first, again, second = (
        evaluate(terminal, *options, "--version", version, base_url=endpoint.base_url)
        for version in ("1", "1", "2")
    )
    assert endpoint.asked() == PASS + 2 * 45
    assert first.document() == again.document()
    assert "surrogate bad, 120 of 120 answers" in first.err
    assert first.document()["data"]["spend"]["others"]["surrogate"]["attempts"] == PASS
    assert "others" not in second.document()["data"]["spend"]
    for ended in (first, second):
        plan = ended.document()["data"]["statistics"]["plan"]
        assert "about equally hard for surrogate bad, as asked." in plan["reason"]


def test_other_settings_of_the_surrogate_are_another_evaluation(
    pool: Path, terminal: Terminal, endpoint: Served
) -> None:
    options = ("--state", pool / "kept", "--json")
    ids = {
        evaluate(terminal, *options, *more, base_url=endpoint.base_url).document()["id"]
        for more in ((), ("--surrogate-samples", "3"), ("--surrogate-price", "1/1"))
    }
    assert len(ids) == 2
    assert endpoint.asked() == 3 * 60 + 2 * 45
