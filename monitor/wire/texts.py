"""Kinds of text in configurations, each with its shape and the words for what it must be."""

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator


def _matching(pattern: str, says: str) -> AfterValidator:
    def check(text: str) -> str:
        if re.fullmatch(pattern, text):
            return text
        raise ValueError(says)

    return AfterValidator(check)


def _with_host_and_port(url: str) -> str:
    try:
        usable = bool(urlsplit(url).hostname) and urlsplit(url).port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ValueError("must have a host, and a port from 1 to 65535 if any")
    return url


Name = Annotated[
    str,
    _matching(
        r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}",
        "must be a name of at most 100 letters, digits, dots, hyphens and underscores",
    ),
]
BaseUrl = Annotated[
    str,
    _matching(
        r"https?://[^\s/?#@]+(/[^\s?#]*)?",
        "must be an http or https URL without user name, password and query",
    ),
    AfterValidator(_with_host_and_port),
]
BrokerAddress = Annotated[
    str,
    _matching(
        r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):[0-9]{1,5}",
        "must be a broker as host:port, such as kafka-0.example.com:9092",
    ),
]
HostPattern = Annotated[
    str,
    _matching(
        r"(\[[0-9A-Fa-f:.]+\]|(\*\.)?[A-Za-z0-9._-]+)(:([0-9]+|\*))?",
        "must be a host such as api.example.com, *.example.com or localhost:8000",
    ),
]
VariableName = Annotated[
    str, _matching(r"[A-Z_][A-Z0-9_]*", "must be the name of a variable, in capitals")
]
Currency = Annotated[str, _matching(r"[A-Z]{3}", "must be three capitals such as USD")]
