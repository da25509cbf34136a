"""Secrets come from where the configuration says, and never show themselves."""

from pathlib import Path

import pytest

from monitor.domain.errors import ConfigError
from monitor.domain.identifiers import CredentialName
from monitor.settings import (
    CredentialSource,
    Settings,
    load_settings,
    read_secret,
    resolve_credentials,
)

CONFIG = """\
suites: [{path: suites/faq}]
credentials:
  prod: {env: PROD_KEY}
  spare: {file: secrets/spare}
"""


def load(folder: Path) -> Settings:
    path = folder / "monitor.yaml"
    path.write_text(CONFIG)
    return load_settings(path, {})


@pytest.fixture
def configured(tmp_path: Path) -> Settings:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets/spare").write_text("from file\n")
    return load(tmp_path)


def test_credentials_come_from_variables_and_files(configured: Settings) -> None:
    found = resolve_credentials(configured, {"PROD_KEY": " from variable "})
    assert found[CredentialName("prod")].get_secret_value() == "from variable"
    assert found[CredentialName("spare")].get_secret_value() == "from file"


def test_credentials_do_not_show_themselves(configured: Settings) -> None:
    assert "from" not in str(resolve_credentials(configured, {"PROD_KEY": "from variable"}))


def test_single_secret_is_read_from_the_process_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOME_KEY", "value")
    assert read_secret(CredentialSource(env="SOME_KEY")).get_secret_value() == "value"


def test_missing_credentials_are_all_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve_credentials(load(tmp_path), {})
    assert str(caught.value).replace(f"{tmp_path}/", "").splitlines() == [
        "credentials.prod: environment variable PROD_KEY is not set",
        "credentials.spare: file secrets/spare is not there or cannot be read",
    ]


@pytest.mark.parametrize("unfit", ["", "  ", "s3cret\nvalue", "s3cret\u00a0value"])
def test_unfit_credentials_are_refused_unseen(unfit: str, configured: Settings) -> None:
    with pytest.raises(ConfigError, match="PROD_KEY must hold one line") as caught:
        resolve_credentials(configured, {"PROD_KEY": unfit})
    assert "s3cret" not in str(caught.value)


def test_unreadable_bytes_in_a_credential_are_refused(configured: Settings, tmp_path: Path) -> None:
    (tmp_path / "secrets/spare").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="spare must hold one line"):
        resolve_credentials(configured, {"PROD_KEY": "x"})
