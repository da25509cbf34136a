"""YAML files with the line of every value, so that a complaint can say where to look."""

import difflib
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from monitor.domain.errors import Problem

Location = tuple[str | int, ...]

MOST_VALUES = 100_000  # a few lines of aliases of aliases can stand for any number of them
MAPPING = ("must hold named fields", "write `name: value` lines below it")
LIST = ("must be a list", "write `- ...` lines below it")
WHOLE = ("must be a whole number", "")
NUMBER = ("must be a number", "")
UNKNOWN_KEY = "unknown key"
PLAIN_WORDS = {
    "missing": ("is missing", "add it"),
    "union_tag_not_found": ("has no kind", "add it"),
    "dict_type": MAPPING,
    "mapping_type": MAPPING,
    "model_type": MAPPING,
    "model_attributes_type": MAPPING,
    "list_type": LIST,
    "tuple_type": LIST,
    "string_type": ("must be text", "put it in quotes"),
    "int_from_float": WHOLE,
    "int_parsing": WHOLE,
    "int_type": WHOLE,
    "float_parsing": NUMBER,
    "float_type": NUMBER,
}
"""What is wrong and what to do, by pydantic's type of error; its own words for all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A YAML file as plain data.

    lines: line, from 1, of every key and list entry by its location; () is the top.
    """

    name: str
    content: Any
    lines: Mapping[Location, int]

    def where(self, location: Location) -> str:
        """File, line of the nearest value that stands in the file, and name of the field."""
        stands = next(
            location[:end] for end in range(len(location), -1, -1) if location[:end] in self.lines
        )
        place = f"{self.name}:{self.lines[stands]}"
        return f"{place}: {field_name(location)}" if location else place


def field_name(location: Location) -> str:
    """`suites[0].path` for ("suites", 0, "path")."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return "".join(parts).removeprefix(".")


class CoreLoader(yaml.SafeLoader):
    """Reads words as YAML 1.2 does: no, on and 12:30 are texts, true alone is true."""


CoreLoader.yaml_implicit_resolvers = {}
for tag, pattern, first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", [*"tTfF"]),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)|0x[0-9a-fA-F]+", [*"-+0123456789"]),
    (
        "float",
        r"[-+]?(?:[0-9]*\.[0-9]+|[0-9]+\.|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?",
        [*"-+.0123456789"],
    ),
    ("merge", "<<", ["<"]),
):
    CoreLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{tag}", re.compile(rf"(?:{pattern})\Z"), first
    )


def parse(
    content: bytes, *, name: str, loader: type[yaml.SafeLoader] = yaml.SafeLoader
) -> tuple[Document, list[Problem]]:
    """Read a YAML document; what cannot be read is a problem and leaves the content None.

    Args:
        content: the bytes of the file, UTF-8.
        name: what to call the file in messages.
        loader: tells texts from numbers and the like.
    """
    try:
        node = yaml.compose(content.decode("utf-8-sig"), Loader=loader)
        lines: dict[Location, int] = {(): 1}
        problems = list(_Walk(name, lines).walk(node, ()))
        value = (
            None if node is None else yaml.constructor.SafeConstructor().construct_document(node)
        )
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        return _unreadable(name, line, what="is not UTF-8", todo="save the file in UTF-8")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = f"is not YAML: {error.problem or error.context}"
        return _unreadable(
            name, mark.line + 1 if mark else 1, what=what, todo="check indent and quotes"
        )
    except RecursionError:
        todo = "write fewer levels, and no alias within what it stands for"
        return _unreadable(name, 1, what="is nested too deeply", todo=todo)
    except (yaml.YAMLError, ValueError) as error:
        return _unreadable(
            name, 1, what=f"is not YAML: {type(error).__name__}", todo="check its characters"
        )
    return Document(name=name, content=value, lines=lines), problems


def dump(document: Any) -> str:  # noqa: ANN401 - plain data
    """Text of a YAML document for people to edit: keys in order, several lines as they are."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines line by line, not with escapes or blank lines between."""

    def represent_str(self, data: str) -> yaml.ScalarNode:
        style = "|" if "\n" in data else None
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)


_Dumper.add_representer(str, _Dumper.represent_str)


def _unreadable(name: str, line: int, *, what: str, todo: str) -> tuple[Document, list[Problem]]:
    document = Document(name=name, content=None, lines={(): 1})
    return document, [Problem(where=f"{name}:{line}", what=what, todo=todo)]


class _Walk:
    """Notes the line of everything below a node; a key that stands twice is a problem."""

    def __init__(self, name: str, lines: dict[Location, int]) -> None:
        self._name = name
        self._lines = lines
        self._left = MOST_VALUES

    def walk(self, node: yaml.Node | None, location: Location) -> Iterator[Problem]:
        if isinstance(node, yaml.SequenceNode):
            for index, entry in enumerate(node.value):
                self._note((*location, index), entry)
                yield from self.walk(entry, (*location, index))
        elif isinstance(node, yaml.MappingNode):
            seen: set[str] = set()
            for key, entry in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    problem, mark = "a key must be text", key.start_mark
                    raise yaml.MarkedYAMLError(problem=problem, problem_mark=mark)
                here = (*location, str(key.value))
                if here[-1] in seen:
                    what = f"{field_name(here)}: stands here a second time"
                    where = f"{self._name}:{key.start_mark.line + 1}"
                    yield Problem(where=where, what=what, todo="keep one of the two")
                seen.add(str(key.value))
                self._note(here, key)
                yield from self.walk(entry, here)

    def _note(self, location: Location, node: yaml.Node) -> None:
        self._lines[location] = node.start_mark.line + 1
        self._left -= 1
        if self._left < 0:
            what = f"more than {MOST_VALUES} values, aliases counted as what they stand for"
            raise yaml.MarkedYAMLError(problem=what, problem_mark=node.start_mark)


def explain(
    error: ValidationError,
    model: type[BaseModel],
    *,
    content: object,
    where: Callable[[Location], str],
) -> list[Problem]:
    """Say in the reader's words what pydantic found; no value is ever repeated.

    Args:
        error: what validating `content` against `model` raised.
        model: the model, for the names that it knows.
        content: the plain data, for telling what stands in the file from what pydantic adds.
        where: turns the location of a value into words.
    """
    return [
        _problem(details, model, location=_without_tags(details["loc"], content), where=where)
        for details in error.errors(include_url=False, include_input=False)
    ]


def _problem(
    details: ErrorDetails,
    model: type[BaseModel],
    *,
    location: Location,
    where: Callable[[Location], str],
) -> Problem:
    if details["type"] == "extra_forbidden":
        known = sorted(_known_keys(model, location[:-1]))
        return Problem(where=where(location), what=UNKNOWN_KEY, todo=hint(str(location[-1]), known))
    if details["type"] == "union_tag_invalid":
        what = f"kind must be one of {details['ctx']['expected_tags']}"
        return Problem(where=where(location), what=what)
    if details["type"] == "value_error":
        return Problem(where=where(location), what=str(details["ctx"]["error"]))
    what = details["msg"].replace("Input should", "must")
    what, todo = PLAIN_WORDS.get(details["type"], (what[:1].lower() + what[1:], ""))
    return Problem(where=where(location), what=what, todo=todo)


def hint(unknown: str, known: Iterable[str]) -> str:
    """The nearest of the known names, or all of them where none is near."""
    names = sorted(known)
    near = difflib.get_close_matches(unknown.lower(), names, n=1)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(names) or 'none'}"


def _without_tags(location: Location, content: object) -> Location:
    """Location as it stands in the file: pydantic puts the `kind` of a union's member into it."""
    kept = []
    for part in location:
        if isinstance(content, Mapping) and part not in content and content.get("kind") == part:
            continue
        kept.append(part)
        content = _child(content, part)
    return tuple(kept)


def _child(content: object, part: str | int) -> object:
    if isinstance(content, Mapping):
        return content.get(part)
    if isinstance(content, list) and isinstance(part, int) and part < len(content):
        return content[part]
    return None


def _known_keys(annotation: object, location: Location) -> set[str]:
    """Names of the fields of whatever model stands at a location below an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if not location:
            return set(annotation.model_fields)
        field = annotation.model_fields.get(str(location[0]))
        return _known_keys(field.annotation, location[1:]) if field else set()
    origin, members = get_origin(annotation), get_args(annotation)
    below = location if origin in {Annotated, Union, types.UnionType} else location[1:]
    return set().union(*(_known_keys(member, below) for member in members))
