"""What runs the product elsewhere than in a cluster: the image, and the compose file around it."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from monitor.cli.commands import app
from monitor.settings import load_settings
from tests.rules.repository import ROOT

DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: each for name, each in SERVICES.items() if "build" in each}
PIN = re.compile(r"^([a-z0-9][^\s=]*==[^\s;\\]+)", re.MULTILINE)
IMAGE_LOCKS = ("requirements.lock", "requirements-build.lock")
LOCKS = (*IMAGE_LOCKS, "requirements-deploy.lock")


def lock(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_hadolint_finds_no_fault() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    if not hadolint.exists():
        pytest.skip("hadolint comes with `make test`, for Linux on x86-64")
    done = subprocess.run(
        [hadolint, DEPLOY / "Dockerfile"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_gets_all_that_it_copies() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, flags=re.MULTILINE)
    names = {name for line in copied for name in line.split()}
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    assert names == {line[1:] for line in ignored if line.startswith("!")}
    assert all((ROOT / name).exists() for name in names)


@pytest.mark.parametrize("name", IMAGE_LOCKS)
def test_the_image_has_the_versions_that_are_tested(name: str) -> None:
    pins = set(PIN.findall(lock(name)))
    assert pins
    assert pins <= set(PIN.findall(lock("requirements-dev.lock")))


@pytest.mark.parametrize("name", LOCKS)
def test_locks_take_only_files_that_they_know(name: str) -> None:
    assert lock(name).count(" \\\n    --hash=sha256:") >= len(PIN.findall(lock(name)))
    assert re.findall(r"^-.*|\w+://.*", lock(name), flags=re.MULTILINE) == []


def test_tools_of_the_tests_change_no_version() -> None:
    versions = dict(pin.split("==") for pin in PIN.findall(lock("requirements-dev.lock")))
    tools = dict(pin.split("==") for pin in PIN.findall(lock("requirements-deploy.lock")))
    assert "helm-python-sdk" in tools
    assert {name for name in tools.keys() & versions if tools[name] != versions[name]} == set()


def test_the_image_has_all_that_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {canonicalize_name(Requirement(each).name) for each in project["dependencies"]}
    assert declared <= {pin.partition("==")[0] for pin in PIN.findall(lock("requirements.lock"))}


def test_alertmanager_accepts_its_configuration() -> None:
    amtool = shutil.which("amtool")
    if amtool is None:
        pytest.skip("amtool is not installed; on Debian: make tools")
    command = [amtool, "check-config", str(DEPLOY / "prometheus/alertmanager.yml")]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_the_daemon_accepts_the_example() -> None:
    settings = load_settings(DEPLOY / "examples/monitor.yaml", {})
    served = [each for each in SERVICES["endpoint"]["command"] if each.startswith("--model=")]
    models = {each.removeprefix("--model=").partition("=")[0] for each in served}
    assert {each.model for each in settings.endpoints.values()} == models


@pytest.mark.parametrize("name", SERVICES)
def test_files_that_are_mounted_exist(name: str) -> None:
    sources = [volume.partition(":")[0] for volume in SERVICES[name].get("volumes", [])]
    for source in sources:
        assert (
            (DEPLOY / source).is_file() if source.startswith(".") else source in COMPOSE["volumes"]
        )


@pytest.mark.parametrize("name", SERVICES)
def test_services_wait_for_what_is_there(name: str) -> None:
    for other, wanted in SERVICES[name].get("depends_on", {}).items():
        healthy = wanted["condition"] == "service_healthy"
        assert ("healthcheck" in SERVICES[other]) >= healthy


@pytest.mark.parametrize("name", [name for name in OURS if name != "monitor"])
def test_commands_of_the_image_exist(name: str) -> None:
    service = SERVICES[name]
    words = [*service.get("entrypoint", [])[1:], *service.get("command", [])]
    command = typer.main.get_command(app)
    while isinstance(command, typer.core.TyperGroup):
        command = command.commands[words.pop(0)]
    known = {option for each in command.params for option in each.opts}
    given = {word.partition("=")[0] for word in words if word.startswith("--")}
    assert given <= known


@pytest.mark.parametrize("name", OURS)
def test_containers_of_the_image_may_do_nothing_more_than_they_need(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
