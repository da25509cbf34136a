"""What is asked and how it is graded."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, assert_never

from monitor.domain.identifiers import Digest, ItemId, SuiteName, clock_bits, digest

Role = Literal["system", "user", "assistant"]
Detail = Literal["auto", "low", "high"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """Words inside a message."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePart:
    """A picture inside a message: an https or data URL, sent as it is.

    detail: how closely the model is to look, None leaves it to the endpoint.
    """

    url: str
    detail: Detail | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFile:
    """A picture inside a message that stays in its file until it is sent.

    name: path below `folder`, as the suite writes it; neither is part of what is asked.
    digest: SHA-256 of the file's bytes when the suite was read. size: in bytes.
    """

    name: str
    folder: str = field(compare=False)
    digest: Digest
    size: int
    detail: Detail | None = None


Part = TextPart | ImagePart | ImageFile
Content = str | tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a chat."""

    role: Role
    content: Content


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderSpec:
    """Name of a grader and its options, as written in the suite."""

    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One question of a suite, with the fields of Inspect's `Sample`.

    order: positions in `choices` as they are shown, where the suite shuffles them.
    generation, prompt: fields of `Generation` and `Prompt` that replace those of the suite.
    digest: covers what is asked and what counts as right, not the id nor the order.
    """

    id: ItemId
    input: str | tuple[Message, ...]
    target: tuple[str, ...]
    choices: tuple[str, ...] = ()
    group: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    grader: GraderSpec | None = None
    order: tuple[int, ...] = ()
    generation: Mapping[str, Any] = field(default_factory=dict)
    prompt: Mapping[str, Any] = field(default_factory=dict)
    digest: Digest

    @property
    def shown_choices(self) -> tuple[str, ...]:
        """The choices as the model sees them, from letter A on."""
        return tuple(self.choices[position] for position in self.order) or self.choices

    @property
    def has_own_system(self) -> bool:
        """Whether it is a chat that begins with a system message."""
        first = () if isinstance(self.input, str) else self.input[:1]
        return any(message.role == "system" for message in first)


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
class Example:
    """A turn that was answered well, shown before the question; sent as it is."""

    user: Content
    assistant: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Templates in Jinja syntax; `user` may name input, choices, metadata."""

    user: str = "{{ input }}"
    system: str | None = None
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A fixed pool of items with one way of asking and grading.

    shuffle: seed of the order in which choices are shown, None where it is that of the file.
    """

    name: SuiteName
    items: tuple[Item, ...]
    prompt: Prompt
    generation: Generation
    grader: GraderSpec
    rules: AnswerRules = AnswerRules()
    shuffle: int | None = None
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

    def generation_of(self, item: Item) -> Generation:
        """The suite's settings, but for those that the item has of its own."""
        return replace(self.generation, **item.generation)

    def prompt_of(self, item: Item) -> Prompt:
        """The suite's templates and examples, but for those that the item has of its own."""
        return replace(self.prompt, **item.prompt)

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
    generation: Mapping[str, Any] | None = None,
    prompt: Mapping[str, Any] | None = None,
) -> Digest:
    """Digest of what is asked and what counts as right; history is kept by it.

    The id, group and metadata are not covered: renaming or filing an item keeps its history.

    Args:
        input: the question, as text or as chat messages.
        target: right answers.
        choices: options shown with the question.
        grader: the item's own grader, None where the suite's applies.
        generation: the item's own settings, fields of `Generation`.
        prompt: the item's own templates and examples, fields of `Prompt`.

    Raises:
        ValueError: the grader's options hold a NaN or an infinity.
    """
    asked = input if isinstance(input, str) else [_message_document(each) for each in input]
    own = None if grader is None else _grader_document(grader)
    document: list[Any] = ["item", asked, list(target), list(choices), own]
    if generation or prompt:
        document.append([dict(generation or {}), _prompt_document(prompt or {})])
    return digest(document)


def shuffled(count: int, *, seed: int, item: Digest) -> tuple[int, ...]:
    """An order of 0 to count - 1 that follows from the seed and the item's digest alone."""
    return tuple(sorted(range(count), key=lambda position: digest(["order", seed, item, position])))


def suite_digest(
    *,
    items: Sequence[Item],
    prompt: Prompt,
    generation: Generation,
    grader: GraderSpec,
    rules: AnswerRules = AnswerRules(),
) -> Digest:
    """Digest of the pool in its order, the way of asking and the grading; not of the name.

    The items' own ways of asking are in their digests, save the order of their choices and that
    their own system message replaces the suite's.

    Raises:
        ValueError: the grader's options or the generation settings hold a NaN or an infinity.
    """
    pool = [[item.id, item.digest] for item in items]
    asking = [_prompt_document(_fields(prompt)), asdict(generation)]
    document: list[Any] = ["suite", pool, *asking, _grader_document(grader), asdict(rules)]
    # What suites could not say at first is left out where they do not say it.
    if any(item.order for item in items):
        document.append(["orders", [list(item.order) for item in items]])
    if prompt.system is not None and any(item.has_own_system for item in items):
        document.append(["own system"])
    return digest(document)


def _fields(prompt: Prompt) -> Mapping[str, Any]:
    given = {"user": prompt.user, "system": prompt.system}
    return {**given, "examples": prompt.examples} if prompt.examples else given


def _prompt_document(fields: Mapping[str, Any]) -> dict[str, Any]:
    document = dict(fields)
    if "examples" in document:
        document["examples"] = [
            [_content_document(each.user), each.assistant] for each in document["examples"]
        ]
    return document


def _message_document(message: Message) -> list[Any]:
    return [message.role, _content_document(message.content)]


def _content_document(content: Content) -> str | list[list[str]]:
    return content if isinstance(content, str) else [_part_document(part) for part in content]


def _part_document(part: Part) -> list[str]:
    match part:
        case TextPart():
            return ["text", part.text]
        case ImagePart(detail=detail):
            return ["image", part.url, *([detail] if detail else [])]
        case ImageFile(detail=detail):
            return ["image file", part.digest, *([detail] if detail else [])]
        case _:
            assert_never(part)


def _grader_document(grader: GraderSpec) -> list[Any]:
    return [grader.kind, dict(grader.options)]
