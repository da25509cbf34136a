"""What the options of `evaluate` stand for: a configuration with one suite and its endpoints."""

import re
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from monitor.domain.errors import UsageError
from monitor.domain.identifiers import digest
from monitor.settings import Settings, build_settings
from monitor.wire.yaml_documents import Location, field_name

LONGEST_NAME = 100  # characters of an endpoint's
CREDENTIAL, SURROGATE_CREDENTIAL = "key", "surrogate-key"
OPTIONS = {"env": "--credential-env", "file": "--history", "directory": "--state"}
"""Options that are not called as the setting that they stand for."""
SURROGATE_OPTIONS = {
    "base_url": "--surrogate-url",
    "model": "--surrogate-model",
    "env": "--surrogate-credential-env",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Settings of the same names."""

    concurrency: int
    item_seconds: float
    gate_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SurrogatePlace:
    """A surrogate as the options name it."""

    base_url: str
    model: str
    credential_env: str
    samples: int
    price: str

    @classmethod
    def of(
        cls, *, base_url: str, model: str, credential_env: str, samples: int, price: str
    ) -> "SurrogatePlace | None":
        """The surrogate, None where none is named.

        Raises:
            UsageError: URL or model is missing.
        """
        if not base_url and not model:
            if credential_env or price:
                raise UsageError("--surrogate-url and --surrogate-model are missing")
            return None
        if not base_url or not model:
            raise UsageError("--surrogate-url and --surrogate-model go together")
        return cls(
            base_url=base_url,
            model=model,
            credential_env=credential_env,
            samples=samples,
            price=price,
        )

    @property
    def endpoint(self) -> str:
        """Name of the endpoint, as plans name the surrogate: the model, as far as names may."""
        fitting = re.sub(r"[^A-Za-z0-9._-]+", "-", self.model).strip("._-")
        return fitting[:LONGEST_NAME] or "surrogate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a configuration file would say otherwise."""

    suite: Path
    base_url: str
    model: str
    credential_env: str
    history: tuple[Path, ...]
    before: str
    exclude: tuple[str, ...]
    guide: Path | None
    limits: Limits
    state: Path | None
    price: str
    surrogate: SurrogatePlace | None

    @property
    def endpoint(self) -> str:
        """Name of the endpoint: an open evaluation of another place must not go on here."""
        return digest([self.base_url, self.model])[:32]


def settings(place: Place, state: Path, *, budget: str) -> Settings:
    """The configuration that the options stand for.

    Raises:
        UsageError, ConfigError: an option is not valid, or does not go with another.
    """
    if place.history and place.guide:
        raise UsageError("give --history or --guide, not both")
    history = [
        {
            "file": path.absolute(),
            "before": place.before or None,
            "exclude": list(place.exclude),
        }
        for path in place.history
    ]
    credentials: dict[str, object] = {}
    endpoints = {place.endpoint: _endpoint(place, CREDENTIAL, credentials)}
    surrogate = place.surrogate
    if surrogate is not None:
        endpoints[surrogate.endpoint] = _endpoint(surrogate, SURROGATE_CREDENTIAL, credentials)
    document = {
        "suites": [
            {
                "path": place.suite.absolute(),
                "history": history,
                "guide": place.guide and place.guide.absolute(),
                "surrogate": surrogate
                and {"endpoints": [surrogate.endpoint], "samples": surrogate.samples},
            }
        ],
        "state": {"directory": state.absolute()},
        "endpoints": endpoints,
        "credentials": credentials,
        # A budget that was given is meant as it stands; the usual least goes with the usual one.
        "policies": [{"minimum": 1}] if budget else [],
        "limits": asdict(place.limits),
        "http": {"port": None},
    }
    return build_settings(document, where=partial(_option, surrogate))


def _endpoint(
    place: Place | SurrogatePlace, credential: str, credentials: dict[str, object]
) -> dict[str, object]:
    """An endpoint as a configuration would name it; its credential is put to the others."""
    endpoint: dict[str, object] = {"base_url": place.base_url, "model": place.model}
    if place.credential_env:
        endpoint["credential"] = credential
        credentials[credential] = {"env": place.credential_env}
    if place.price:
        endpoint["price"] = _price(place.price)
    return endpoint


def _price(written: str) -> dict[str, float]:
    """IN/OUT as a configuration would have it.

    Raises:
        UsageError: it is not two numbers.
    """
    try:
        prompt, completion = map(float, written.split("/"))
    except ValueError:
        text = f"price {written!r} is not IN/OUT, such as 0.15/0.6 for a million tokens each"
        raise UsageError(text) from None
    return {"input_per_million": prompt, "output_per_million": completion}


def _option(surrogate: SurrogatePlace | None, location: Location) -> str:
    name = str(location[-1]) if location else ""
    own = (
        [("endpoints", surrogate.endpoint), ("credentials", SURROGATE_CREDENTIAL)]
        if surrogate
        else []
    )
    is_surrogates = tuple(location[:2]) in own
    if "price" in location[2:]:
        return "--surrogate-price" if is_surrogates else "--price"
    if is_surrogates:
        return SURROGATE_OPTIONS.get(name, field_name(location))
    if name in {"base_url", "model", "before", "guide", *Limits.__dataclass_fields__}:
        return f"--{name.replace('_', '-')}"
    return OPTIONS.get(name, field_name(location))
