import pytest

from monitor.domain.endpoints import host_allowed

ALLOWED = [
    ("https://api.example.com/v1", "api.example.com"),
    ("https://API.Example.com/v1", "api.EXAMPLE.com"),
    ("http://api.example.com:80/v1", "api.example.com"),
    ("https://api.example.com:/v1", "api.example.com"),
    ("http://vllm:8000/v1", "vllm:8000"),
    ("http://vllm:8000/v1", "vllm:*"),
    ("https://a.example.com/v1", "*.example.com"),
    ("https://a.b.example.com/v1", "*.example.com"),
    ("https://gpu.rack1/v1", "*.rack1"),
    ("http://127.0.0.1:8000", "127.0.0.1:8000"),
    ("http://[::1]:8000", "[::1]:8000"),
    ("http://[0:0:0:0:0:0:0:1]:8000", "[::1]:8000"),
    ("https://xn--bcher-kva.example/v1", "*.example"),
]

REFUSED = [
    ("https://example.com/v1", "*.example.com"),
    ("https://badexample.com/v1", "*.example.com"),
    ("https://badexample.com/v1", "example.com"),
    ("https://example.com.evil.test/v1", "example.com"),
    ("https://example.com.evil.test/v1", "*.example.com"),
    ("https://a.example.com/v1", "example.com"),
    ("https://example.com:8443/v1", "example.com"),
    ("http://example.com:443/v1", "example.com"),
    ("http://vllm/v1", "vllm:8000"),
    ("ftp://example.com/v1", "example.com"),
    ("file:///etc/passwd", "*.com"),
    ("//example.com/v1", "example.com"),
    ("example.com/v1", "example.com"),
    ("", "example.com"),
    ("https://user@example.com/v1", "example.com"),
    ("https://user:pass@example.com/v1", "example.com"),
    ("https://@example.com/v1", "example.com"),
    ("https://example.com@evil.test/v1", "example.com"),
    ("https://evil.test\\@example.com/v1", "example.com"),
    ("https://evil.test\\.example.com/v1", "*.example.com"),
    ("https://evil.test#.example.com/v1", "*.example.com"),
    ("https://evil.test?.example.com/v1", "*.example.com"),
    ("https://exa\tmple.com/v1", "example.com"),
    (" https://example.com/v1", "example.com"),
    ("https://example.com\n/v1", "example.com"),
    ("https://example.com./v1", "example.com"),
    ("https://%65xample.com/v1", "example.com"),
    ("https://ex\u0430mple.com/v1", "*.com"),
    ("https://\uff45xample.com/v1", "example.com"),
    ("https://a..example.com/v1", "*.example.com"),
    ("https://.example.com/v1", "*.example.com"),
    ("https://example.com:99999/v1", "example.com:*"),
    ("https://example.com:8a/v1", "example.com:*"),
    ("http://2130706433/", "127.0.0.1"),
    ("http://0x7f.0.0.1/", "127.0.0.1"),
    ("http://0x7f000001/", "0x7f000001"),
    ("http://0177.0.0.1/", "0177.0.0.1"),
    ("http://127.1/", "127.0.0.1"),
    ("http://127.1/", "127.1"),
    ("http://10.0.0.1/", "*.1"),
    ("http://10.0.0.1/", "*.0.0.1"),
    ("http://[::ffff:127.0.0.1]/", "127.0.0.1"),
    ("http://[::1%25eth0]/", "[::1]"),
    ("http://[::1/", "[::1]"),
    ("http://[::1]c:8/v1", "[::1]:*"),
    ("http://[::1]8/v1", "[::1]:*"),
    ("http://[v1.x]/", "[v1.x]"),
    ("https://example.com/v1", "*"),
    ("https://example.com/v1", "*."),
    ("https://example.com/v1", ""),
    ("https://example.com/v1", "https://example.com"),
    ("https://example.com/v1", "e*.com"),
]


@pytest.mark.parametrize(("base_url", "pattern"), ALLOWED)
def test_a_listed_host_is_allowed(base_url: str, pattern: str) -> None:
    assert host_allowed(base_url, ["other.test", pattern])


@pytest.mark.parametrize(("base_url", "pattern"), REFUSED)
def test_no_other_host_is(base_url: str, pattern: str) -> None:
    assert not host_allowed(base_url, [pattern])


def test_an_empty_list_allows_nothing() -> None:
    assert not host_allowed("https://example.com/v1", [])
