"""Which hosts an event may send the daemon to: an allow-list that no odd spelling gets round."""

import ipaddress
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}
_PLAIN = re.compile(r"[!-\[\]-~]+")  # printable ASCII without blanks and backslashes
_NETLOC = re.compile(
    r"(?:\[[^\[\]]+\]|[^\[\]:@]+)(?::[0-9]*)?"
)  # nothing behind a bracket but a port
_NAME = re.compile(r"(?!-)[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PATTERN = re.compile(r"(?P<host>\[[^\]]*\]|[^:\[\]]+)(?::(?P<port>[0-9]+|\*))?")


def host_allowed(base_url: str, patterns: Iterable[str]) -> bool:
    """Whether a URL's host is on the allow-list.

    Args:
        base_url: of an endpoint; only http and https, without user name or password.
        patterns: `host`, or `*.suffix` for every name below a suffix, each with `:port` or `:*`
            for any port; without it the scheme's own port is meant. An address is allowed only
            where it is listed itself, in its usual spelling.
    """
    place = _place(base_url)
    return place is not None and any(_fits(place, pattern.lower()) for pattern in patterns)


def _place(base_url: str) -> tuple[str, int, int] | None:
    """Host, port and default port of a URL, None where the URL is odd in any way."""
    if not _PLAIN.fullmatch(base_url):
        return None
    try:
        parts = urlsplit(base_url)
        port = parts.port
    except ValueError:
        return None
    host = _canonical(parts.hostname or "", bracketed=parts.netloc.startswith("["))
    default = _DEFAULT_PORTS.get(parts.scheme)
    if host is None or default is None or not _NETLOC.fullmatch(parts.netloc):
        return None
    return host, default if port is None else port, default


def _canonical(host: str, *, bracketed: bool) -> str | None:
    """A name or an address in its one spelling, None for anything else."""
    try:
        if bracketed:
            return f"[{ipaddress.IPv6Address(host)}]" if "%" not in host else None
        # What ends in a number is read as an address by clients: 127.1, 0x7f000001, 017700000001.
        if _NUMBER.fullmatch(host.rpartition(".")[2]):
            return str(ipaddress.IPv4Address(host))
    except ValueError:
        return None
    return host if _NAME.fullmatch(host) else None


def _fits(place: tuple[str, int, int], pattern: str) -> bool:
    host, port, default = place
    matched = _PATTERN.fullmatch(pattern)
    if matched is None:
        return False
    wanted_port = matched["port"] or str(default)
    if wanted_port not in {"*", str(port)}:
        return False
    wanted = matched["host"]
    if not wanted.startswith("*."):
        return host == _canonical(wanted.strip("[]"), bracketed=wanted.startswith("["))
    is_address = host.startswith("[") or _NUMBER.fullmatch(host.rpartition(".")[2])
    return not is_address and len(wanted) > len("*.") and host.endswith(wanted[1:])
