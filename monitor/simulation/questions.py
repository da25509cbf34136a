"""From the bytes of a request to the item that is asked for."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from monitor.domain import errors
from monitor.domain.identifiers import Digest, digest
from monitor.domain.suites import ImageFile, ImagePart, Message, Suite, TextPart
from monitor.prompting import templates
from monitor.simulation import replies
from monitor.simulation.replies import Reply
from monitor.wire import images

TOKENS_PER_MESSAGE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A request understood; `index` is the item's place in the suite.

    temperature: 0 where the request names none. seed: that of the request, if it names one.
    """

    model: str
    index: int
    prompt_tokens: int
    temperature: float = 0.0
    seed: int | None = None


class Reader:
    """Recognises the items of a suite by their rendered messages."""

    def __init__(self, suite: Suite, models: Sequence[str]) -> None:
        """Render every item.

        Raises:
            SuiteError: an item cannot be rendered, or two items are asked in the same words.
        """
        self._models = frozenset(models)
        self._questions: dict[Digest, tuple[int, int]] = {}
        for index, item in enumerate(suite.items):
            turns = [_turn(message) for message in templates.render(suite, item)]
            place = (index, sum(map(_turn_tokens, turns)))
            known, _ = self._questions.setdefault(digest(turns), place)
            if known != index:
                raise errors.SuiteError([_same_words(suite, known, index)])

    def read(self, body: bytes) -> Question | Reply:
        """The question in the body of a request, or the error to be sent for it."""
        try:
            document = json.loads(body)
        except (ValueError, RecursionError):
            return replies.error(400, "We could not parse the JSON body of your request.")
        if not isinstance(document, dict) or not isinstance(document.get("model"), str):
            return replies.error(400, "You must provide a model parameter.")
        if document.get("stream"):
            return replies.error(400, "The simulated endpoint does not stream.")
        model = document["model"]
        if model not in self._models:
            message = f"The model `{model}` does not exist or you do not have access to it."
            return replies.error(404, message, code="model_not_found")
        return self._find(model, document)

    def _find(self, model: str, document: Mapping[str, object]) -> Question | Reply:
        try:
            asked = digest([_turn_of_json(turn) for turn in _list(document.get("messages"))])
        except (KeyError, TypeError, ValueError):
            message = "Invalid messages: each needs a role and content of text or parts."
            return replies.error(400, message)
        if asked not in self._questions:
            message = "The messages match no item of the simulated suite as it is rendered here."
            return replies.error(400, message, code="unknown_question")
        index, prompt_tokens = self._questions[asked]
        temperature, seed = document.get("temperature"), document.get("seed")
        return Question(
            model=model,
            index=index,
            prompt_tokens=prompt_tokens,
            temperature=float(temperature) if isinstance(temperature, int | float) else 0.0,
            seed=seed if isinstance(seed, int) else None,
        )


# A turn as compared and counted: its role, then kind and content of each of its parts.
Turn = list[str]


def _turn(message: Message) -> Turn:
    turn: Turn = [message.role]
    parts = (
        (TextPart(text=message.content),) if isinstance(message.content, str) else message.content
    )
    for part in parts:
        match part:
            case TextPart():
                turn += ["text", part.text]
            case ImagePart():
                turn += ["image_url", _picture(part.url)]
            case ImageFile():
                turn += ["image_url", part.digest]
            case _:
                assert_never(part)
    return turn


def _turn_of_json(message: object) -> Turn:
    role, content = _text(_field(message, "role")), _field(message, "content")
    if isinstance(content, str):
        return [role, "text", content]
    turn = [role]
    for part in _list(content):
        kind = _text(_field(part, "type"))
        value = _field(part, kind)
        turn += [
            kind,
            _picture(_text(_field(value, "url"))) if kind == "image_url" else _text(value),
        ]
    return turn


def _picture(url: str) -> str:
    """Digest of the picture's bytes where the URL holds them, so that these must have arrived."""
    if not url.startswith("data:"):
        return url
    return hashlib.sha256(images.decode_data_url(url)).hexdigest()


def _field(document: object, name: str) -> object:
    if not isinstance(document, dict):
        raise TypeError(name)
    return document[name]


def _list(document: object) -> list[object]:
    if not isinstance(document, list):
        raise TypeError(type(document))
    return document


def _text(document: object) -> str:
    if not isinstance(document, str):
        raise TypeError(type(document))
    return document


def _turn_tokens(turn: Turn) -> int:
    return TOKENS_PER_MESSAGE + sum(map(replies.tokens, turn[2::2]))


def _same_words(suite: Suite, first: int, second: int) -> errors.Problem:
    return errors.Problem(
        where=f"suite {suite.name}, item {suite.items[second].id}",
        what=f"is asked in the same words as item {suite.items[first].id}",
        todo="leave one of the two out of the simulation: a request cannot tell which is meant",
    )
