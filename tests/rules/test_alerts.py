"""The alert rules: what they are made of, what whoever is woken finds, when they fire."""

import re
import shutil
import subprocess
from typing import Any

import pytest
import yaml

from monitor.adapters.metric_names import METRICS, PREFIX
from monitor.domain.answers import MISSING
from monitor.domain.results import Outcome, Severity
from tests.rules import repository

FOLDER = repository.ROOT / "deploy/prometheus"
RULES = (FOLDER / "rules.yaml").read_text(encoding="utf-8")
RUNBOOKS = (repository.ROOT / "docs/alerts.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", RUNBOOKS, re.DOTALL | re.MULTILINE))
EVERY: list[dict[str, Any]] = [
    rule for group in yaml.safe_load(RULES)["groups"] for rule in group["rules"]
]
ALERTS = [rule for rule in EVERY if "alert" in rule]
RECORDED = {rule["record"] for rule in EVERY if "record" in rule}


def promtool(*arguments: str) -> str:
    """What it says against the files; nothing where all is well."""
    command = shutil.which("promtool")
    if command is None:
        pytest.skip("promtool is not installed; on Debian: make tools")
    done = subprocess.run(
        [command, *arguments], cwd=FOLDER, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr if done.returncode else ""


@pytest.mark.parametrize(
    "arguments",
    [("test", "rules", "rules_test.yaml"), ("check", "config", "prometheus.yml")],
    ids=" ".join,
)
def test_promtool_finds_no_fault(arguments: tuple[str, ...]) -> None:
    assert promtool(*arguments) == ""


def test_only_exported_metrics_are_used() -> None:
    ours = r"(?<![\w:])variant_monitor_\w+(?!\w*:)"
    named = {name for rule in EVERY for name in re.findall(ours, rule["expr"])}
    assert named
    assert {name.removeprefix(PREFIX) for name in named} - set(METRICS) == set()


def test_every_recorded_series_is_used_and_no_other() -> None:
    expressions = " ".join(rule["expr"] for rule in EVERY)
    texts = " ".join(rule["annotations"]["description"] for rule in ALERTS)
    used = set(re.findall(r"\w+:variant_monitor_\w+:\w+", expressions))
    asked = {f"variant_suite:{PREFIX}{name}" for name in re.findall(r'"(\w+:newest)"', texts)}
    assert used | asked == RECORDED


def test_statuses_and_verdicts_are_those_of_the_product() -> None:
    (statuses,) = re.findall(r'status=~"([^"]+)"', RULES)
    assert set(statuses.split("|")) == set(MISSING)
    assert set(re.findall(r'verdict="(\w+)"', RULES)) == set(Outcome) - {"MET", "CANCELLED"}


def name_of(alert: dict[str, Any]) -> str:
    return f"{alert['alert']}-{alert['labels']['severity']}"


@pytest.mark.parametrize("alert", ALERTS, ids=name_of)
def test_an_alert_says_how_loud_it_is_and_where_to_read_on(alert: dict[str, Any]) -> None:
    assert alert["labels"]["severity"] in set(Severity)
    assert alert["annotations"].keys() == {"summary", "description", "runbook_url"}
    assert alert["annotations"]["runbook_url"] == f"docs/alerts.md#{alert['alert'].lower()}"


def test_every_alert_has_its_runbook_and_every_runbook_its_alert() -> None:
    assert set(SECTIONS) == {alert["alert"] for alert in ALERTS}


@pytest.mark.parametrize("name", SECTIONS)
def test_a_runbook_is_complete(name: str) -> None:
    parts = re.findall(r"^\*\*(\w+)\.\*\*", SECTIONS[name], flags=re.MULTILINE)
    assert parts == ["Meaning", "Impact", "Diagnosis", "Mitigation"]


def test_pods_have_no_part_in_an_alert() -> None:
    grouped = re.findall(r"\bby \(([^)]+)\)", RULES)
    labels = {label.strip() for group in grouped for label in group.split(",")}
    assert labels.isdisjoint({"instance", "pod", "container", "endpoint", "node"})
