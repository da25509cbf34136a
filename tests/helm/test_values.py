import json

import pytest

from monitor.settings import Settings
from tests.helm import chart
from tests.rules.repository import ROOT

SCHEMA = json.loads((chart.CHART / "values.schema.json").read_text(encoding="utf-8"))

WRONG = {
    "config.limit": {},
    "config.bus.kind": "rabbit",
    "config.credentials.key": {"env": "KEY"},
    "config.http.host": "127.0.0.1",
    "config.http.port": 99_999,
    "config.limits.drain_seconds": 0,
    "config.state.directory": "state",
    "existingSecrets": [{"name": "key"}],
    "image.digest": "sha256:abc",
    "image.tag": "latest",
    "persistence.size": "plenty",
    "podDisruptionBudget.maxUnavailable": 0,
    "podMonitor.interval": 30,
    "podMonitor.label": {},
    "probes.liveness.path": "/livez",
    "probes.startup.seconds": 0,
    "prometheusRule.runbookUrl": "alerts.md#regression",
    "replica": 2,
    "replicas": 0,
    "resources.request": {},
    "serviceAccount.create": "yes",
    "suites.Arithmetic": {"configMap": {"name": "arithmetic"}},
    "suites.arithmetic": {"configMap": {"name": "arithmetic"}, "emptyDir": {}},
}


@pytest.mark.parametrize("path", WRONG)
def test_wrong_values_are_refused_by_name(path: str) -> None:
    given = chart.overridden(chart.values("default"), path, WRONG[path])
    with pytest.raises(chart.helm.HelmError) as refused:
        chart.render(given)
    *_, last = path.split(".")
    assert last in str(refused.value)


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("config.suites", [], "name at least one"),
        ("replicas", 2, "belongs to one replica"),
    ],
)
def test_what_does_not_go_together_is_refused_in_words(path: str, value: object, text: str) -> None:
    given = chart.overridden(chart.values("default"), path, value)
    with pytest.raises(chart.helm.HelmError, match=text):
        chart.render(given)


def test_the_schema_has_every_group_of_settings() -> None:
    assert set(SCHEMA["properties"]["config"]["properties"]) == set(Settings.model_fields)


def test_the_schema_has_every_value() -> None:
    with chart.helm.Chart.load(str(chart.CHART)) as loaded:
        assert set(SCHEMA["properties"]) == set(loaded.values) | {"global"}


def test_the_version_is_that_of_the_product() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    with chart.helm.Chart.load(str(chart.CHART)) as loaded:
        assert f'\nversion = "{loaded.metadata["appVersion"]}"\n' in project
