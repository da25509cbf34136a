import json
from dataclasses import replace

import pytest

from monitor.cli import output
from monitor.domain.results import Interval, Money, Outcome
from monitor.wire import results
from tests.unit.app.cancellations import result
from tests.unit.wire import examples

CANCELLED = result("e1", "chat", Outcome.CANCELLED).result


def test_a_result_is_whole_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_result(CANCELLED, results.decode(CANCELLED), as_json=True)
    assert json.loads(capsys.readouterr().out) == json.loads(CANCELLED)


def test_a_result_without_a_plan_is_a_short_table(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_result(CANCELLED, results.decode(CANCELLED), as_json=False)
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert [first for first, *_ in lines] == [
        "evaluation",
        "variant",
        "verdict",
        "It",
        "answers",
        "spend",
    ]


def test_texts_from_elsewhere_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    text = "HTTP 500: [bold]no[/b] :smile: [/x]"
    output.print_table("t", ["a"], [[text]])
    assert text in capsys.readouterr().out


def test_what_is_no_terminal_does_not_wrap(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_table("t", ["a", "b"], [["x" * 90, "y" * 90]])
    assert f"{'x' * 90}   {'y' * 90}" in capsys.readouterr().out


def test_numbers_for_people() -> None:
    interval = Interval(lower=0.1, upper=0.25, level=0.95, method="exact")
    assert output.bounds(interval, 2) == "[0.10, 0.25]"
    assert output.money(Money(amount=0.5, currency="EUR")) == "0.5000 EUR"
    assert output.money(None) == "no price configured"


def test_what_else_was_bought_is_told() -> None:
    value = results.encode(
        results.statistics_bytes(examples.PLAN, examples.FINDINGS),
        spend=examples.JUDGED_SPEND,
        times=examples.TIMES,
        source="/test",
        judging=examples.JUDGING,
    )
    rows = dict(output.result_rows(results.decode(value)))
    assert rows["judge spend"] == "12 requests, no price configured"
    told = "judge-1: 12 replies, 0 of them unusable; 2 of 6 pairs turned with their order"
    assert rows["judge strict"] == told


def rows_of(*, design: str, ess_ratio: float) -> list[str]:
    """Texts about what the answers are worth."""
    inference = replace(examples.PLAN.inference, design=design)
    plan = replace(examples.PLAN, inference=inference)
    estimate = replace(examples.ESTIMATE, ess_ratio=ess_ratio)
    findings = replace(examples.FINDINGS, estimate=estimate)
    value = results.encode(
        results.statistics_bytes(plan, findings),
        spend=examples.SPEND,
        times=examples.TIMES,
        source="/test",
    )
    rows = output.result_rows(results.decode(value))
    return [text for _, text in rows if "plain" in text]


def test_what_history_has_brought_is_told() -> None:
    draws, population = examples.PLAN.draws, examples.PLAN.population
    better, worse = (
        f"{output.plain_draws(draws, population, ratio):.0f} plain random draws"
        for ratio in (2.0, 0.5)
    )
    assert rows_of(design="without_replacement", ess_ratio=2.0) == [better]
    assert rows_of(design="without_replacement", ess_ratio=0.5) == [
        worse,
        "these draws made the interval wider than plain ones would have",
    ]
    assert rows_of(design="simple", ess_ratio=1.0) == []


@pytest.mark.parametrize("ratio", [0.5, 1.0, 3.0])
def test_plain_draws_are_as_precise_and_never_more_than_the_pool(ratio: float) -> None:
    plain = output.plain_draws(100, 200, ratio)
    assert 1 / plain - 1 / 200 == pytest.approx((1 / 100 - 1 / 200) / ratio)
    assert plain < 200
    assert output.plain_draws(100, 10**12, ratio) == pytest.approx(100 * ratio)


def test_a_terminal_breaks_between_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    output.print_text("Not worse than v2-better: +0.010.")
    assert capsys.readouterr().out == "Not worse than\nv2-better: +0.010.\n"
