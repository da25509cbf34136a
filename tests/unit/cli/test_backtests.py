import json
from pathlib import Path

import numpy as np
import pytest

from monitor.history import outcomes
from tests.unit.cli.terminal import Ended, Terminal
from tests.unit.history import recorded

pytestmark = pytest.mark.slow


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    outcomes.write_outcomes(tmp_path / "outcomes.npz", recorded.matrix())
    return tmp_path / "outcomes.npz"


def run(terminal: Terminal, file: Path, *options: object) -> Ended:
    small = ("--runs", 1, "--budgets", "30,10%", "--processes", 1)
    return terminal.run("backtest", "--outcomes", file, *small, *options)


def test_tables_say_what_a_design_is_worth(terminal: Terminal, file: Path) -> None:
    ended = run(terminal, file, "--plot", file.with_suffix(".html"), "--seed", 4)
    assert ended.code == 0
    assert "8 targets, 1 evaluations each, by 8 models of other families" in ended.out
    rows = [line.split() for line in ended.out.splitlines()]
    assert [row[:2] for row in rows if row[:1] == ["simple"]][:2] == [
        ["simple", "30"],
        ["simple", "10%"],
    ]
    assert "coverage by release date" in ended.out
    assert "coverage by accuracy" in ended.out
    assert "evaluated: 16 of 16" in ended.err
    assert "ess_ratio" in file.with_suffix(".html").read_text(encoding="utf-8")


def test_json_and_records_tell_the_same(terminal: Terminal, file: Path) -> None:
    log = file.with_suffix(".jsonl")
    ended = run(terminal, file, "--designs", "simple", "--records", log, "--json")
    document = ended.document()
    records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert len(records) == 8 * 2
    assert {each["target"] for each in records} == set(range(8, 16))
    assert {each["n"] for each in records} == {30, 40}
    widths = [each["upper"] - each["lower"] for each in records if each["budget"] == "30"]
    assert document["designs"][0]["width"] == pytest.approx(np.mean(widths))
    assert (document["targets"], document["history"]) == (8, [8])


def test_given_factors_make_every_row_a_target(terminal: Terminal, file: Path) -> None:
    generator = np.random.default_rng(0)
    factors = {"U": generator.normal(size=(50, 1)), "V": generator.normal(size=(400, 1))}
    np.savez(file.parent / "factors.npz", **factors)  # type: ignore[arg-type]  # numpy's keywords
    chosen = ("--designs", "without_replacement", "--factors", file.parent / "factors.npz")
    document = run(terminal, file, *chosen, "--json").document()
    assert (document["targets"], document["history"]) == (16, [0])
    assert document["designs"][1]["by_guide"] > 0.5


@pytest.fixture
def repeated(file: Path) -> Path:
    """The same file with single answers."""
    with np.load(file) as arrays:
        np.savez(file, samples=recorded.samples(), **arrays)
    return file


def test_pairs_are_compared_with_plain_draws(terminal: Terminal, repeated: Path) -> None:
    designs = ("--designs", "simple,stratified,stratified_oracle", "--scores", "first")
    ended = run(terminal, repeated, *designs, "--surrogate", "row:model-2,row:model-9")
    assert ended.code == 0
    assert "beside plain draws" in ended.out
    rows = [line.split() for line in ended.out.splitlines()]
    (found,) = [row for row in rows if row[:3] == ["stratified", "30", "7"]]
    assert 0.2 < float(found[3]) < 0.9
    assert found[8].startswith(("+", "-"))


def test_json_tells_what_strata_save(terminal: Terminal, repeated: Path) -> None:
    chosen = ("--designs", "stratified,stratified_published", "--split", "model")
    document = run(terminal, repeated, *chosen, "--surrogate", "auto", "--json").document()
    assert document["surrogate"] == "auto"
    assert {each["pairs"] for each in document["gains"]} == {16 * 15}
    assert all(each["saving"] > 0.1 for each in document["gains"])


def test_a_shuffled_signal_saves_nothing(terminal: Terminal, repeated: Path) -> None:
    chosen = ("--designs", "stratified", "--surrogate", "auto", "--shuffled")
    document = run(terminal, repeated, *chosen, "--json").document()
    assert all(abs(each["ratio"] - 1.0) < 0.03 for each in document["gains"])


def test_strata_are_set_by_options(terminal: Terminal, repeated: Path) -> None:
    chosen = ("--designs", "stratified_published", "--surrogate", "auto", "--json")
    one, usual = (
        run(terminal, repeated, *chosen, *options).document()["gains"][0]["ratio"]
        for options in (("--strata", 1, "--smoothing", 0.5), ())
    )
    assert one == pytest.approx(1.0)
    assert usual < 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--designs", "best"), "error: --designs: there is no design 'best'; there are simple, "),
        (("--budgets", "0"), "error: --budgets 0: must be a count such as 200 or a share such as"),
        (("--budgets", "500"), "error: --budgets 500: 500 draws, but no target has more than 400"),
        (("--observed", "ten"), "error: --observed 'ten': must be a share of all cells such as"),
        (("--level", "1"), "error: --level 1: must lie between 0 and 1"),
        (("--tau", "0"), "error: --tau 0: must be above 0 and at most 1"),
        (("--rho", "-1"), "error: --rho -1: must be a number that is not negative"),
        (("--split", "pairs"), "error: --split pairs: there is no target in the file"),
        (("--factors", "absent.npz"), "error: absent.npz: there is no such file"),
        (("--records", "absent/r.jsonl"), "error: absent/r.jsonl: cannot be written: No such file"),
        (("--designs", "lure"), "error: --designs lure: name a surrogate, such as --surrogate"),
        (("--surrogate", "auto"), "error: --surrogate: none of the designs goes by one; these do"),
        (("--surrogate", "best"), "error: --surrogate 'best': must be row:MODEL"),
        (("--surrogate", "row:gpt"), "error: --surrogate row:gpt: the outcomes have no model"),
        (("--shuffled",), "error: --shuffled and --same-prefix are about a surrogate: add"),
        (("--scores", "first"), "error: --scores first: "),
        (("--smoothing", "-1"), "error: --strata, --smoothing: smoothing: must be a finite"),
        (("--runs", "0"), "'--runs'"),
        (("--split", "random"), "'--split'"),
    ],
)
def test_what_cannot_be_done_is_told_before_it_is_begun(
    terminal: Terminal, file: Path, options: tuple[str, ...], message: str
) -> None:
    ended = run(terminal, file, *options)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err
    assert "learnt" not in ended.err
