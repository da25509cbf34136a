"""Everything that can go wrong at a simulated endpoint, and when it does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from math import exp, isfinite
from statistics import NormalDist
from typing import Any

from monitor.domain import errors
from monitor.simulation import chance

OPTIONAL = ("rate", "retry_after")


class Fault(StrEnum):
    """One way of not answering as asked; where several are due, the first of this list happens."""

    RATE_LIMIT = "rate_limit"
    QUOTA = "quota"
    SERVER_ERROR = "server_error"
    CONTEXT_LENGTH = "context_length"
    CONTENT_FILTER = "content_filter"
    HANG = "hang"
    DISCONNECT = "disconnect"
    MALFORMED = "malformed"
    NO_CHOICES = "no_choices"
    EMPTY_CONTENT = "empty_content"
    REASONING_ONLY = "reasoning_only"
    TRUNCATED = "truncated"
    REFUSAL = "refusal"
    NO_ANSWER = "no_answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """When a fault happens: on the attempts that fit all three; with none set, on every one.

    share: of the attempts, by a hash of model, item and attempt number.
    items: ids; None for all. first: only on so many first attempts at an item; None for all.
    """

    share: float = 1.0
    items: frozenset[str] | None = None
    first: int | None = None

    def __post_init__(self) -> None:
        """A share inside [0, 1], a count of attempts.

        Raises:
            UsageError: it is not.
        """
        if not 0.0 <= self.share <= 1.0:
            raise errors.UsageError(f"share {self.share} is not in [0, 1]")
        if self.first is not None and self.first < 0:
            raise errors.UsageError(f"first {self.first} is negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A request as the knobs see it; number counts from 0 for each model and item."""

    model: str
    item: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Knobs:
    """Settings of a simulated endpoint's behaviour.

    faults: what goes wrong when. seed: of every share and of the latency.
    latency: median seconds until an answer; latency_sigma: standard deviation of its logarithm.
    hang: seconds after which a hanging request ends with an error 504.
    rate: answers a second (a second's worth at once), beyond which 429 is sent; None: any.
    retry_after: seconds that a 429 by a trigger says to wait; None leaves the header out.
    scatter: how far answers at a temperature above 0 leave the book: a right one is given with
        probability (1 - scatter) x the model's outcome + scatter x the share of models right.
    """

    faults: Mapping[Fault, Trigger] = field(default_factory=dict)
    seed: int = 0
    latency: float = 0.0
    latency_sigma: float = 0.0
    hang: float = 600.0
    rate: float | None = None
    retry_after: float | None = 1.0
    scatter: float = 0.4

    def __post_init__(self) -> None:
        """Times and rates that can be kept.

        Raises:
            UsageError: one of them is negative or not finite, the rate is 0, or scatter above 1.
        """
        for name in ("latency", "latency_sigma", "hang", "rate", "retry_after", "scatter"):
            value = getattr(self, name)
            if value is not None and not (isfinite(value) and value >= 0.0):
                raise errors.UsageError(f"{name} {value} is not a number from 0 on")
        if self.rate == 0.0:
            raise errors.UsageError("rate 0 answers nothing; leave it out for no limit")
        if self.scatter > 1.0:
            raise errors.UsageError(f"scatter {self.scatter} is not in [0, 1]")

    def fault(self, attempt: Attempt) -> Fault | None:
        """What goes wrong on an attempt, the same each time it is asked; None: nothing."""
        due = (fault for fault in Fault if self._is_due(fault, attempt))
        return next(due, None)

    def seconds(self, attempt: Attempt) -> float:
        """How long the answer to an attempt takes, the same each time it is asked."""
        if not self.latency_sigma:
            return self.latency
        luck = chance.uniform("latency", self.seed, attempt.model, attempt.item, attempt.number)
        return self.latency * exp(self.latency_sigma * NormalDist().inv_cdf(luck))

    def _is_due(self, fault: Fault, attempt: Attempt) -> bool:
        trigger = self.faults.get(fault)
        if trigger is None:
            return False
        luck = chance.uniform(fault, self.seed, attempt.model, attempt.item, attempt.number)
        return (
            luck < trigger.share
            and (trigger.items is None or attempt.item in trigger.items)
            and (trigger.first is None or attempt.number < trigger.first)
        )


def parse_knobs(document: object) -> Knobs:
    """Knobs from JSON; what is left out has its default.

    The names are those of `Knobs`; a fault is a share, as in `"server_error": 0.1`, or the fields
    of a trigger: `"hang": {"items": ["a", "b"], "first": 1}`.

    Raises:
        UsageError: a name is unknown, or a value does not fit it.
    """
    given = dict(_mapping(document, "the knobs", known=[each.name for each in fields(Knobs)]))
    faults = _mapping(given.pop("faults", {}), "faults", known=list(Fault))
    settings: dict[str, Any] = {}
    for name, value in given.items():
        if name == "seed":
            settings[name] = _count(value, name)
        elif value is None and name in OPTIONAL:
            settings[name] = None
        else:
            settings[name] = _number(value, name)
    triggers = {Fault(name): _trigger(value, name) for name, value in faults.items()}
    return Knobs(faults=triggers, **settings)


def knobs_document(knobs: Knobs) -> dict[str, Any]:
    """The JSON that `parse_knobs` reads back as the same knobs."""
    document: dict[str, Any] = {each.name: getattr(knobs, each.name) for each in fields(Knobs)}
    document["faults"] = {
        str(fault): {
            "share": trigger.share,
            "items": None if trigger.items is None else sorted(trigger.items),
            "first": trigger.first,
        }
        for fault, trigger in knobs.faults.items()
    }
    return document


def _trigger(document: object, fault: str) -> Trigger:
    if not isinstance(document, Mapping):
        return Trigger(share=_number(document, fault))
    given = _mapping(document, fault, known=[each.name for each in fields(Trigger)])
    items, first = given.get("items"), given.get("first")
    return Trigger(
        share=_number(given.get("share", 1.0), f"{fault}.share"),
        items=None if items is None else _names(items, f"{fault}.items"),
        first=None if first is None else _count(first, f"{fault}.first"),
    )


def _mapping(document: object, name: str, *, known: Sequence[str]) -> Mapping[str, object]:
    if not isinstance(document, Mapping):
        raise errors.UsageError(f"{name} must be an object, not {document!r}")
    unknown = sorted(set(map(str, document)) - set(known))
    if unknown:
        raise errors.UsageError(f"{name}: {unknown[0]!r} is unknown; known are {', '.join(known)}")
    return document


def _names(value: object, name: str) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise errors.UsageError(f"{name} must be a list of item ids, not {value!r}")
    return frozenset(value)


def _count(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise errors.UsageError(f"{name} must be a whole number, not {value!r}")
    return value


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise errors.UsageError(f"{name} must be a number, not {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise errors.UsageError(f"{name} must be a number that fits a float") from None
