"""A version that only answers in another form, and one that really fails, told apart over HTTP."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from monitor.adapters.embedded.kept_answers import SqliteKeptAnswers
from monitor.adapters.suite_files import write_suite
from monitor.app.replays import replay
from monitor.app.single import Evaluator, evaluator
from monitor.domain.answers import Status
from monitor.domain.identifiers import EndpointName, EvaluationId, VersionName
from monitor.domain.kept_answers import KeptAnswer
from monitor.domain.results import Outcome
from monitor.ports import Published
from monitor.settings import Settings
from monitor.simulation import serving, suites, texts
from monitor.simulation.answers import SimulatedModel, item_response_book
from monitor.simulation.knobs import Fault, Knobs, Trigger
from monitor.simulation.server import Simulation
from monitor.wire import results
from tests.unit.app.installations import event

SUITE = suites.arithmetic_suite(400)
BOOK = item_response_book(
    [
        SimulatedModel(name="first", accuracy=0.8),
        SimulatedModel(name="reformatted", accuracy=0.8, version_of="first"),
        SimulatedModel(name="worse", accuracy=0.4, version_of="first"),
    ],
    items=[str(item.id) for item in SUITE.items],
)
KNOBS = {
    "first": Knobs(),
    "reformatted": Knobs(faults={Fault.NO_ANSWER: Trigger(share=0.35)}),
    "worse": Knobs(),
}


def settings(folder: Path, urls: Mapping[str, str]) -> Settings:
    write_suite(SUITE, folder / "suite")
    return Settings.model_validate(
        {
            "suites": [{"path": folder / "suite"}],
            "endpoints": {name: {"base_url": url, "model": name} for name, url in urls.items()},
            "state": {"directory": folder / "state"},
            "policies": [{"budget": 100}],
            "kept_answers": {"redact": ["not sure"]},
            "http": {"port": None},
        }
    )


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Evaluator]:
    async with AsyncExitStack() as stack:
        urls = {
            name: await stack.enter_async_context(
                serving.serving_async(Simulation(SUITE, BOOK, knobs=knobs))
            )
            for name, knobs in KNOBS.items()
        }
        yield await stack.enter_async_context(evaluator(settings(tmp_path, urls)))


async def evaluated(opened: Evaluator, model: str) -> Published:
    wanted = replace(
        event(model), version=VersionName(model), endpoint=EndpointName(model), suites=(SUITE.name,)
    )
    return await opened.evaluate(wanted)


async def kept(folder: Path, evaluation_id: EvaluationId) -> list[KeptAnswer]:
    store = await SqliteKeptAnswers.look(folder / "state")
    found = await store.find(evaluation_id)
    await store.close()
    return list(found)


async def test_another_form_is_suspected_and_the_answers_show_it(
    opened: Evaluator, tmp_path: Path
) -> None:
    await evaluated(opened, "first")
    published = await evaluated(opened, "reformatted")
    found = results.decode(published.result).findings()
    assert found.verdict.outcome is Outcome.NOT_MET
    assert "format change suspected: " in found.verdict.sentence
    assert found.doubt is not None
    assert found.doubt.ungraded == {"no_answer": pytest.approx(0.35, abs=0.15)}
    answers = await kept(tmp_path, published.evaluation_id)
    assert len(answers) == found.counts["no_answer"]
    assert {(each.status, each.text) for each in answers} == {
        (Status.NO_ANSWER, texts.NO_ANSWER.replace("not sure", "[redacted]"))
    }
    assert texts.NO_ANSWER.encode() not in published.result + b"".join(published.outcomes)
    replay(published)


async def test_worse_answers_in_the_usual_form_are_just_worse(
    opened: Evaluator, tmp_path: Path
) -> None:
    await evaluated(opened, "first")
    published = await evaluated(opened, "worse")
    found = results.decode(published.result).findings()
    assert found.verdict.outcome is Outcome.NOT_MET
    assert "format change" not in found.verdict.sentence
    assert await kept(tmp_path, published.evaluation_id) == []
    replay(published)
