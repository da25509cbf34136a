"""What a surrogate's answers say about a suite, as a file that evaluations read.

So a surrogate is asked once for a suite, wherever that is cheap, and daemons need neither it nor
its answers.
"""

from typing import Literal

from pydantic import TypeAdapter

from monitor.domain.errors import StateCorrupt
from monitor.domain.identifiers import Digest, SuiteName
from monitor.domain.surrogates import Served, SurrogateSettings, SurrogateSignal
from monitor.wire import columns, records


class SignalRecord(records.Record):
    """The fields of a `SurrogateSignal`, those of N values as columns.

    entropy, consistency, pass_rate: float64. single: uint8, 1 for yes. answered: int32.
    """

    kind: Literal["surrogate_signal"]
    version: Literal[1]
    suite: SuiteName
    suite_digest: Digest
    surrogate: str
    served: Served
    settings: SurrogateSettings
    entropy: columns.Column
    consistency: columns.Column
    single: columns.Column
    pass_rate: columns.Column | None
    answered: columns.Column
    counts: dict[str, int]
    prompt_tokens: int
    completion_tokens: int
    software: str


RECORD = TypeAdapter(SignalRecord)


def encode(signal: SurrogateSignal) -> bytes:
    """Canonical JSON of a signal.

    Raises:
        ValueError: a number is not finite.
    """
    rates = signal.pass_rate
    return SignalRecord(
        kind="surrogate_signal",
        version=1,
        suite=signal.suite,
        suite_digest=signal.suite_digest,
        surrogate=signal.surrogate,
        served=signal.served,
        settings=signal.settings,
        entropy=columns.pack_floats(signal.entropy),
        consistency=columns.pack_floats(signal.consistency),
        single=columns.pack_integers([int(each) for each in signal.single], "uint8"),
        pass_rate=None if rates is None else columns.pack_floats(rates),
        answered=columns.pack_integers(signal.answered, "int32"),
        counts=dict(signal.counts),
        prompt_tokens=signal.prompt_tokens,
        completion_tokens=signal.completion_tokens,
        software=signal.software,
    ).to_bytes()


def decode(value: bytes, *, what: str = "surrogate signal") -> SurrogateSignal:
    """Read a signal back, equal to the one that was encoded.

    Args:
        value: the content of a file.
        what: names it in the text of an error.

    Raises:
        StateTooNew: a newer version of this program wrote it.
        StateCorrupt: it is no such file, or its columns are of different lengths.
    """
    record = records.read(RECORD, value, what=what)
    try:
        signal = _to_signal(record)
    except ValueError as error:
        raise StateCorrupt(f"{what}: {error}") from error
    rates = signal.entropy if signal.pass_rate is None else signal.pass_rate
    lengths = {
        len(column)
        for column in (signal.entropy, signal.consistency, signal.single, signal.answered, rates)
    }
    if len(lengths) > 1:
        raise StateCorrupt(f"{what}: columns of {sorted(lengths)} items")
    return signal


def _to_signal(record: SignalRecord) -> SurrogateSignal:
    rates = record.pass_rate
    return SurrogateSignal(
        suite=record.suite,
        suite_digest=record.suite_digest,
        surrogate=record.surrogate,
        served=record.served,
        settings=record.settings,
        entropy=columns.unpack_floats(record.entropy),
        consistency=columns.unpack_floats(record.consistency),
        single=tuple(map(bool, columns.unpack_integers(record.single))),
        pass_rate=None if rates is None else columns.unpack_floats(rates),
        answered=columns.unpack_integers(record.answered),
        counts=record.counts,
        prompt_tokens=record.prompt_tokens,
        completion_tokens=record.completion_tokens,
        software=record.software,
    )
