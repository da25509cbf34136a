import pytest
from pydantic import TypeAdapter, ValidationError

from monitor.wire import texts

NAME = TypeAdapter(texts.Name)
BASE_URL = TypeAdapter(texts.BaseUrl)
HOST_PATTERN = TypeAdapter(texts.HostPattern)
VARIABLE_NAME = TypeAdapter(texts.VariableName)
CURRENCY = TypeAdapter(texts.Currency)

RIGHT = [
    (NAME, "prod-eu.1_a"),
    (NAME, "a" * 100),
    (BASE_URL, "http://localhost:8000/v1"),
    (BASE_URL, "https://[::1]"),
    (HOST_PATTERN, "*.example.com:8443"),
    (HOST_PATTERN, "[::1]:*"),
    (VARIABLE_NAME, "_KEY_1"),
    (CURRENCY, "EUR"),
]
WRONG = [
    (NAME, ""),
    (NAME, "-a"),
    (NAME, "a b"),
    (NAME, "a\n"),
    (NAME, "a" * 101),
    (BASE_URL, "localhost:8000"),
    (BASE_URL, "http://user@host/v1"),
    (BASE_URL, "http://host/v1?key=1"),
    (HOST_PATTERN, "https://host"),
    (HOST_PATTERN, "a.*.com"),
    (HOST_PATTERN, "host:port"),
    (VARIABLE_NAME, "sk-12"),
    (VARIABLE_NAME, "key"),
    (CURRENCY, "euro"),
]


@pytest.mark.parametrize(("kind", "text"), RIGHT)
def test_right_texts_are_kept(kind: TypeAdapter[str], text: str) -> None:
    assert kind.validate_python(text) == text


@pytest.mark.parametrize(("kind", "text"), WRONG)
def test_wrong_texts_are_refused_with_what_they_must_be(kind: TypeAdapter[str], text: str) -> None:
    with pytest.raises(ValidationError, match="must be"):
        kind.validate_python(text)
