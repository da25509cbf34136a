from collections.abc import Mapping

import pytest

from monitor.wire import overrides, yaml_documents
from monitor.wire.overrides import Overridden

TEXT = b"http: {port: 1}\nsuites: [{path: a}]\nendpoints: {prod-eu: {model: m}}\nlogs:\n"


def override(variables: Mapping[str, str], text: bytes = TEXT) -> Overridden:
    document, problems = yaml_documents.parse(text, name="f")
    assert problems == []
    return overrides.override(document, variables, prefix="M_")


SET = [
    ("M_HTTP__PORT", "2", ("http", "port"), "2"),
    ("M_HTTP__HOST", "null", ("http", "host"), None),
    ("M_LOGS__LEVEL", "debug", ("logs", "level"), "debug"),
    ("M_ENDPOINTS__PROD_EU__MODEL", "n", ("endpoints", "prod-eu", "model"), "n"),
    ("M_ENDPOINTS__NEW__MODEL", "n", ("endpoints", "new", "model"), "n"),
    ("M_BUS__TOPICS", "{versions: v}", ("bus", "topics"), {"versions": "v"}),
    ("M_A__B", " [1, x]", ("a", "b"), [1, "x"]),
    ("M_A__B", "a: b", ("a", "b"), "a: b"),
]


@pytest.mark.parametrize(("name", "text", "location", "value"), SET)
def test_variable_sets_a_field(
    name: str, text: str, location: tuple[str, ...], value: object
) -> None:
    content = override({name: text}).content
    for part in location:
        content = content[part]
    assert content == value


def test_file_may_be_empty() -> None:
    assert override({"M_A__B": "1"}, b"").content == {"a": {"b": "1"}}


@pytest.mark.parametrize("name", ["M_PORT", "M_HTTP", "X_HTTP__PORT", "HTTP__PORT"])
def test_other_variables_mean_nothing(name: str) -> None:
    assert override({name: "x"}).content == override({}).content


def test_document_stays_as_it_was() -> None:
    overridden = override({"M_HTTP__PORT": "2"})
    assert overridden.document.content["http"] == {"port": 1}


WRONG = [
    ("M_HTTP__PORT__X", "1", "variable M_HTTP__PORT__X: http.port has no named fields to override"),
    ("M_SUITES__0", "1", "variable M_SUITES__0: suites has no named fields to override"),
    (
        "M_A__B",
        "[s3cret",
        "variable M_A__B: looks like a YAML list or mapping, but cannot be read as one",
    ),
]


@pytest.mark.parametrize(("name", "text", "problem"), WRONG)
def test_variable_that_fits_nowhere_is_a_problem(name: str, text: str, problem: str) -> None:
    assert [str(found) for found in override({name: text}).problems] == [problem]


def test_mapping_is_needed_at_the_top() -> None:
    (problem,) = override({"M_A__B": "1"}, b"[1]").problems
    assert problem.what == "the configuration has no named fields to override"


def test_values_come_from_their_variable_or_line() -> None:
    overridden = override({"M_LIMITS__A": "1", "M_HTTP__PORT": "2"})
    assert overridden.where(("http", "port")) == "variable M_HTTP__PORT: http.port"
    assert overridden.where(("http",)) == "f:1: http"
    assert overridden.where(("limits",)) == "variable M_LIMITS__A: limits"
    assert overridden.where(("suites", 0, "path")) == "f:2: suites[0].path"
