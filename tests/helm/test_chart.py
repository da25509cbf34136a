import copy

import pytest
import yaml

from monitor.settings import build_settings
from monitor.wire.yaml_documents import field_name
from tests.helm import chart
from tests.helm.chart import Release
from tests.rules.repository import ROOT

kubernetes = pytest.importorskip("kubernetes_validate", reason="it comes with `make test`")

OLDEST, NEWEST = "1.27", "1.37"
CUSTOM = {"PodMonitor", "ServiceMonitor", "PrometheusRule"}
RULES = ROOT / "deploy/prometheus/rules.yaml"


@pytest.fixture(params=chart.VALUES)
def name(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
def release(name: str) -> Release:
    return chart.release(name)


def test_helm_finds_no_fault(name: str) -> None:
    assert chart.lint(chart.values(name)) == []


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
def test_kubernetes_knows_every_field(release: Release, version: str) -> None:
    for each in release.objects:
        if each["kind"] not in CUSTOM:
            kubernetes.validate(each, version, strict=True)


def test_unknown_fields_would_be_seen(release: Release) -> None:
    misspelt = copy.deepcopy(release.workload)
    misspelt["spec"]["template"]["spec"]["containers"][0]["livenessProb"] = {}
    with pytest.raises(kubernetes.ValidationError):
        kubernetes.validate(misspelt, NEWEST, strict=True)


def test_the_daemon_accepts_its_configuration(release: Release) -> None:
    settings = build_settings(release.config, where=field_name)
    probed = release.pod["spec"]["containers"][0]["ports"][0]["containerPort"]
    assert (settings.http.host, settings.http.port) == ("0.0.0.0", probed)  # noqa: S104


def test_the_daemon_has_time_to_stop(release: Release) -> None:
    drain = build_settings(release.config, where=field_name).limits.drain_seconds
    assert release.pod["spec"]["terminationGracePeriodSeconds"] == drain + 30


def test_paths_of_the_configuration_are_mounted(release: Release) -> None:
    mounts = [each["mountPath"] for each in release.pod["spec"]["containers"][0]["volumeMounts"]]
    text = yaml.safe_dump(release.config)
    named = [word for word in text.split() if word.startswith("/")]
    assert named
    assert [path for path in named if not path.startswith(tuple(mounts))] == []


def test_every_mount_has_its_volume(release: Release) -> None:
    claims = release.workload["spec"].get("volumeClaimTemplates", [])
    claimed = {each["metadata"]["name"] for each in claims}
    for pod, more in zip(release.pods(), (claimed, set()), strict=True):
        mounted = {each["name"] for each in pod["spec"]["containers"][0]["volumeMounts"]}
        assert mounted == {each["name"] for each in pod["spec"]["volumes"]} | more


def test_pods_are_restricted(release: Release) -> None:
    for pod in release.pods():
        context, container = pod["spec"]["securityContext"], pod["spec"]["containers"][0]
        assert context["runAsNonRoot"]
        assert context["runAsUser"] > 10_000
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert not pod["spec"]["automountServiceAccountToken"]


def test_selectors_find_the_daemon_and_not_the_check(release: Release) -> None:
    daemon, check = (pod["metadata"]["labels"].items() for pod in release.pods())
    for selector in release.selectors():
        assert selector.items() <= daemon
        assert not selector.items() <= check


def test_probes_ask_what_they_mean(release: Release) -> None:
    container = release.pod["spec"]["containers"][0]
    probes = {kind: container[f"{kind}Probe"] for kind in ("startup", "liveness", "readiness")}
    paths = {kind: probe["httpGet"]["path"] for kind, probe in probes.items()}
    assert paths == {"startup": "/livez", "liveness": "/livez", "readiness": "/readyz"}
    assert probes["startup"]["periodSeconds"] * probes["startup"]["failureThreshold"] >= 300


def test_secrets_are_never_made(release: Release) -> None:
    assert "Secret" not in release.kinds()
    assert "env" not in release.pod["spec"]["containers"][0]


@pytest.mark.parametrize("name", ["default", "embedded"])
def test_on_the_embedded_bus_one_replica_keeps_a_volume(name: str) -> None:
    workload = chart.release(name).workload
    assert (workload["kind"], workload["spec"]["replicas"]) == ("StatefulSet", 1)
    (claim,) = workload["spec"]["volumeClaimTemplates"]
    assert claim["metadata"]["name"] == "state"


def test_on_kafka_replicas_keep_nothing() -> None:
    workload = chart.release("full").workload
    assert (workload["kind"], workload["spec"]["replicas"]) == ("Deployment", 3)
    assert workload["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": 0, "maxUnavailable": 1}
    assert {"name": "state", "emptyDir": {}} in workload["spec"]["template"]["spec"]["volumes"]


def test_what_needs_an_operator_is_off_at_first() -> None:
    assert chart.release("default").kinds().isdisjoint(CUSTOM)
    assert chart.release("full").kinds() >= CUSTOM


@pytest.mark.parametrize("kind", sorted(CUSTOM))
def test_operators_find_their_objects_by_label(kind: str) -> None:
    assert chart.release("full").one(kind)["metadata"]["labels"]["release"] == "prometheus"


def test_a_changed_configuration_restarts_the_pods() -> None:
    given = chart.values("default")
    other = chart.overridden(given, "config.limits.concurrency", 2)
    before, after = (Release(each).pod["metadata"]["annotations"] for each in (given, other))
    assert before["checksum/config"] != after["checksum/config"]


def test_the_rules_are_those_of_the_repository() -> None:
    rules = RULES.read_text(encoding="utf-8")
    written = rules.replace("docs/alerts.md#", "https://runbooks.example/alerts.md#")
    assert chart.release("full").one("PrometheusRule")["spec"] == yaml.safe_load(written)


def test_egress_is_closed_where_it_is_named() -> None:
    policies = {name: chart.release(name).one("NetworkPolicy")["spec"] for name in chart.VALUES}
    assert policies["default"]["policyTypes"] == ["Ingress"]
    assert policies["full"]["policyTypes"] == ["Ingress", "Egress"]
    dns, *others = policies["full"]["egress"]
    assert [port["port"] for port in dns["ports"]] == [53, 53]
    assert others == chart.values("full")["networkPolicy"]["egress"]


def test_a_digest_counts_before_a_tag() -> None:
    images = {
        name: chart.release(name).pod["spec"]["containers"][0]["image"] for name in chart.VALUES
    }
    assert images["default"] == "model-variant-monitor:0.1.0"
    assert "@sha256:" in images["full"]
