"""Names that the type checker keeps apart, and the digests they are made of."""

import hashlib
import json
from typing import NewType

EvaluationId = NewType("EvaluationId", str)
VariantName = NewType("VariantName", str)
VersionName = NewType("VersionName", str)
SuiteName = NewType("SuiteName", str)
EndpointName = NewType("EndpointName", str)
CredentialName = NewType("CredentialName", str)
ItemId = NewType("ItemId", str)
Digest = NewType("Digest", str)

CLOCK_BITS = 53


def canonical_json(document: object) -> bytes:
    """One byte string per document: sorted keys, no blanks, UTF-8, no NaN.

    Raises:
        ValueError: the document holds a NaN or an infinity.
    """
    text = json.dumps(
        document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode()


def digest(document: object) -> Digest:
    """SHA-256 of the canonical JSON of a document, as 64 hexadecimal digits."""
    return Digest(hashlib.sha256(canonical_json(document)).hexdigest())


def evaluation_id(*, source: str, event_id: str, suite: SuiteName) -> EvaluationId:
    """The same event on the same suite is the same evaluation, however often it is delivered."""
    return EvaluationId(digest([source, event_id, suite])[:32])


def clock_seed(evaluation: EvaluationId) -> Digest:
    """Seed of an evaluation's random numbers: fresh for each evaluation, known from its id."""
    return digest(["clock", evaluation])


def clock_bits(seed: Digest, item: Digest, occurrence: int) -> int:
    """A 53-bit integer for one item of one evaluation.

    Args:
        seed: the evaluation's clock seed.
        item: digest of the item, so that renaming or reordering items changes nothing.
        occurrence: 0 for the first item with this digest, 1 for the second and so on.
    """
    hashed = hashlib.sha256(f"{seed}/{item}/{occurrence}".encode()).digest()
    return int.from_bytes(hashed[:8]) >> (64 - CLOCK_BITS)
