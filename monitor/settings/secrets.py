"""Secrets, fetched from where the configuration says they are; never shown."""

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

from monitor.domain.errors import ConfigError, Problem
from monitor.settings.groups import CredentialSource


def read_secret(
    source: CredentialSource, environ: Mapping[str, str] | None = None, *, where: str = "credential"
) -> SecretStr:
    """Fetch one secret.

    Raises:
        ConfigError: naming the variable or file that is missing or unfit, never its content.
    """
    if source.file is not None:
        secret, place = _read_secret(source.file), f"file {source.file}"
        return _fit(secret, place, where=where, absent="is not there or cannot be read")
    return read_variable(str(source.env), environ, where=where)


def read_variable(name: str, environ: Mapping[str, str] | None = None, *, where: str) -> SecretStr:
    """Fetch one secret from an environment variable.

    Raises:
        ConfigError: naming the variable that is missing or unfit, never its content.
    """
    variables = os.environ if environ is None else environ
    place = f"environment variable {name}"
    return _fit(variables.get(name), place, where=where, absent="is not set")


def _fit(secret: str | None, place: str, *, where: str, absent: str) -> SecretStr:
    if secret is None:
        raise ConfigError([Problem(where=where, what=f"{place} {absent}")])
    secret = secret.strip()
    # It becomes part of an HTTP header.
    if not secret or not secret.isascii() or not secret.isprintable():
        what = f"{place} must hold one line of printable ASCII characters"
        raise ConfigError([Problem(where=where, what=what)])
    return SecretStr(secret)


def _read_secret(file: Path) -> str | None:
    try:
        return file.read_bytes().decode("utf-8", errors="replace")
    except OSError:
        return None
