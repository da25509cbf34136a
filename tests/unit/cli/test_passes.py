import asyncio
import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.service.surrogate_pass import SurrogatePass
from monitor.simulation.knobs import Fault, Knobs, Trigger
from tests.unit.app import installations
from tests.unit.app.installations import NOWHERE, Served, served
from tests.unit.cli.terminal import Terminal

PRICE = {"input_per_million": 1000, "output_per_million": 2000}


@pytest.fixture
def endpoint() -> Iterator[Served]:
    with served() as found:
        yield found


def configure(folder: Path, base_url: str = NOWHERE, **own: object) -> None:
    """Suite arithmetic has the surrogate bad, suite other has none."""
    surrogate = {"endpoints": ["bad"], "samples": 2, **own}
    (folder / "other").mkdir(exist_ok=True)
    text = (folder / "suite/suite.yaml").read_text().replace("arithmetic", "other")
    (folder / "other/suite.yaml").write_text(text)
    (folder / "other/items.jsonl").write_text((folder / "suite/items.jsonl").read_text())
    document = installations.document(
        folder,
        suites=[{"path": "suite", "surrogate": surrogate}, {"path": "other"}],
        endpoints={"bad": {"base_url": base_url, "model": "bad", "price": PRICE}},
    )
    (folder / "monitor.yaml").write_text(json.dumps(document))


def test_what_was_bought_is_shown_with_what_it_tells(
    pool: Path, terminal: Terminal, endpoint: Served
) -> None:
    configure(pool, endpoint.base_url)
    asked, shown = terminal.run("surrogate", "ask"), terminal.run("surrogate", "show")
    assert (asked.code, shown.code) == (0, 0)
    row = asked.out.splitlines()[-2].split()
    assert row[:4] == ["arithmetic", "bad", "60", "60"]
    assert "120 requests, " in asked.out
    assert shown.out.splitlines()[-2].split()[:6] == row[:6]
    assert endpoint.asked() == 120


def test_the_cost_is_told_before_and_the_way_on_standard_error(
    pool: Path, terminal: Terminal, endpoint: Served
) -> None:
    configure(pool, endpoint.base_url)
    first, *others = terminal.run("surrogate", "ask").err.splitlines()
    assert first.startswith("suite 'arithmetic', surrogate 'bad': 120 queries, about ")
    assert first.endswith(" USD")
    assert others == [
        f"arithmetic: surrogate bad, {answers} of 120 answers" for answers in (30, 60, 90, 120)
    ]


def test_nothing_is_bought_where_every_answer_is_there(
    pool: Path, terminal: Terminal, endpoint: Served
) -> None:
    configure(pool, endpoint.base_url)
    terminal.run("surrogate", "ask")
    ended = terminal.run("surrogate", "ask")
    assert ended.err == "suite 'arithmetic', surrogate 'bad': every answer is there\n"
    assert "  0 requests, 0.0000 USD  " in ended.out
    assert endpoint.asked() == 120


def test_json_is_everything(pool: Path, terminal: Terminal, endpoint: Served) -> None:
    configure(pool, endpoint.base_url)
    (asked,) = terminal.run("surrogate", "ask", "--json").document()
    (shown,) = terminal.run("surrogate", "show", "--json").document()
    assert {**shown, "bought": asked["bought"], "compared": asked["compared"]} == asked
    assert (asked["suite"], asked["surrogate"], asked["items"]) == ("arithmetic", "bad", 60)
    assert 0.2 < asked["pass_rate"] < 0.8
    assert 0.0 < asked["entropy"] < 0.7
    assert asked["bought"] == asked["in_all"]


def test_a_dry_run_asks_nothing(pool: Path, terminal: Terminal) -> None:
    configure(pool)
    ended = terminal.run("surrogate", "ask", "--dry-run")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("suite 'arithmetic', surrogate 'bad': 120 queries, about ")
    (document,) = terminal.run("surrogate", "ask", "--dry-run", "--json").document()
    assert document["queries"] == 120
    price = document["prompt_tokens"] / 1000 + document["completion_tokens"] / 500
    assert document["cost"] == {"amount": pytest.approx(price), "currency": "USD"}


def test_what_has_not_been_asked_is_shown_so(pool: Path, terminal: Terminal) -> None:
    configure(pool)
    ended = terminal.run("surrogate", "show")
    assert ended.out.splitlines()[4].split() == ["arithmetic", "bad", "60", *"-----", "-"]
    assert ended.out.splitlines()[-1].endswith("run `variant-monitor surrogate ask`")
    (document,) = terminal.run("surrogate", "show", "--json").document()
    assert (document["answered"], document["in_all"]) == (None, None)


def test_comparisons_by_a_judge_are_a_line_of_their_own(
    pool: Path, terminal: Terminal, endpoint: Served
) -> None:
    configure(pool, endpoint.base_url, clustering="judge", judge="bad")
    ended = terminal.run("surrogate", "ask")
    assert "; at most 60 comparisons" in ended.err
    assert "suite 'arithmetic', surrogate 'bad': compared for " in ended.out


MISTAKES = [
    (("--suite", "nope"), "--suite 'nope' is not configured; there are: arithmetic, other"),
    (("--suite", "other"), "no surrogate is configured"),
]


@pytest.mark.parametrize(("options", "message"), MISTAKES)
def test_a_mistake_is_explained(
    options: tuple[str, str], message: str, pool: Path, terminal: Terminal
) -> None:
    configure(pool)
    ended = terminal.run("surrogate", "ask", *options)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err


def test_a_surrogate_that_never_answers_is_given_up(pool: Path, terminal: Terminal) -> None:
    with served(knobs=Knobs(faults={Fault.MALFORMED: Trigger(share=1.0)})) as silent:
        configure(pool, silent.base_url)
        ended = terminal.run("surrogate", "ask")
        assert silent.asked() < 60
    assert ended.code == 2
    assert "questions brought no answer" in ended.err


async def interrupt(*_: object) -> None:
    signal.raise_signal(signal.SIGINT)
    await asyncio.Event().wait()


def test_an_interruption_says_where_it_goes_on(
    pool: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(pool)
    monkeypatch.setattr(SurrogatePass, "run", interrupt)
    ended = terminal.run("surrogate", "ask")
    assert (ended.code, ended.out) == (130, "")
    assert f"interrupted; the answers so far are in {pool}/state/surrogates: " in ended.err
