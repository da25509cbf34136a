import gc
import weakref
from pathlib import Path

import pytest

from monitor.adapters.compute_thread import ComputeThread
from monitor.adapters.openai_endpoint import OpenAIEndpoint
from monitor.adapters.suite_files import write_suite
from monitor.adapters.system_clock import SystemClock
from monitor.app import catalog as catalog_module
from monitor.app.catalog import ConfiguredCatalog, endpoint_settings, load_suites
from monitor.app.histories import Histories
from monitor.domain.errors import ConfigError, DeadLetterReason, InvalidEvent, SuiteError
from monitor.domain.events import EndpointRef, InlineEndpoint
from monitor.domain.identifiers import CredentialName, EndpointName, SuiteName
from monitor.settings import Settings, build_settings
from monitor.wire.yaml_documents import field_name
from tests.unit.app import installations

GROUPS: dict[str, object] = {
    "endpoints": {
        "secure": {"base_url": "https://llm.example.com/v1", "model": "m", "credential": "key"},
        "open": {"base_url": "https://open.example.com/v1", "model": "m"},
        "plain": {"base_url": "http://vllm:8000/v1", "model": "m", "credential": "plain"},
    },
    "allowed_hosts": ["*.example.com:*", "vllm:*", "127.0.0.1:*"],
    "credentials": {
        "key": {"env": "KEY"},
        "plain": {"env": "KEY"},
        "listed": {"env": "KEY", "hosts": ["*.eu.example.com:443", "127.0.0.1:*"]},
        "unused": {"env": "KEY"},
    },
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return build_settings(installations.document(tmp_path) | GROUPS, where=field_name)


def written_out(base_url: str, credential: str | None = None) -> InlineEndpoint:
    name = None if credential is None else CredentialName(credential)
    return InlineEndpoint(base_url=base_url, model="other", credential=name)


def refusal(ref: EndpointRef, settings: Settings) -> InvalidEvent:
    with pytest.raises(InvalidEvent) as caught:
        endpoint_settings(ref, settings)
    return caught.value


def test_a_named_endpoint_is_the_configured_one(settings: Settings) -> None:
    found = endpoint_settings(EndpointName("secure"), settings)
    assert found is settings.endpoints["secure"]


def test_an_unknown_endpoint_is_refused_with_the_known_ones(settings: Settings) -> None:
    refused = refusal(EndpointName("secret"), settings)
    assert refused.reason is DeadLetterReason.UNKNOWN_ENDPOINT
    assert refused.detail.endswith("there are: secure, open, plain")


def test_a_host_that_is_not_listed_is_refused(settings: Settings) -> None:
    refused = refusal(written_out("https://evil.example.org/v1"), settings)
    assert refused.reason is DeadLetterReason.HOST_NOT_ALLOWED
    assert "allowed_hosts" in refused.detail


def test_no_credential_goes_to_any_allowed_host(settings: Settings) -> None:
    found = endpoint_settings(written_out("http://127.0.0.1:9/v1"), settings)
    assert (found.model, found.credential) == ("other", None)


SENDABLE = [
    ("key", "https://llm.example.com/v2"),
    ("key", "https://LLM.example.com:443/v1"),
    ("plain", "http://vllm:8000/v1"),
    ("listed", "https://a.eu.example.com/v1"),
    ("listed", "http://127.0.0.1:4711/v1"),
]


@pytest.mark.parametrize(("credential", "base_url"), SENDABLE)
def test_a_credential_goes_where_it_is_configured(
    credential: str, base_url: str, settings: Settings
) -> None:
    assert endpoint_settings(written_out(base_url, credential), settings).base_url == base_url


NOT_SENDABLE = [
    ("key", "https://open.example.com/v1"),
    ("key", "https://llm.example.com:8443/v1"),
    ("key", "http://llm.example.com/v1"),
    ("key", "http://llm.example.com:443/v1"),
    ("key", "http://127.0.0.1:8000/v1"),
    ("key", "http://vllm:8000/v1"),
    ("plain", "https://vllm:8000/v1"),
    ("plain", "http://vllm:8001/v1"),
    ("listed", "http://a.eu.example.com/v1"),
    ("listed", "https://llm.example.com/v1"),
    ("unused", "https://llm.example.com/v1"),
]


@pytest.mark.parametrize(("credential", "base_url"), NOT_SENDABLE)
def test_a_credential_goes_nowhere_else_though_the_host_is_allowed(
    credential: str, base_url: str, settings: Settings
) -> None:
    refused = refusal(written_out(base_url, credential), settings)
    assert refused.reason is DeadLetterReason.HOST_NOT_ALLOWED
    assert f"credentials.{credential}.hosts" in refused.detail


def test_an_unknown_credential_is_refused(settings: Settings) -> None:
    refused = refusal(written_out("https://llm.example.com/v1", "nope"), settings)
    assert refused.reason is DeadLetterReason.UNKNOWN_CREDENTIAL


@pytest.mark.parametrize("path", ["?key=1", "#top"])
def test_an_odd_url_is_invalid(path: str, settings: Settings) -> None:
    refused = refusal(written_out(f"https://llm.example.com/v1{path}"), settings)
    assert refused.reason is DeadLetterReason.INVALID_DATA


@pytest.mark.parametrize(
    "base_url", ["http://[::1]c:8/v1", "https://llm.example.com/" + "a" * 70_000]
)
def test_a_url_that_clients_do_not_take_is_refused(base_url: str, settings: Settings) -> None:
    allowed = settings.model_copy(update={"allowed_hosts": ("[::1]:*", "llm.example.com")})
    assert refusal(written_out(base_url), allowed).reason in {
        DeadLetterReason.INVALID_DATA,
        DeadLetterReason.HOST_NOT_ALLOWED,
    }


def test_problems_of_all_suites_are_told_at_once(tmp_path: Path) -> None:
    write_suite(installations.SUITE, tmp_path / "one")
    write_suite(installations.SUITE, tmp_path / "two")
    paths = [{"path": str(tmp_path / name)} for name in ("one", "two", "three")]
    with pytest.raises(SuiteError) as caught:
        load_suites(installations.configured(tmp_path, suites=paths))
    second, absent = caught.value.problems
    assert "second suite named 'arithmetic'" in second.what
    assert absent.where.endswith("three/suite.yaml") or absent.where.endswith("three")


def catalog(folder: Path, **endpoints: dict[str, object]) -> ConfiguredCatalog:
    installations.write_pool(folder)
    settings = installations.configured(folder, endpoints=endpoints)
    return ConfiguredCatalog(
        settings,
        load_suites(settings),
        secrets={},
        histories=Histories(ComputeThread()),
        clock=SystemClock(),
    )


async def test_a_suite_that_is_not_configured_is_refused(tmp_path: Path) -> None:
    known = catalog(tmp_path)
    assert known.suite(SuiteName("arithmetic")) == installations.SUITE
    with pytest.raises(InvalidEvent, match="suite 'geometry' is not configured; there are: arith"):
        known.suite(SuiteName("geometry"))


async def test_models_at_one_place_share_its_connection_and_lane(tmp_path: Path) -> None:
    place = {"base_url": installations.NOWHERE}
    known = catalog(tmp_path, a={**place, "model": "a"}, b={**place, "model": "b"})
    first, second = (known.target(EndpointName(name)) for name in "ab")
    assert (first.model, second.model) == ("a", "b")
    assert (first.endpoint, first.lane) == (second.endpoint, second.lane)
    await known.close()


def endpoint_at(known: ConfiguredCatalog, port: int) -> OpenAIEndpoint:
    endpoint = known.target(written_out(f"http://127.0.0.1:{port}/v1")).endpoint
    assert isinstance(endpoint, OpenAIEndpoint)
    assert not endpoint.is_open
    return endpoint


async def test_naming_places_opens_and_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog_module, "MOST_CONNECTIONS", 3)
    known = catalog(tmp_path)
    kept = [weakref.ref(endpoint_at(known, port)) for port in range(1, 9)]
    gc.collect()
    assert [each() is not None for each in kept] == [False] * 5 + [True] * 3


async def test_a_place_in_use_is_not_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog_module, "MOST_CONNECTIONS", 1)
    known, used = catalog(tmp_path), written_out(installations.NOWHERE)
    first = known.target(used)
    await first.endpoint.models(seconds=60.0)
    known.target(written_out("http://127.0.0.1:2/v1"))
    assert known.target(used).lane is first.lane
    await known.close()


BLANKS = "s3cret with blanks"


def secure_catalog(settings: Settings, folder: Path, *, key: str) -> ConfiguredCatalog:
    installations.write_pool(folder)
    secrets = {CredentialName(name): "s3cret" for name in settings.credentials}
    return ConfiguredCatalog(
        settings,
        load_suites(settings),
        secrets=secrets | {CredentialName(key): BLANKS},
        histories=Histories(ComputeThread()),
        clock=SystemClock(),
    )


def test_a_key_that_cannot_be_sent_is_told_at_the_start(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="credential") as caught:
        secure_catalog(settings, tmp_path, key="key")
    assert "s3cret" not in str(caught.value)


def test_a_key_that_only_an_event_names_is_the_event_s(settings: Settings, tmp_path: Path) -> None:
    known = secure_catalog(settings, tmp_path, key="listed")
    with pytest.raises(InvalidEvent, match="credential is unusable") as caught:
        known.target(written_out("https://a.eu.example.com/v1", "listed"))
    assert "s3cret" not in caught.value.detail


OWN_WAYS: list[dict[str, object]] = [
    {"limit_field": "max_completion_tokens"},
    {"concurrency": 2},
]


@pytest.mark.parametrize("own", OWN_WAYS)
async def test_who_asks_in_another_way_has_a_connection_of_its_own(
    own: dict[str, object], tmp_path: Path
) -> None:
    place: dict[str, object] = {"base_url": installations.NOWHERE, "model": "m"}
    known = catalog(tmp_path, a=place, b=place | own)
    first, second = (known.target(EndpointName(name)) for name in "ab")
    assert first.endpoint is not second.endpoint
    await known.close()


async def test_an_endpoint_has_its_own_limits(tmp_path: Path) -> None:
    own = {"base_url": installations.NOWHERE, "model": "m", "concurrency": 2, "item_seconds": 3}
    known = catalog(tmp_path, a=own)
    target = known.target(EndpointName("a"))
    assert (target.concurrency, target.lane.limit, target.patience.item_seconds) == (2, 2, 3.0)
    await known.close()
