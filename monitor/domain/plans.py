"""The frozen plan of an evaluation and the rows of its journal.

An evaluation is a fold over these rows; everything else is derived from them.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from monitor.domain.answers import Answer
from monitor.domain.identifiers import (
    Digest,
    EvaluationId,
    SuiteName,
    VariantName,
    VersionName,
)
from monitor.domain.policies import Method, Objective
from monitor.domain.results import Baseline, NoBaseline, Outcome

USUAL_FLOOR = 0.1
"""The floor of every plan that names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Who is evaluated on what, and the event that asked for it."""

    evaluation_id: EvaluationId
    variant: VariantName
    version: VersionName
    suite: SuiteName
    suite_digest: Digest
    model: str
    event_source: str
    event_id: str
    topic: str
    partition: int
    offset: int
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """The four choices that turn draws into an interval, by their names in the tables.

    guide_digest: of the fitted guide; the guide itself is rebuilt from the same history.
    dispersion: phi of the guide's Bernoulli variance, 1 for 0/1 scores.
    floor: share of each draw that goes evenly to all items, whatever the guide says.
    """

    design: str
    guide: str
    guide_digest: Digest
    estimator: str
    interval: str
    dispersion: float
    level: float
    floor: float = USUAL_FLOOR


@dataclass(frozen=True, slots=True, kw_only=True)
class Strata:
    """A partition of the pool, and how many draws each part of it gets.

    labels: (N,) stratum of each item, numbered from 0.
    draws: (H,) at least 1 each, summing to n.
    """

    labels: tuple[int, ...]
    draws: tuple[int, ...]

    def __post_init__(self) -> None:
        """Every stratum has as many items as draws, or more."""
        sizes = Counter(self.labels)
        if not sizes or sizes.keys() != set(range(len(self.draws))):
            raise ValueError(f"strata: labels must be 0 to {len(self.draws) - 1}, each with items")
        if not all(1 <= drawn <= sizes[label] for label, drawn in enumerate(self.draws)):
            raise ValueError("strata: draws must be 1 to the number of items of each stratum")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that is decided before the first draw; nothing that happens changes it.

    draws: n; population: N; round_sizes: positive, summing to n.
    weights: W_t, n of them, summing to 1; a stratified design has those of its strata instead.
    attempts_allowed: attempts for all draws together, retries included.
    reason: a sentence saying why this design was chosen.
    strata: of a stratified design, None otherwise; signal_digest: of what they were made from.
    format_level: of the two-sided test for a change of format; None in plans from before it.
    judges: models that judge the answers, sorted; answers of two panels are never mixed.
    """

    subject: Subject
    method: Method
    objective: Objective
    inference: Inference
    population: int
    draws: int
    round_sizes: tuple[int, ...]
    weights: tuple[float, ...]
    clock_seed: Digest
    attempts_allowed: int
    missing_limit: float
    baseline: Baseline | NoBaseline
    reason: str
    history_digest: Digest | None
    software: str
    strata: Strata | None = None
    signal_digest: Digest | None = None
    format_level: float | None = None
    judges: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """One draw as it was made: what its weight in the estimate will need.

    item: index into the suite; probability: q_t(I_t), from strata n_h/N_h; prediction: p_I at the
    draw. rest_prediction_sum: sum of p over the items not yet drawn, this one included; over all
    items where the design can draw an item again, over the item's stratum where there are strata.
    model_variance: v_t. group_*: the same for the item's group (guides.md, "Groups").
    """

    step: int
    round: int
    item: int
    probability: float
    prediction: float
    rest_prediction_sum: float
    model_variance: float
    group_mass: float
    group_rest_prediction_sum: float
    group_model_variance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """First row: the plan, and when it was made (with an offset from UTC)."""

    plan: Plan
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A round of draws, stored before any of its questions goes out."""

    draws: tuple[Draw, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """Answers that arrived together, of any open rounds."""

    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """A new owner took over while `pending` questions were unanswered: they may be paid twice."""

    pending: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """Last row: the evaluation is over and its result is published."""

    outcome: Outcome
    statistics_digest: Digest


Row = Planned | Drawn | Answered | Resumed | Ended
