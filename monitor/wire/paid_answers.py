"""Answers that were paid for, as they are kept: what asking again would only pay for twice."""

from typing import Literal

from pydantic import TypeAdapter

from monitor.domain.answers import ChatRequest, Completed
from monitor.domain.errors import StateCorrupt
from monitor.domain.identifiers import Digest, digest
from monitor.wire import completions, records


class PaidAnswer(records.Record):
    """One completion, whatever it says."""

    kind: Literal["paid_answer"]
    version: Literal[1]
    completed: Completed


PAID_ANSWER = TypeAdapter(PaidAnswer)


def key(base_url: str, request: ChatRequest, *, sample: int, revision: str = "") -> Digest:
    """What an answer is found by: where and what was asked, and for the how-manieth time.

    Args:
        base_url: of the endpoint; a slash at its end makes no difference.
        request: what is asked, model and generation settings included.
        sample: number from 0 of the answer among those to the same request.
        revision: a word that sets answers apart which are otherwise asked for alike.
    """
    asked = completions.encode_request(request)
    apart = [revision] if revision else []
    return digest(["paid_answer", base_url.rstrip("/"), asked, sample, *apart])


def encode(completed: Completed) -> bytes:
    """Canonical JSON of a completion."""
    return PaidAnswer(kind="paid_answer", version=1, completed=completed).to_bytes()


def decode(value: bytes, *, key: Digest) -> Completed:
    """Read back a completion that was found by a key.

    Raises:
        StateTooNew: a newer version of this program wrote it.
        StateCorrupt: it is no such completion.
    """
    try:
        return records.read(PAID_ANSWER, value, what=f"paid answer {key}").completed
    except StateCorrupt as error:
        todo = "delete it from paid_answers.sqlite3, and it is bought anew"
        raise StateCorrupt(f"{error}; {todo}") from error
