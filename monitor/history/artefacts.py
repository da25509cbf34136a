"""Fitted guides as files: a safetensors archive with its description in JSON, and no code in it.

So a guide is fitted once, where the history is, and used by daemons that never see the history.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load, save

from monitor.domain import errors
from monitor.domain.identifiers import Digest, canonical_json
from monitor.domain.suites import Suite
from monitor.stats.answers import Answers
from monitor.stats.guides import GUIDES, Guide
from monitor.stats.profiles import Profile
from monitor.stats.selection import Fit
from monitor.wire import fits

# One entry alone: safetensors writes several in no certain order.
ENTRY = "fitted_guide"
LENGTH_BYTES = 8
FIT_ANEW = "fit it anew with `variant-monitor history fit`"
DAMAGED = f"copy it again, or {FIT_ANEW}"

Arrays = Mapping[str, npt.NDArray[np.float64]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Artefact:
    """A fit and where it comes from."""

    fit: Fit
    origin: fits.Origin

    def header(self) -> fits.FitHeader:
        """What the file says of itself."""
        return fits.FitHeader(
            kind="fitted_guide",
            version=1,
            origin=self.origin,
            guide=self.fit.guide.name,
            candidate=self.fit.candidate,
            floor=self.fit.floor,
            figures=self.fit.figures,
        )


def write_artefact(path: Path, artefact: Artefact) -> None:
    """Write a file that `read_artefact` reads back; the same fit gives the same bytes.

    Raises:
        OSError: it cannot be written.
    """
    beside = path.with_name(f"{path.name}.part")
    beside.write_bytes(encode(artefact))
    beside.replace(path)


def read_artefact(path: Path, suite: Suite) -> Artefact:
    """Read a fitted guide that is to be used on a suite.

    Raises:
        HistoryError: it cannot be read, is damaged, of another format, or of another suite.
    """
    arrays, stated = _load(path)
    header = _header(path, stated, arrays)
    _check_suite(path, header.origin, suite)
    if header.guide not in GUIDES:
        what = f"{header.guide!r} is no guide of this program; there are: {', '.join(GUIDES)}"
        todo = f"use {header.origin.software}, which wrote it, or {FIT_ANEW}"
        raise _refusal(path, what, todo=todo, field="guide")
    try:
        return Artefact(fit=_fit(header, arrays, suite), origin=header.origin)
    except ValueError as error:
        raise _refusal(path, f"its arrays do not fit: {error}", todo=FIT_ANEW) from error


def encode(artefact: Artefact) -> bytes:
    """The one byte string of a fit."""
    fit = artefact.fit
    profile = {} if fit.profile is None else fit.profile.columns()
    arrays = {
        **{f"guide/{name}": column for name, column in fit.guide.columns().items()},
        **{f"profile/{name}": column for name, column in profile.items()},
    }
    arrays = {name: np.ascontiguousarray(arrays[name], dtype="<f8") for name in sorted(arrays)}
    header = artefact.header().document()
    stated = {"digest": digest_of(header, arrays), "header": header}
    return save(arrays, metadata={ENTRY: canonical_json(stated).decode()})


def _load(path: Path) -> tuple[Arrays, object]:
    """The arrays, and what the file says of itself."""
    try:
        content = path.read_bytes()
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise _refusal(path, what, todo="correct the path") from None
    try:
        arrays = load(content)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        what = f"is no safetensors file, or damaged: {error}"
        raise _refusal(path, what, todo=DAMAGED) from error
    length = int.from_bytes(content[:LENGTH_BYTES], "little")
    # What load has accepted begins with its own header in JSON.
    head = json.loads(content[LENGTH_BYTES : LENGTH_BYTES + length])
    try:
        return arrays, json.loads(head["__metadata__"][ENTRY])
    except (KeyError, ValueError) as error:
        what = "is a safetensors file, but of no fitted guide"
        raise _refusal(path, what, todo=FIT_ANEW, field=ENTRY) from error


def _header(path: Path, stated: object, arrays: Arrays) -> fits.FitHeader:
    document = stated.get("header") if isinstance(stated, dict) else None
    try:
        header = fits.decode(canonical_json(document))
    except errors.StateTooNew as error:
        todo = f"use the newer program, or {FIT_ANEW}"
        raise _refusal(path, str(error), todo=todo, field="version") from None
    except (errors.StateCorrupt, ValueError) as error:
        raise _refusal(path, str(error), todo=FIT_ANEW, field="header") from None
    if not isinstance(stated, dict) or stated.get("digest") != digest_of(document, arrays):
        what = "does not belong to what the file holds: it was damaged or edited"
        raise _refusal(path, what, todo=DAMAGED, field="digest")
    return header


def _check_suite(path: Path, origin: fits.Origin, suite: Suite) -> None:
    if origin.suite_digest == suite.digest:
        return
    what = (
        f"it was fitted to {origin.items} items of suite {origin.suite!r} as it was then "
        f"({origin.suite_digest[:12]}), not to suite {suite.name!r} as it is ({suite.digest[:12]})"
    )
    raise _refusal(path, what, todo=FIT_ANEW, field="suite_digest")


def _fit(header: fits.FitHeader, arrays: Arrays, suite: Suite) -> Fit:
    profile = _below("profile/", arrays)
    return Fit(
        guide=_guide(header.guide, _below("guide/", arrays), len(suite.items)),
        candidate=header.candidate,
        profile=Profile.from_columns(profile) if profile else None,
        floor=header.floor,
        figures=header.figures,
    )


def _guide(name: str, columns: Arrays, population: int) -> Guide:
    guide = GUIDES[name].from_columns(columns)
    predicted = len(guide.predict(Answers.from_columns(items=[], scores=[])))
    if predicted != population:
        raise ValueError(f"a guide of {predicted} items, for a suite of {population}")
    return guide


def _below(prefix: str, arrays: Arrays) -> Arrays:
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def digest_of(document: object, arrays: Arrays) -> Digest:
    """SHA-256 over the header and every array, in the order of their names."""
    hashed = hashlib.sha256(canonical_json(document))
    for name in sorted(arrays):
        array = arrays[name]
        hashed.update(canonical_json([name, str(array.dtype), list(array.shape)]))
        hashed.update(array.tobytes())
    return Digest(hashed.hexdigest())


def _refusal(path: Path, what: str, *, todo: str, field: str = "") -> errors.HistoryError:
    where = f"{path}, field {field}" if field else str(path)
    return errors.HistoryError([errors.Problem(where=where, what=what, todo=todo)])
