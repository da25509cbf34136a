"""What is asked and how it is graded."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, assert_never

from monitor.domain.identifiers import Digest, ItemId, SuiteName, clock_bits, digest

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """Words inside a message."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePart:
    """A picture inside a message: an https or data URL, sent as it is."""

    url: str


Part = TextPart | ImagePart


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a chat."""

    role: Role
    content: str | tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderSpec:
    """Name of a grader and its options, as written in the suite."""

    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One question of a suite, with the fields of Inspect's `Sample`.

    `digest` covers what is asked and what counts as right, not the id.
    """

    id: ItemId
    input: str | tuple[Message, ...]
    target: tuple[str, ...]
    choices: tuple[str, ...] = ()
    group: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    grader: GraderSpec | None = None
    digest: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """How the endpoint is asked to generate; None leaves a setting to the endpoint."""

    temperature: float | None = 0.0
    top_p: float | None = None
    max_tokens: int = 512
    seed: int | None = None
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRules:
    """What a suite decides about answers that a grader never sees.

    grade_reasoning: grade the reasoning text where the content is empty.
    refusal_score: score of a refusal or filtered content; 1 suits a suite in which to refuse is
        right.
    latency_objective: an attempt that used up its time limit is wrong, not missing.
    """

    grade_reasoning: bool = False
    refusal_score: float = 0.0
    latency_objective: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Templates in Jinja syntax; `user` may name input, choices, metadata."""

    user: str = "{{ input }}"
    system: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A fixed pool of items with one way of asking and grading."""

    name: SuiteName
    items: tuple[Item, ...]
    prompt: Prompt
    generation: Generation
    grader: GraderSpec
    rules: AnswerRules = AnswerRules()
    digest: Digest

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups that occur, sorted."""
        return tuple(sorted({item.group for item in self.items if item.group is not None}))

    @property
    def group_labels(self) -> tuple[int, ...]:
        """Number of each item's group, from 0; items without a group are one of their own."""
        names = sorted({item.group or "" for item in self.items})
        numbers = {name: number for number, name in enumerate(names)}
        return tuple(numbers[item.group or ""] for item in self.items)

    def grader_of(self, item: Item) -> GraderSpec:
        """The item's own grader, or else the suite's."""
        return item.grader or self.grader

    def clock_bits(self, seed: Digest) -> tuple[int, ...]:
        """One 53-bit integer per item, in item order (see identifiers.clock_bits)."""
        seen: Counter[Digest] = Counter()
        bits = []
        for item in self.items:
            bits.append(clock_bits(seed, item.digest, seen[item.digest]))
            seen[item.digest] += 1
        return tuple(bits)


def item_digest(
    *,
    input: str | Sequence[Message],  # noqa: A002 - the field's name in the suite's files
    target: Sequence[str],
    choices: Sequence[str] = (),
    grader: GraderSpec | None = None,
) -> Digest:
    """Digest of what is asked and what counts as right; history is kept by it.

    The id, group and metadata are not covered: renaming or filing an item keeps its history.

    Args:
        input: the question, as text or as chat messages.
        target: right answers.
        choices: options shown with the question.
        grader: the item's own grader, None where the suite's applies.

    Raises:
        ValueError: the grader's options hold a NaN or an infinity.
    """
    asked = input if isinstance(input, str) else [_message_document(each) for each in input]
    own = None if grader is None else _grader_document(grader)
    return digest(["item", asked, list(target), list(choices), own])


def suite_digest(
    *,
    items: Sequence[Item],
    prompt: Prompt,
    generation: Generation,
    grader: GraderSpec,
    rules: AnswerRules = AnswerRules(),
) -> Digest:
    """Digest of the pool in its order, the way of asking and the grading; not of the name.

    Raises:
        ValueError: the grader's options or the generation settings hold a NaN or an infinity.
    """
    pool = [[item.id, item.digest] for item in items]
    asking = [asdict(prompt), asdict(generation)]
    return digest(["suite", pool, *asking, _grader_document(grader), asdict(rules)])


def _message_document(message: Message) -> list[Any]:
    if isinstance(message.content, str):
        return [message.role, message.content]
    return [message.role, [_part_document(part) for part in message.content]]


def _part_document(part: Part) -> list[str]:
    match part:
        case TextPart():
            return ["text", part.text]
        case ImagePart():
            return ["image", part.url]
        case _:
            assert_never(part)


def _grader_document(grader: GraderSpec) -> list[Any]:
    return [grader.kind, dict(grader.options)]
