"""Chance that can be repeated: the same question always gets the same luck."""

import hashlib

from monitor.domain.identifiers import canonical_json


def uniform(*parts: str | int) -> float:
    """A number in (0, 1) that depends on `parts` alone, evenly spread over different parts."""
    hashed = hashlib.sha256(canonical_json(list(parts))).digest()
    return ((int.from_bytes(hashed[:8]) >> 12) + 0.5) / (1 << 52)
