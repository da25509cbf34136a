import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.service.daemon import Daemon
from monitor.simulation.knobs import Fault, Knobs, Trigger
from monitor.simulation.texts import NO_ANSWER
from tests.unit.app.installations import (
    NOWHERE,
    Served,
    served,
    write_foreign_history,
    write_history,
)
from tests.unit.cli.terminal import Ended, Terminal

pytestmark = pytest.mark.slow

SECRET = "canary-0123456789"


@pytest.fixture
def endpoint() -> Iterator[Served]:
    with served() as found:
        yield found


def evaluate(terminal: Terminal, *options: object, base_url: str = NOWHERE) -> Ended:
    named = ["--suite", "suite", "--base-url", base_url, "--model", "good", "--version", "good"]
    return terminal.run("evaluate", *named, *options)


MISTAKES = [
    (("--before", "yesterday"), "--before: must be a valid date"),
    (("--item-seconds", "0"), "--item-seconds: must be greater than 0"),
    (("--gate-seconds", "-1"), "--gate-seconds: must be greater than 0"),
    (("--credential-env", "lower"), "--credential-env: must be the name of a variable"),
    (("--credential-env", "ABSENT"), "--credential-env: environment variable ABSENT is not set"),
    (("--base-url", "ftp://x"), "--base-url: must be an http or https URL"),
    (("--base-url", f"http://me:{SECRET}@host/v1"), "--base-url: must be an http or https URL"),
    (("--base-url", "http://[::1/v1"), "--base-url: must have a host"),
    (("--base-url", "http://host:99999/v1"), "--base-url: must have a host, and a port"),
    (("--base-url", "http://127.1/v1"), "--base-url: its host is not allowed or oddly written"),
    (("--model", ""), "--model: "),
    (("--budget", "some"), "--budget 'some' must be a count such as 200"),
    (("--tolerance", "0"), "objective.tolerance"),
    (("--variant", "a/b"), "variant: "),
    (("--history", "absent.npz"), "absent.npz: there is no such file"),
    (("--history", "suite/suite.yaml"), "suite.yaml: cannot be read"),
    (("--guide", "guide.safetensors"), "give --history or --guide, not both"),
    (("--suite", "absent"), "absent: no such file or directory"),
    (("--suite", "suite/items.jsonl"), "items.jsonl:2: "),
    (("--state", "suite/suite.yaml"), "suite.yaml: File exists"),
]


@pytest.mark.parametrize(("options", "message"), MISTAKES)
@pytest.mark.usefixtures("pool")
def test_a_mistake_is_explained(options: tuple[str, str], message: str, terminal: Terminal) -> None:
    ended = evaluate(terminal, "--version", "1", "--history", "history.npz", *options)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: ")
    assert message in ended.err
    assert SECRET not in ended.err


def test_again_is_not_bought_again(pool: Path, terminal: Terminal, endpoint: Served) -> None:
    options = ("--state", pool / "new", "--history", "history.npz", "--json")
    first = evaluate(terminal, *options, base_url=endpoint.base_url)
    second = evaluate(terminal, *options, base_url=endpoint.base_url)
    assert (first.code, second.code) == (0, 0)
    assert first.document() == second.document()
    assert "nothing was asked" in second.err
    assert "another --version asks again" in second.err
    assert endpoint.asked() == 60


def test_the_second_version_is_compared(pool: Path, terminal: Terminal, endpoint: Served) -> None:
    state = ("--state", pool / "new")
    evaluate(terminal, *state, base_url=endpoint.base_url)
    options = ("--model", "bad", "--version", "bad")
    ended = evaluate(terminal, *state, *options, base_url=endpoint.base_url)
    assert ended.code == 1
    assert "against good" in ended.out


@pytest.mark.usefixtures("pool")
def test_at_least_decides_without_a_version_before(terminal: Terminal, endpoint: Served) -> None:
    ended = [
        evaluate(terminal, "--at-least", share, base_url=endpoint.base_url)
        for share in ("0.7", "0.9")
    ]
    assert [each.code for each in ended] == [0, 1]
    assert "compare" not in ended[0].err


@pytest.mark.usefixtures("pool")
def test_history_can_be_narrowed(terminal: Terminal, endpoint: Served) -> None:
    options = ("--budget", "20", "--history", "history.npz", "--json")
    digests = {
        pattern: evaluate(
            terminal, *options, "--exclude", pattern, base_url=endpoint.base_url
        ).document()["data"]["statistics"]["plan"]["history_digest"]
        for pattern in ("none", "earlier-0*")
    }
    assert digests["none"] != digests["earlier-0*"]


FOREIGN = [(("--exclude", "earlier-*"), "history.npz"), (("--history", "other.npz"), "other.npz")]


@pytest.mark.parametrize(("options", "file"), FOREIGN)
def test_history_of_which_nothing_fits_is_an_error(
    options: tuple[str, str], file: str, pool: Path, terminal: Terminal
) -> None:
    write_foreign_history(pool / "other.npz")
    ended = evaluate(terminal, "--history", "history.npz", *options)
    assert (ended.code, ended.out) == (2, "")
    assert f"{file}: holds no outcome for suite 'arithmetic' that may be used" in ended.err


def test_history_of_some_items_is_a_warning(
    pool: Path, terminal: Terminal, endpoint: Served
) -> None:
    write_history(pool / "history.npz", items=20)
    ended = evaluate(terminal, "--history", "history.npz", base_url=endpoint.base_url)
    assert ended.code == 0
    assert "warning: suite 'arithmetic': history covers 20 of 60 items (" in ended.err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "any estimate is MET; give --state DIR to keep results, or --at-least"),
        (("--state", "kept"), "any estimate is MET; the next version will be compared"),
    ],
)
@pytest.mark.usefixtures("pool")
def test_nothing_to_compare_with_is_told(
    options: tuple[str, ...], says: str, terminal: Terminal, endpoint: Served
) -> None:
    assert says in evaluate(terminal, *options, base_url=endpoint.base_url).err


@pytest.mark.usefixtures("pool")
def test_a_share_is_meant_as_it_stands(terminal: Terminal, endpoint: Served) -> None:
    ended = evaluate(terminal, "--budget", "50%", "--json", base_url=endpoint.base_url)
    assert ended.document()["data"]["statistics"]["plan"]["draws"] == 30


@pytest.mark.usefixtures("pool")
def test_a_base_url_that_ends_too_early_is_hinted_at(terminal: Terminal, endpoint: Served) -> None:
    ended = evaluate(terminal, base_url=endpoint.base_url.removesuffix("/v1"))
    assert ended.code == 4
    assert "hint: does --base-url lack /v1 at its end?" in ended.err


@pytest.mark.usefixtures("pool")
def test_an_endpoint_that_is_down_is_faulted(terminal: Terminal) -> None:
    ended = evaluate(terminal, "--gate-seconds", "2")
    assert ended.code == 4
    assert "waiting for the endpoint" in ended.err
    assert "FAULTED (endpoint_fault)" in ended.out


@pytest.fixture
def interrupted(pool: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> Ended:
    """Variant a at an endpoint that is nowhere: its event is in `new`, its evaluation is open."""

    async def interrupt(daemon: Daemon) -> None:
        signal.raise_signal(signal.SIGINT)
        await daemon._stopping.wait()  # noqa: SLF001 - what stopping it does

    with monkeypatch.context() as patch:
        patch.setattr(Daemon, "run", interrupt)
        return evaluate(terminal, "--state", pool / "new", "--variant", "a")


def test_an_interruption_says_where_it_goes_on(interrupted: Ended) -> None:
    assert (interrupted.code, interrupted.out) == (130, "")
    assert interrupted.err.startswith("interrupted; the answers so far are in ")


@pytest.mark.usefixtures("interrupted")
def test_what_is_open_elsewhere_is_bought_when_it_is_asked_for(
    pool: Path, terminal: Terminal, endpoint: Served
) -> None:
    for variant, asked in (("b", 60), ("a", 120)):
        options = ("--state", pool / "new", "--variant", variant)
        assert evaluate(terminal, *options, base_url=endpoint.base_url).code == 0
        assert endpoint.asked() == asked


def test_a_kept_result_needs_a_version(terminal: Terminal) -> None:
    ended = terminal.run(
        *("evaluate", "--suite", "suite", "--base-url", NOWHERE, "--model", "good"),
        *("--state", "state"),
    )
    assert ended.code == 2
    assert "--state needs --version" in ended.err


@pytest.fixture
def unsure() -> Iterator[Served]:
    """An endpoint that gives no answer to one question in three."""
    knobs = Knobs(faults={Fault.NO_ANSWER: Trigger(share=0.35)})
    with served(knobs=knobs) as found:
        yield found


@pytest.mark.parametrize("state", [(), ("--state", "kept")], ids=["temporary", "kept"])
@pytest.mark.usefixtures("pool")
def test_answers_without_a_score_are_shown(
    state: tuple[str, ...], terminal: Terminal, unsure: Served
) -> None:
    silent = evaluate(terminal, *state, base_url=unsure.base_url)
    ended = evaluate(terminal, "--show-ungraded", *state, base_url=unsure.base_url)
    assert NO_ANSWER not in silent.out + silent.err
    assert ended.out.count(NO_ANSWER) == ended.out.count(": no_answer\n") > 0


@pytest.mark.usefixtures("pool")
def test_answers_without_a_score_do_not_disturb_json(terminal: Terminal, unsure: Served) -> None:
    ended = evaluate(terminal, "--show-ungraded", "--json", base_url=unsure.base_url)
    counts = ended.document()["data"]["statistics"]["counts"]
    assert ended.err.count(NO_ANSWER) == counts["no_answer"] > 0


def test_a_result_is_printed_whatever_became_of_the_answers(
    pool: Path, terminal: Terminal, endpoint: Served
) -> None:
    (pool / "kept").mkdir()
    (pool / "kept" / "kept_answers.sqlite3").write_bytes(b"no database at all" * 100)
    options = ("--show-ungraded", "--state", "kept")
    ended = evaluate(terminal, *options, base_url=endpoint.base_url)
    assert ended.code == 0
    assert "the answers without a score cannot be shown: " in ended.out
