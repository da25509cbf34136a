from dataclasses import replace

import pytest

from monitor.domain.errors import StateCorrupt, StateTooNew
from monitor.domain.identifiers import Digest, SuiteName
from monitor.domain.surrogates import Clustering, Served, SurrogateSettings, SurrogateSignal
from monitor.wire import signals

SIGNAL = SurrogateSignal(
    suite=SuiteName("sums"),
    suite_digest=Digest("d"),
    surrogate="small",
    served=Served(
        base_url="http://small/v1", model="small", served_model="small-2", fingerprint="fp"
    ),
    settings=SurrogateSettings(samples=3, clustering=Clustering.JUDGE, revision="b"),
    entropy=(0.0, 0.1 + 0.2, 1.0986122886681098),
    consistency=(1.0, 2 / 3, 1 / 3),
    single=(True, False, False),
    pass_rate=(1.0, 0.0, 0.5),
    answered=(3, 3, 0),
    counts={"graded": 6, "timeout": 3},
    prompt_tokens=60,
    completion_tokens=12,
    software="model-variant-monitor 0.1.0",
)


@pytest.mark.parametrize("signal", [SIGNAL, replace(SIGNAL, pass_rate=None)])
def test_a_signal_is_read_back_as_it_was(signal: SurrogateSignal) -> None:
    assert signals.decode(signals.encode(signal)) == signal


@pytest.mark.parametrize(
    ("value", "error", "says"),
    [
        (b"{}", StateCorrupt, "small.json: version"),
        (b'{"version":2}', StateTooNew, "small.json: written in format 2"),
        (signals.encode(replace(SIGNAL, entropy=(0.0,))), StateCorrupt, r"columns of \[1, 3\]"),
        (signals.encode(replace(SIGNAL, pass_rate=())), StateCorrupt, r"columns of \[0, 3\]"),
        (signals.encode(SIGNAL)[:-40], StateCorrupt, "small.json"),
    ],
)
def test_what_cannot_be_read_is_refused(value: bytes, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        signals.decode(value, what="small.json")


def test_a_number_that_is_none_is_not_written() -> None:
    with pytest.raises(ValueError, match="finite"):
        signals.encode(replace(SIGNAL, entropy=(float("nan"), 0.0, 0.0)))
