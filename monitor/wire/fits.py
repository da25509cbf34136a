"""What the file of a fitted guide says of itself, beside the numbers that it holds."""

from datetime import date
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from monitor.domain.identifiers import Digest, SuiteName
from monitor.stats.replays import Figure
from monitor.wire import records

WHAT = "fitted guide"


class Origin(records.Record):
    """What a guide was fitted from.

    models: name of each row that was learnt from, oldest first. before, exclude: what was left out
    by whoever fitted it. software: name and version of the program.
    """

    suite: SuiteName
    suite_digest: Digest
    items: int
    models: tuple[str, ...]
    history_digest: Digest
    before: date | None
    exclude: tuple[str, ...]
    software: str


class FitHeader(records.Record):
    """The file's header, without the digest that covers it.

    guide: name in the table of guides; the arrays named guide/... are its columns, those named
    profile/... the weights profile's. candidate: the choice that replays made.
    """

    kind: Literal["fitted_guide"]
    version: Literal[1]
    origin: Origin
    guide: str
    candidate: str
    floor: Annotated[float, Field(gt=0, le=1)]
    figures: tuple[Figure, ...]


HEADER = TypeAdapter(FitHeader)


def decode(value: bytes) -> FitHeader:
    """Read a header back.

    Raises:
        StateTooNew: a newer version of this program wrote it.
        StateCorrupt: it is no such header.
    """
    return records.read(HEADER, value, what=WHAT)
