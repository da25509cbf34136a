"""The chart as Helm renders it, without a cluster."""

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml

from tests.rules.repository import ROOT

helm = pytest.importorskip("helm_python", reason="it comes with `make test`, for Linux on x86-64")

CHART = ROOT / "helm/model-variant-monitor"
VALUES = ("default", "embedded", "full")
RELEASE, NAMESPACE = "watch", "ml"

Object = dict[str, Any]


def values(name: str) -> Object:
    """One of the sets of values in ci/."""
    found: Object = yaml.safe_load((CHART / f"ci/{name}-values.yaml").read_text(encoding="utf-8"))
    return found


def lint(given: Object) -> list[Object]:
    """What Helm finds fault with; notes such as that there is no icon are left out."""
    report = helm.lint(str(CHART), given, strict=True)
    faults = [message for message in report["messages"] if message["severity"] > 1]
    return [*report["errors"], *faults]


def render(given: Object) -> list[Object]:
    """Every object of the release, that of `helm test` too."""
    with helm.Chart.load(str(CHART)) as chart:
        rendered = chart.render(given, name=RELEASE, namespace=NAMESPACE)
    texts = (text for path, text in sorted(rendered.items()) if path.endswith(".yaml"))
    return [each for text in texts for each in yaml.safe_load_all(text) if each]


def overridden(given: Object, path: str, value: object) -> Object:
    """Values with another one at the dotted path."""
    first, _, rest = path.partition(".")
    inner = given.get(first)
    held = inner if isinstance(inner, Mapping) else {}
    return {**given, first: overridden(dict(held), rest, value) if rest else value}


class Release:
    """The objects of one release, by kind."""

    def __init__(self, given: Object) -> None:
        self.objects = render(given)

    def kinds(self) -> set[str]:
        """Every kind that is there."""
        return {each["kind"] for each in self.objects}

    def one(self, kind: str) -> Object:
        """The only object of its kind."""
        (found,) = (each for each in self.objects if each["kind"] == kind)
        return found

    @property
    def workload(self) -> Object:
        """What runs the daemon."""
        (found,) = (each for each in self.objects if each["kind"] in {"Deployment", "StatefulSet"})
        return found

    @property
    def pod(self) -> Object:
        """Template of the daemon's pods."""
        found: Object = self.workload["spec"]["template"]
        return found

    def pods(self) -> Iterator[Object]:
        """Both pods: the daemon's and that of `helm test`."""
        yield self.pod
        yield self.one("Pod")

    @property
    def config(self) -> Object:
        """The configuration that the daemon gets."""
        found: Object = yaml.safe_load(self.one("ConfigMap")["data"]["monitor.yaml"])
        return found

    def selectors(self) -> Iterator[Object]:
        """How the other objects find the daemon's pods."""
        yield self.one("Service")["spec"]["selector"]
        yield self.one("NetworkPolicy")["spec"]["podSelector"]["matchLabels"]
        found = ("PodDisruptionBudget", "PodMonitor", self.workload["kind"])
        for each in self.objects:
            if each["kind"] in found:
                yield each["spec"]["selector"]["matchLabels"]


@functools.cache
def release(name: str) -> Release:
    """The release that a set of values makes."""
    return Release(values(name))
