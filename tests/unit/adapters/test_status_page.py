from dataclasses import replace

import pytest

from monitor.adapters import status_page
from monitor.domain.identifiers import EvaluationId
from monitor.domain.results import Severity
from tests.unit.adapters import examples

ID = EvaluationId("0123456789abcdef")
VERDICT = replace(examples.findings().verdict, severity=Severity.CRITICAL)
RESULT = replace(examples.result(replace(examples.findings(), verdict=VERDICT)), evaluation_id=ID)


@pytest.mark.parametrize(
    "shown",
    [
        '<td class="name">support-chat<td class="name">faq\n<td class="name">2026-11-29.1',
        '<span class="NOT_MET">NOT_MET</span>\ncritical<br>It is worse.',
        "80.0% [75.0%, 85.0%]",
        "-10.0% [-15.0%, -5.0%]",
        "<br>against 2026-11-28.1",
        "95 of 100",
        '<td class="name">2026-11-29 12:00',
        f'<abbr title="{ID}">01234567</abbr>',
    ],
)
def test_result_is_a_row(shown: str) -> None:
    assert shown in status_page.render([RESULT], troubles={})


def test_reason_stands_where_there_is_no_estimate() -> None:
    page = status_page.render([examples.result(examples.nothing_found())], troubles={})
    assert "no answers" in page
    assert "%" not in page


def test_what_is_not_known_is_left_out() -> None:
    found = examples.result(examples.nothing_found())
    page = status_page.render([found], troubles={})
    assert not any(word in page for word in ("None", "against", "<abbr"))


def test_unknown_plan_is_not_a_zero() -> None:
    assert "95 of unknown" in status_page.render([replace(RESULT, draws=None)], troubles={})


def test_page_without_results_says_so() -> None:
    page = status_page.render([], troubles={})
    assert "No results yet." in page
    assert "<table>" not in page


def test_troubles_are_shown() -> None:
    assert "bus: no partition" in status_page.render([], troubles={"bus": "no partition"})


def test_texts_are_escaped() -> None:
    verdict = replace(examples.findings().verdict, sentence="<script>alert()</script>")
    result = examples.result(replace(examples.findings(), verdict=verdict))
    page = status_page.render([result], troubles={"<b>": "<i>"})
    assert "&lt;script&gt;" in page
    assert not any(tag in page for tag in ("<script>", "<b>", "<i>"))


def test_page_loads_nothing_from_elsewhere() -> None:
    page = status_page.render([RESULT], troubles={})
    assert not any(word in page for word in ("http:", "https:", "src=", "<link", "@import"))
