"""The page for people: the last result of every variant on every suite, and nothing to load."""

from collections.abc import Mapping, Sequence

import jinja2

from monitor.adapters.prometheus_metrics import LastResult, clipped
from monitor.domain.results import Difference, Estimate

TEMPLATE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>model-variant-monitor</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; margin: 2em }
table { border-collapse: collapse }
caption { text-align: left }
th, td { padding: .3em .5em; border-bottom: 1px solid #8888; text-align: left; vertical-align: top }
td.number { text-align: right }
td.number, td.name { white-space: nowrap }
td.sentence { min-width: 12em }
.NOT_MET, .FAULTED { color: #c00; font-weight: bold }
.MET { color: #070 }
</style>
<h1>model-variant-monitor</h1>
{% for name, reason in troubles.items() %}
<p class="FAULTED">{{ name }}: {{ reason }}</p>
{% endfor %}
{% if results %}
<table>
<caption>Last results; numbers in brackets are confidence intervals, below the time
stands the id of the evaluation</caption>
<tr><th>Variant<th>Suite<th>Version<th>Verdict<th>Right answers<th>Change<th>Answers<th>Ended, UTC
{% for result in results %}
{% set verdict = result.findings.verdict %}
<tr><td class="name">{{ result.variant }}<td class="name">{{ result.suite }}
<td class="name">{{ result.version }}
<td class="sentence"><span class="{{ verdict.outcome }}">{{ verdict.outcome }}</span>
{{ verdict.severity or "" }}<br>{{ verdict.sentence }}
<td class="number">{{ estimate(result) }}<td class="number">{{ difference(result) }}
{% set compared = result.findings.difference %}
{% if compared %}<br>against {{ compared.previous_version }}{% endif %}
<td class="number">{{ result.findings.answered }} of {{ result.draws or "unknown" }}
<td class="name">{{ result.at.strftime("%Y-%m-%d %H:%M") }}
{% if result.evaluation_id %}<br><abbr title="{{ result.evaluation_id }}">
{{- result.evaluation_id[:8] }}</abbr>{% endif %}
{% endfor %}
</table>
{% else %}
<p>No results yet.</p>
{% endif %}
<p><a href="metrics">metrics</a> <a href="livez">livez</a> <a href="readyz">readyz</a></p>
</html>
"""


def render(results: Sequence[LastResult], *, troubles: Mapping[str, str]) -> str:
    """The page as HTML.

    Args:
        results: one row each, in this order.
        troubles: reasons by name why the daemon is not ready, shown above the table.
    """
    return _PAGE.render(
        results=results, troubles=troubles, estimate=_estimate, difference=_difference
    )


def _estimate(result: LastResult) -> str:
    estimate = result.findings.estimate
    if isinstance(estimate, Estimate):
        return _percent(estimate, lowest=0.0, form=".1%")
    return estimate.reason.replace("_", " ")


def _difference(result: LastResult) -> str:
    difference = result.findings.difference
    return "" if difference is None else _percent(difference, lowest=-1.0, form="+.1%")


def _percent(found: Estimate | Difference, *, lowest: float, form: str) -> str:
    value, lower, upper = (format(number, form) for number in clipped(found, lowest=lowest))
    return f"{value} [{lower}, {upper}]"


_PAGE = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string(TEMPLATE)
