import json
from datetime import date

import pytest

from monitor.domain.errors import StateCorrupt, StateTooNew
from monitor.domain.identifiers import SuiteName, digest
from monitor.stats.replays import Figure
from monitor.wire import fits

HEADER = fits.FitHeader(
    kind="fitted_guide",
    version=1,
    origin=fits.Origin(
        suite=SuiteName("arithmetic"),
        suite_digest=digest("suite"),
        items=60,
        models=("m-1", "m-2"),
        history_digest=digest("history"),
        before=date(2026, 11, 29),
        exclude=("chat-*",),
        software="model-variant-monitor/0.1.0",
    ),
    guide="item_mean",
    candidate="",
    floor=0.25,
    figures=(Figure(n=30, ess_ratio=1.5, error=0.1, share_below=0.25, models=4),),
)
# As files of the first format hold it: this must stay readable.
STORED = (
    b'{"candidate":"","figures":[{"error":0.1,"ess_ratio":1.5,"models":4,"n":30,"share_below":0.25}],'
    b'"floor":0.25,"guide":"item_mean","kind":"fitted_guide","origin":{"before":"2026-11-29",'
    b'"exclude":["chat-*"],"history_digest":"'
    + digest("history").encode()
    + b'","items":60,"models":["m-1","m-2"],"software":"model-variant-monitor/0.1.0",'
    b'"suite":"arithmetic","suite_digest":"' + digest("suite").encode() + b'"},"version":1}'
)


def test_a_header_is_written_and_read_as_ever() -> None:
    assert HEADER.to_bytes() == STORED
    assert fits.decode(STORED) == HEADER


def changed(**fields: object) -> bytes:
    return json.dumps(json.loads(STORED) | fields).encode()


def test_what_a_later_writer_adds_is_ignored() -> None:
    assert fits.decode(changed(mood="good")) == HEADER


def test_a_newer_format_is_refused() -> None:
    with pytest.raises(StateTooNew, match="written in format 2, this program reads up to 1"):
        fits.decode(changed(version=2))


@pytest.mark.parametrize(
    "value",
    [b"{", b"null", changed(version=0), changed(floor=0.0), changed(guide=None)],
)
def test_what_is_no_header_is_refused(value: bytes) -> None:
    with pytest.raises(StateCorrupt, match="fitted guide: "):
        fits.decode(value)
