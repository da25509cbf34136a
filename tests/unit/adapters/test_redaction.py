import asyncio

import pytest

from monitor.adapters import redaction
from monitor.adapters.redaction import Redaction

ENDLESS = r"(a+)+$"
HOSTILE = "a" * 60 + "!"


def redactor(*patterns: str) -> Redaction:
    return Redaction(patterns, seconds=5.0)


async def test_without_patterns_texts_stay_as_they_are() -> None:
    texts = ["Call 555-0100.", ""]
    assert await redactor()(texts) is texts


@pytest.mark.parametrize(
    ("patterns", "text", "redacted"),
    [
        ([r"\d{3}-\d{4}"], "Call 555-0100 or 555-0199.", "Call [redacted] or [redacted]."),
        ([r"(?i)mr\. \w+", r"\d+"], "Mr. Smith is 42.", "[redacted] is [redacted]."),
        ([r"(\w+)@\w+"], r"me@home \1 \g<0>", r"[redacted] \1 \g<0>"),
        (["x"], "\ud83d\0\n x", "\ud83d\0\n [redacted]"),
        (["x"], "", ""),
    ],
)
async def test_what_a_pattern_matches_is_replaced(
    patterns: list[str], text: str, redacted: str
) -> None:
    assert await redactor(*patterns)([text, "y"]) == [redacted, "y"]


async def test_a_pattern_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "START_SECONDS", 0.5)
    assert await Redaction([ENDLESS], seconds=0.2)([HOSTILE]) is None


async def test_a_redaction_that_is_cancelled_leaves_no_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: asyncio.Queue[asyncio.subprocess.Process] = asyncio.Queue()
    begin = asyncio.create_subprocess_exec

    async def remember(*command: str, **options: object) -> asyncio.subprocess.Process:
        process = await begin(*command, **options)  # type: ignore[arg-type]
        started.put_nowait(process)
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", remember)
    task = asyncio.create_task(redactor(ENDLESS)([HOSTILE]))
    process = await started.get()
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert process.returncode is not None


async def test_where_no_process_can_be_had_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nonexistent")
    assert await redactor("x")(["x"]) is None


async def test_a_process_that_fails_redacts_nothing() -> None:
    assert await redactor("(")(["x"]) is None
