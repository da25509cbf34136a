"""The shape of suite.yaml and of a line of items.jsonl, and what they mean.

Nothing is converted silently, save that an item's id may be a whole number and that one right
answer, one stop text or one text of a message need not be written as a list.

What finds pictures in files comes as the validation context; without one they are not looked for,
and have no digest.
"""

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    SerializeAsAny,
    ValidationInfo,
    model_validator,
)

from monitor.domain import identifiers, suites
from monitor.wire import images
from monitor.wire.texts import Name

M = TypeVar("M", bound=BaseModel)
FindImage = Callable[[str], suites.ImageFile]
"""Finds a picture by its name below the suite's folder; ValueError says why it cannot be used."""

ITEMS = "items.jsonl"
LONGEST_NAME = 40
WANTED_IMAGE = "must be the name of a file, or an https: or data:image/ URL"
DEFAULT_PROMPT = suites.Prompt()
DEFAULT_GENERATION = suites.Generation()
DEFAULT_RULES = suites.AnswerRules()


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


def _in_folder(name: str) -> str:
    if "/" in name or "\\" in name or name in {"", ".", ".."} or not name.isprintable():
        raise ValueError("must be the name of a file in the suite's folder")
    return name


def _refuse_what_has_no_digest(value: object) -> None:
    """Refuse dates, infinities, halves of surrogate pairs and the like."""
    try:
        identifiers.canonical_json(value)
    except (TypeError, ValueError, RecursionError):
        what = "must hold only what JSON has: valid Unicode text, finite numbers, true, false, null"
        raise ValueError(what) from None


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    _refuse_what_has_no_digest(value)
    return value


def _list_of_one(value: object) -> object:
    if not isinstance(value, (str, list)):
        what = "must be text in quotes, or a list of such texts"
        raise ValueError(what)  # noqa: TRY004 - a TypeError is no finding to pydantic
    return [value] if isinstance(value, str) else value


def _parts_of_text(value: object) -> object:
    return [{"type": "text", "text": value}] if isinstance(value, str) else value


def _number_as_text(value: object) -> object:
    return str(value) if type(value) is int else value


# As any, for pydantic takes a dataclass with slots in a union for a dictionary, and warns.
ImageModel = SerializeAsAny[suites.ImageFile] | SerializeAsAny[suites.ImagePart]


def _image(value: object, info: ValidationInfo) -> suites.ImageFile | suites.ImagePart:
    if not isinstance(value, str) or value.startswith("http:"):
        raise ValueError(WANTED_IMAGE)
    if value.startswith("https://"):
        if not re.fullmatch(r"https://[^\s/]\S*", value):
            raise ValueError(WANTED_IMAGE)
        return suites.ImagePart(url=value)
    if value.startswith("data:"):
        images.decode_data_url(value)
        return suites.ImagePart(url=value)
    images.check_name(value)
    find: FindImage = info.context or _not_looked_for
    return find(value)


def _not_looked_for(name: str) -> suites.ImageFile:
    return suites.ImageFile(name=name, folder="", digest=identifiers.Digest(""), size=0)


Words = Annotated[str, AfterValidator(_not_blank)]


class StrictModel(BaseModel):
    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, allow_inf_nan=False, hide_input_in_errors=True
    )


class WholeModel(StrictModel):
    """What is digested in the end."""

    @model_validator(mode="after")
    def _has_a_digest(self) -> Self:
        _refuse_what_has_no_digest(self.model_dump())
        return self


class GraderModel(StrictModel):
    """A grader's name; all further keys are its options, which the grader itself checks."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Any] = Field(init=False)

    kind: str

    @model_validator(mode="before")
    @classmethod
    def _is_no_mere_name(cls, value: object) -> object:
        if isinstance(value, str):
            what = f"is a name alone: write grader: {{kind: {value[:LONGEST_NAME]}}}"
            raise ValueError(what)  # noqa: TRY004 - a TypeError is no finding to pydantic
        return value

    @model_validator(mode="after")
    def _has_a_digest(self) -> Self:
        _refuse_what_has_no_digest(self.__pydantic_extra__)
        return self

    def spec(self) -> suites.GraderSpec:
        return suites.GraderSpec(kind=self.kind, options=dict(self.__pydantic_extra__))


class PartModel(StrictModel):
    type: Literal["text", "image"]
    text: str | None = None
    image: Annotated[ImageModel | None, PlainValidator(_image)] = None
    detail: suites.Detail | None = None

    @model_validator(mode="after")
    def _has_what_its_type_says(self) -> Self:
        given = {"text": self.text, "image": self.image}
        if [name for name, value in given.items() if value is not None] != [self.type]:
            raise ValueError(f"must have the fields type and {self.type}, and no other")
        if self.detail and self.image is None:
            raise ValueError("has a detail, which is for images")
        return self

    def part(self) -> suites.Part:
        if self.image is not None:
            return replace(self.image, detail=self.detail)
        return suites.TextPart(text=self.text or "")


def _content(parts: list[PartModel]) -> suites.Content:
    match [part.part() for part in parts]:
        case [suites.TextPart(text=text)]:
            return text
        case several:
            return tuple(several)


def bytes_of_images(content: suites.Content) -> int:
    """Bytes of the pictures that are sent with it; those behind https URLs are not."""
    size = 0
    for part in () if isinstance(content, str) else content:
        match part:
            case suites.ImageFile():
                size += part.size
            case suites.ImagePart() if part.url.startswith("data:"):
                size += len(part.url) * 3 // 4
    return size


ContentModel = Annotated[list[PartModel], BeforeValidator(_parts_of_text), Field(min_length=1)]


class ExampleModel(StrictModel):
    user: ContentModel
    assistant: Words

    def example(self) -> suites.Example:
        return suites.Example(user=_content(self.user), assistant=self.assistant)


class PromptModel(StrictModel):
    user: str = DEFAULT_PROMPT.user
    system: str | None = None
    examples: list[ExampleModel] = []

    @model_validator(mode="before")
    @classmethod
    def _is_no_mere_text(cls, value: object) -> object:
        if isinstance(value, str):
            what = "is a text alone: a template is written as {user: ...}, a question as input"
            raise ValueError(what)  # noqa: TRY004 - a TypeError is no finding to pydantic
        return value

    def prompt(self) -> suites.Prompt:
        examples = tuple(example.example() for example in self.examples)
        return suites.Prompt(user=self.user, system=self.system, examples=examples)


class GenerationModel(StrictModel):
    temperature: Annotated[float, Field(ge=0)] | None = DEFAULT_GENERATION.temperature
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] = DEFAULT_GENERATION.max_tokens
    seed: int | None = None
    stop: Annotated[list[Annotated[str, Field(min_length=1)]], BeforeValidator(_list_of_one)] = []

    def generation(self) -> suites.Generation:
        return suites.Generation(
            temperature=self.temperature,
            top_p=self.top_p,
            max_tokens=self.max_tokens,
            seed=self.seed,
            stop=tuple(self.stop),
        )


class AnswersModel(StrictModel):
    grade_reasoning: bool = DEFAULT_RULES.grade_reasoning
    refusal_score: Annotated[float, Field(ge=0, le=1)] = DEFAULT_RULES.refusal_score
    latency_objective: bool = DEFAULT_RULES.latency_objective

    def rules(self) -> suites.AnswerRules:
        return suites.AnswerRules(
            grade_reasoning=self.grade_reasoning,
            refusal_score=self.refusal_score,
            latency_objective=self.latency_objective,
        )


class ChoicesModel(StrictModel):
    shuffle: bool = False
    seed: int = 0


class SuiteModel(WholeModel):
    """suite.yaml."""

    name: Name
    description: str = ""
    prompt: PromptModel = PromptModel()
    generation: GenerationModel = GenerationModel()
    grader: GraderModel
    answers: AnswersModel = AnswersModel()
    choices: ChoicesModel = ChoicesModel()
    items: Annotated[str, AfterValidator(_in_folder)] = ITEMS


class MessageModel(StrictModel):
    role: suites.Role
    content: ContentModel

    def message(self) -> suites.Message:
        return suites.Message(role=self.role, content=_content(self.content))


class ItemModel(WholeModel):
    """What all lines of items.jsonl have in common."""

    id: Annotated[Words, BeforeValidator(_number_as_text)]
    target: Annotated[list[Words], BeforeValidator(_list_of_one), Field(min_length=1)]
    choices: Annotated[list[Words], Field(min_length=2)] | None = None
    group: Words | None = None
    metadata: Annotated[dict[str, Any], AfterValidator(_plain)] = {}
    grader: GraderModel | None = None
    shuffle: bool = True
    generation: GenerationModel | None = None
    prompt: PromptModel | None = None

    @abstractmethod
    def asked(self) -> str | tuple[suites.Message, ...]:
        """What the item asks."""

    def item(
        self, *, reads_metadata: Callable[[Mapping[str, Any]], bool] = lambda _: False
    ) -> suites.Item:
        """Return the item, its choices in their order.

        Args:
            reads_metadata: whether templates read its metadata, given the item's own ones: its
                digest then covers that too.
        """
        asks: dict[str, Any] = {
            "input": self.asked(),
            "target": tuple(self.target),
            "choices": tuple(self.choices or ()),
            "grader": self.grader.spec() if self.grader else None,
            "generation": _given(self.generation, GenerationModel.generation),
            "prompt": _given(self.prompt, PromptModel.prompt),
        }
        digest = suites.item_digest(**asks)
        if self.metadata and reads_metadata(asks["prompt"]):
            digest = identifiers.digest(["item with metadata", digest, self.metadata])
        return suites.Item(
            id=identifiers.ItemId(self.id),
            group=self.group,
            metadata=self.metadata,
            digest=digest,
            **asks,
        )


def _given(model: M | None, meaning: Callable[[M], object]) -> dict[str, Any]:
    """Of what a model means, the fields that were written down."""
    if model is None:
        return {}
    meant = meaning(model)
    return {name: getattr(meant, name) for name in sorted(model.model_fields_set)}


class TextItemModel(ItemModel):
    input: Words

    def asked(self) -> str:
        return self.input


class ChatItemModel(ItemModel):
    input: Annotated[list[MessageModel], Field(min_length=1)]

    def asked(self) -> tuple[suites.Message, ...]:
        return tuple(message.message() for message in self.input)
