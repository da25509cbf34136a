"""Environment variables laid over a YAML document, each remembered as the source of its value."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from monitor.domain.errors import Problem
from monitor.wire.yaml_documents import Document, Location, field_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Overridden:
    """A document with the variables' word in it.

    sources: name of the variable by the location that it set.
    """

    document: Document
    content: Any
    sources: Mapping[Location, str]
    problems: Sequence[Problem]

    def where(self, location: Location) -> str:
        """The variable or the line that a value comes from, and the name of the field."""
        for place, name in self.sources.items():
            is_group_of_it = place[: len(location)] == location not in self.document.lines
            if location[: len(place)] == place or is_group_of_it:
                return f"variable {name}: {field_name(location)}"
        return self.document.where(location)


def override(document: Document, variables: Mapping[str, str], *, prefix: str) -> Overridden:
    """Let `<prefix><GROUP>__<FIELD>` replace `group.field`, and so on downwards.

    A name without `__` is none of ours: Kubernetes itself makes `<prefix>PORT` and its like for a
    service that is called so.

    Args:
        document: whose content is a mapping, or nothing.
        variables: the environment.
        prefix: of the names that count.
    """
    content = {} if document.content is None else copy.deepcopy(document.content)
    sources: dict[Location, str] = {}
    problems: list[Problem] = []
    for name in sorted(variables):
        parts = name.removeprefix(prefix).split("__")
        if not name.startswith(prefix) or len(parts) == 1:
            continue
        try:
            sources[_set(content, parts, _value(variables[name]))] = name
        except ValueError as error:
            problems.append(Problem(where=f"variable {name}", what=str(error)))
    return Overridden(document=document, content=content, sources=sources, problems=problems)


def _set(content: Any, parts: Sequence[str], value: object) -> Location:  # noqa: ANN401 - YAML
    location: list[str] = []
    for part in parts:
        if not isinstance(content, dict):
            place = field_name(tuple(location)) or "the configuration"
            raise ValueError(f"{place} has no named fields to override")  # noqa: TRY004 - user input
        location.append(_key(content, part))
        if len(location) == len(parts):
            content[location[-1]] = value
        elif content.get(location[-1]) is None:
            content[location[-1]] = {}
        content = content[location[-1]]
    return tuple(location)


def _key(content: Mapping[str, Any], part: str) -> str:
    """The key that is meant: names of variables have neither small letters nor hyphens."""
    plain = part.lower()
    return next((key for key in content if str(key).lower().replace("-", "_") == plain), plain)


def _value(text: str) -> object:
    if text == "null":
        return None
    if not text.lstrip().startswith(("[", "{")):
        return text
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        raise ValueError("looks like a YAML list or mapping, but cannot be read as one") from None
