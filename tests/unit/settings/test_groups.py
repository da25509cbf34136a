import re
from datetime import date
from pathlib import Path

import pytest
from pydantic import ValidationError

from monitor import settings
from monitor.domain.errors import ConfigError
from monitor.domain.identifiers import SuiteName, VariantName
from monitor.domain.policies import AtLeast, Budget, EstimateOnly, Method, NotWorse, Policy
from monitor.domain.results import Money
from monitor.settings import (
    KafkaBus,
    Settings,
    load_settings,
)

MINIMAL = "suites: [{path: suites/faq}]\n"
FULL = """\
state: {directory: /var/lib/monitor}
bus:
  kind: embedded
  topics: {versions: v, evaluations: e, outcomes: o, dead_letter: d}
suites:
  - path: suites/faq
    history:
      - {file: history/models.npz, before: 2026-06-01, exclude: ["support-*"]}
endpoints:
  prod-eu:
    base_url: https://llm.example.com/v1
    model: chat
    credential: prod
    price: {input_per_million: 2, output_per_million: 8, currency: EUR}
    concurrency: 3
allowed_hosts: ["*.example.com"]
credentials:
  prod: {env: PROD_KEY}
  spare: {file: secrets/spare}
policies:
  - variants: support-*
    objective: {kind: at_least, threshold: 0.9}
    budget: 300
    method: simple
  - suites: smoke
    objective: {kind: estimate}
    level: 0.9
    budget: 5%
    minimum: 50
limits: {item_seconds: 30}
http: {host: 0.0.0.0, port: 8080}
logs: {format: console, level: debug}
metrics: {max_variants: 10, retire_days: 7}
kept_answers: {days: 2, megabytes: 5, redact: ['\\d{16}', '(?i)secret']}
"""


def load(folder: Path, text: str, **variables: str) -> Settings:
    path = folder / "monitor.yaml"
    path.write_text(text)
    return load_settings(path, variables)


def problems(folder: Path, text: str, **variables: str) -> list[str]:
    """What is wrong, a line each, without the folder."""
    with pytest.raises(ConfigError) as caught:
        load(folder, text, **variables)
    return str(caught.value).replace(f"{folder}/", "").splitlines()


def test_suites_are_all_that_must_be_said(tmp_path: Path) -> None:
    loaded = load(tmp_path, MINIMAL)
    assert loaded.suites[0].path == tmp_path / "suites/faq"
    assert loaded.state.directory == tmp_path / "state"
    assert loaded.bus.topics.versions == "model-versions"
    assert loaded.http.port == 9464


def test_everything_can_be_said(tmp_path: Path) -> None:
    loaded = load(tmp_path, FULL)
    assert loaded.state.directory == Path("/var/lib/monitor")
    assert loaded.bus.topics.dead_letter == "d"
    assert loaded.suites[0].history[0].file == tmp_path / "history/models.npz"
    assert loaded.suites[0].history[0].before == date(2026, 6, 1)
    assert loaded.logs.level == "debug"
    assert loaded.metrics.retire_days == 7.0
    assert loaded.kept_answers.redact == (r"\d{16}", "(?i)secret")


def test_empty_groups_are_their_defaults(tmp_path: Path) -> None:
    assert load(tmp_path, MINIMAL + "limits:\nhttp:\n") == load(tmp_path, MINIMAL)


def test_settings_cannot_be_changed(tmp_path: Path) -> None:
    loaded = load(tmp_path, MINIMAL)
    with pytest.raises(ValidationError, match="frozen"):
        loaded.http.port = 1  # type: ignore[misc]


def test_process_environment_is_read_where_none_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VARIANT_MONITOR_HTTP__PORT", "1234")
    path = tmp_path / "monitor.yaml"
    path.write_text(MINIMAL)
    assert load_settings(path).http.port == 1234


def test_variables_override_the_file(tmp_path: Path) -> None:
    variables = {
        "VARIANT_MONITOR_STATE__DIRECTORY": "elsewhere",
        "VARIANT_MONITOR_HTTP__PORT": "null",
        "VARIANT_MONITOR_ENDPOINTS__PROD_EU__MODEL": "other",
    }
    loaded = load(tmp_path, FULL, **variables)
    assert loaded.state.directory == tmp_path / "elsewhere"
    assert loaded.http.port is None
    assert loaded.endpoints["prod-eu"].model == "other"
    assert loaded.endpoints["prod-eu"].concurrency == 3


PROBLEMS = [
    ("", "monitor.yaml:1: suites: is missing (add it)"),
    ("- a\n", "monitor.yaml:1: must hold named fields (write `name: value` lines below it)"),
    ("suites: []\n", "monitor.yaml:1: suites: is empty (name at least one suite)"),
    (
        "suites:\n  - path: a\n    histroy: []\n",
        "monitor.yaml:3: suites[0].histroy: unknown key (did you mean history?)",
    ),
    (
        MINIMAL + "bus:\n  topics: {versions: a, outcomes: a}\n",
        "monitor.yaml:3: bus.topics: two topics have the same name (give each its own)",
    ),
    (
        MINIMAL + "limits:\n  item_seconds: 0\n",
        "monitor.yaml:3: limits.item_seconds: must be greater than 0",
    ),
    (
        MINIMAL + "kept_answers: {redact: [a, +]}\n",
        (
            "monitor.yaml:2: kept_answers.redact[1]: "
            "is no regular expression: nothing to repeat at position 0"
        ),
    ),
    (
        MINIMAL + "http: {port: eighty}\n",
        "monitor.yaml:2: http.port: must be a whole number",
    ),
    (
        MINIMAL + "credentials:\n  prod: {}\n",
        "monitor.yaml:3: credentials.prod: needs either env or file, and not both",
    ),
    (
        MINIMAL + "policies:\n  - budget: 0%\n",
        'monitor.yaml:3: policies[0].budget: must be a count such as 200 or a share such as "10%"',
    ),
    (
        MINIMAL + "policies:\n  - objective: {kind: best}\n",
        (
            "monitor.yaml:3: policies[0].objective: "
            "kind must be one of 'not_worse', 'at_least', 'estimate'"
        ),
    ),
    (
        MINIMAL + "endpoints:\n  a: {base_url: ftp://x, model: m}\n",
        (
            "monitor.yaml:3: endpoints.a.base_url: "
            "must be an http or https URL without user name, password and query"
        ),
    ),
    (
        MINIMAL + "endpoints:\n  a: {base_url: http://127.1/v1, model: m}\n",
        (
            "monitor.yaml:3: endpoints.a.base_url: "
            "its host is not allowed or oddly written (see allowed_hosts)"
        ),
    ),
    (
        MINIMAL + "endpoints:\n  a: {base_url: 'http://[::1/v1', model: m}\n",
        (
            "monitor.yaml:3: endpoints.a.base_url: "
            "must have a host, and a port from 1 to 65535 if any"
        ),
    ),
    (
        MINIMAL + "credentials:\n  a: {env: A, hosts: ['http://a']}\n",
        (
            "monitor.yaml:3: credentials.a.hosts[0]: "
            "must be a host such as api.example.com, *.example.com or localhost:8000"
        ),
    ),
    (
        MINIMAL + "allowed_hosts: [http://a]\n",
        (
            "monitor.yaml:2: allowed_hosts[0]: "
            "must be a host such as api.example.com, *.example.com or localhost:8000"
        ),
    ),
    (
        "suites: [{path: p, guide: g, history: [{file: f}]}]\n",
        "monitor.yaml:1: suites[0]: has both history and guide; name one of them",
    ),
    (
        MINIMAL + "http:\n  port: 1\n  port: 2\n",
        "monitor.yaml:4: http.port: stands here a second time (keep one of the two)",
    ),
]


@pytest.mark.parametrize(("text", "problem"), PROBLEMS)
def test_problem_says_where_what_and_what_to_do(text: str, problem: str, tmp_path: Path) -> None:
    assert problems(tmp_path, text) == [problem]


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    text = "suites:\n  - {}\nhttp: {port: -1}\nlogs: {level: loud}\nlogs: {format: xml}\n"
    found = problems(tmp_path, text, VARIANT_MONITOR_LIMTS__CONCURRENCY="1")
    assert [problem.split(":")[1].strip() for problem in found] == ["5", "2", "3", "5", "limts"]


def test_wrong_variable_is_blamed_itself(tmp_path: Path) -> None:
    assert problems(tmp_path, MINIMAL, VARIANT_MONITOR_HTTP__PORT="eighty") == [
        "variable VARIANT_MONITOR_HTTP__PORT: http.port: must be a whole number"
    ]


NAMES_A_PATH = {
    "suites": "suites: [{path: %s}]\n",
    "history": "suites: [{path: a, history: [{file: %s}]}]\n",
    "state": MINIMAL + "state: {directory: %s}\n",
    "credentials": MINIMAL + "credentials: {a: {file: %s}}\n",
}
NO_PATHS = ['"a\\0b"', '"\\ud800"', "x" * 300, "/".join(["x" * 200] * 30)]


@pytest.mark.parametrize("text", NAMES_A_PATH.values(), ids=NAMES_A_PATH)
@pytest.mark.parametrize("path", NO_PATHS, ids=["NUL", "surrogate", "long name", "long path"])
def test_what_cannot_be_a_path_is_a_problem(text: str, path: str, tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, text % path)
    assert ": must be a path of " in problem


BOUNDED = ["limits.item_seconds", "limits.max_event_age_hours", "metrics.retire_days"]


@pytest.mark.parametrize("number", [".inf", ".nan", "1e30"])
@pytest.mark.parametrize("name", BOUNDED)
def test_a_time_is_one_that_can_be_waited_for(name: str, number: str, tmp_path: Path) -> None:
    group, field = name.split(".")
    (problem,) = problems(tmp_path, f"{MINIMAL}{group}: {{{field}: {number}}}\n")
    assert problem.startswith(f"monitor.yaml:2: {name}: must be ")


def test_a_count_has_an_end(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, MINIMAL + f"limits: {{concurrency: {10**400}}}\n")
    assert "must be less than or equal to" in problem


def test_missing_file_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent.yaml: cannot be read: No such file"):
        load_settings(tmp_path / "absent.yaml", {})


def test_credential_must_be_configured(tmp_path: Path) -> None:
    text = FULL.replace("credential: prod", "credential: pord")
    (problem,) = problems(tmp_path, text)
    assert problem.startswith("monitor.yaml:13: endpoints.prod-eu.credential: ")
    assert problem.endswith("is not among `credentials` (did you mean prod?)")


SECRETS_IN_WRONG_PLACES = [
    "credentials: {prod: s3cret-value}\n",
    "credentials: {prod: {env: s3cret-value}}\n",
    "credentials: {prod: {value: s3cret-value}}\n",
    "endpoints: {a: {base_url: 'http://user:s3cret-value@localhost', model: m}}\n",
    "endpoints: {a: {base_url: 'http://localhost', model: m, api_key: s3cret-value}}\n",
]


@pytest.mark.parametrize("text", SECRETS_IN_WRONG_PLACES)
def test_secret_in_the_wrong_place_is_not_repeated(text: str, tmp_path: Path) -> None:
    assert "s3cret-value" not in "\n".join(problems(tmp_path, MINIMAL + text))


JUDGED = """\
suites: [{path: suites/faq, judges: [strict, strikt, strict]}]
endpoints:
  strict: {base_url: "https://llm.example.com/v1", model: judge}
"""


def test_judges_are_endpoints_and_each_is_named_once(tmp_path: Path) -> None:
    place, todo = "monitor.yaml:1: suites[0].judges", "name each once: asked again it says the same"
    assert problems(tmp_path, JUDGED) == [
        f"{place}: strikt is not among `endpoints` (did you mean strict?)",
        f"{place}: names a judge twice ({todo})",
    ]


def test_configured_hosts_must_be_allowed_too(tmp_path: Path) -> None:
    text = FULL.replace("*.example.com", "*.example.org")
    assert "endpoints.prod-eu.base_url: its host" in problems(tmp_path, text)[0]


def test_hosts_are_this_machine_and_the_configured_ones_by_default(tmp_path: Path) -> None:
    text = FULL.replace('allowed_hosts: ["*.example.com"]\n', "")
    assert load(tmp_path, text).host_patterns == (*settings.LOOPBACK, "llm.example.com")


POLICIES = [
    (
        ("support-chat", "faq"),
        Policy(objective=AtLeast(threshold=0.9), budget=Budget(count=300), method=Method.SIMPLE),
    ),
    (
        ("other", "smoke"),
        Policy(objective=EstimateOnly(), level=0.9, budget=Budget(share=0.05, minimum=50)),
    ),
    (("other", "faq"), Policy(objective=NotWorse(tolerance=0.02))),
]


@pytest.mark.parametrize(("pair", "policy"), POLICIES)
def test_first_policy_that_matches_counts(
    pair: tuple[str, str], policy: Policy, tmp_path: Path
) -> None:
    variant, suite = VariantName(pair[0]), SuiteName(pair[1])
    assert load(tmp_path, FULL).policy_for(variant, suite) == policy


def test_endpoint_has_its_own_limits(tmp_path: Path) -> None:
    loaded = load(tmp_path, FULL)
    limits = loaded.limits_of(loaded.endpoints["prod-eu"])
    assert (limits.concurrency, limits.item_seconds, limits.attempt_seconds) == (3, 30.0, 60.0)


def test_tokens_cost_money(tmp_path: Path) -> None:
    price = load(tmp_path, FULL).endpoints["prod-eu"].price
    assert price
    cost = price.price().cost(prompt_tokens=1_000_000, completion_tokens=500_000)
    assert cost == Money(amount=6.0, currency="EUR")


KAFKA = """\
suites: [{path: suites/faq}]
bus:
  kind: kafka
  bootstrap_servers: ["kafka-0:9092", "kafka-1:9092"]
  security: {tls: true, sasl: {username: monitor, credential: broker}}
credentials: {broker: {env: BROKER}}
"""


def test_kafka(tmp_path: Path) -> None:
    file = tmp_path / "monitor.yaml"
    file.write_text(KAFKA)
    bus = load_settings(file, {}).bus
    assert isinstance(bus, KafkaBus)
    assert bus.bootstrap_servers == ("kafka-0:9092", "kafka-1:9092")
    assert bus.security.sasl is not None
    assert bus.security.sasl.mechanism == "SCRAM-SHA-512"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (("kind: kafka", "kind: rabbit"), "bus: kind must be one of 'embedded', 'kafka'"),
        (('"kafka-0:9092"', "kafka-0"), "bus.bootstrap_servers[0]: must be a broker as host:port"),
        (("credential: broker", "credential: brokr"), "did you mean broker?"),
        (("tls: true", "tls: false, ca_file: ca.pem"), "has certificates, but tls is off"),
        (("tls: true", "tls: true, cert_file: c.pem"), "needs cert_file and key_file together"),
    ],
)
def test_problems_of_kafka(change: tuple[str, str], found: str, tmp_path: Path) -> None:
    file = tmp_path / "monitor.yaml"
    file.write_text(KAFKA.replace(*change))
    with pytest.raises(ConfigError, match=re.escape(found)):
        load_settings(file, {})
