"""What is wrong with a suite that can be read, and what about it may surprise.

A warning is for what works and still makes scores mean less than they seem to: a question that is
asked twice, an answer that is right for most items, a target that the question gives away.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from monitor.adapters.grader_processes import GraderProcesses
from monitor.adapters.suite_files import read_suite
from monitor.app.reports import Report, count
from monitor.domain.errors import Problem, SuiteError
from monitor.domain.suites import Item, Message, Suite, TextPart
from monitor.grading import graders, normalisation
from monitor.prompting import templates
from monitor.settings import LimitSettings

CHARACTERS_PER_TOKEN = 4  # of English text, roughly; other scripts need more tokens
COMMON_SHARE = 0.5
FEW_ITEMS = 20
NAMED_AT_MOST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """A suite in numbers.

    groups, graders: items by name. question_tokens: estimated, of one item on average.
    answer_tokens: allowed at most, of one item on average.
    """

    items: int
    groups: dict[str, int]
    graders: dict[str, int]
    different_targets: int
    question_tokens: int
    answer_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What was found; no figures where the suite cannot be read."""

    report: Report
    figures: Figures | None


async def check_file(path: Path) -> Checked:
    """Check a suite by itself.

    Args:
        path: the suite's folder, or its suite.yaml.
    """
    try:
        suite = read_suite(path)
    except SuiteError as error:
        return Checked(report=Report(problems=[*error.problems]), figures=None)
    report = await check(suite, seconds=LimitSettings().grader_seconds)
    return Checked(report=report, figures=figures(suite))


async def check(suite: Suite, *, seconds: float) -> Report:
    """Check a suite; each target must score 1 against itself.

    Args:
        suite: what to check.
        seconds: time limit for grading one target.
    """
    report = Report()
    processes = GraderProcesses(seconds=seconds, workers=1)
    try:
        report.problems.extend(await graders.self_check(suite, processes.grade))
    finally:
        await processes.close()
    report.warnings.extend(_surprises(suite))
    groups = f" in {count(len(suite.groups), 'group')}" if suite.groups else ""
    report.notes.append(f"{_where(suite)}: {count(len(suite.items), 'item')}{groups}")
    for kind in dict.fromkeys(spec.kind for spec in graders.outside(suite)):
        needs = graders.OUTSIDE[kind].needs
        report.notes.append(
            f"{_where(suite)}: the grader {kind} is not tried here; it needs {needs}"
        )
    return report


def figures(suite: Suite) -> Figures:
    """The suite in numbers."""
    texts = [_text(templates.render(suite, item)) for item in suite.items]
    items = len(suite.items)
    limits = [suite.generation_of(item).max_tokens for item in suite.items]
    return Figures(
        items=items,
        groups=dict(sorted(Counter(item.group or "" for item in suite.items).items())),
        graders=dict(Counter(suite.grader_of(item).kind for item in suite.items).most_common()),
        different_targets=len({item.target for item in suite.items}),
        question_tokens=round(sum(map(len, texts)) / CHARACTERS_PER_TOKEN / items),
        answer_tokens=round(sum(limits) / items),
    )


def _surprises(suite: Suite) -> Iterator[Problem]:
    for finds, what, todo in PECULIAR_ITEMS:
        items = [item for item in suite.items if finds(suite, item)]
        if items:
            some = f"{count(len(items), 'item')} {what}, the first is {items[0].id!r:.80}"
            yield Problem(where=_where(suite), what=some, todo=todo)
    yield from _repeated_questions(suite)
    yield from _common_answer(suite)
    yield from _small_groups(suite)


def _where(suite: Suite) -> str:
    return f"suite {suite.name!r}"


def _hides_choices(suite: Suite, item: Item) -> bool:
    """Whether the words of a choice stand nowhere in what is asked; a picture may show them."""
    messages = templates.render(suite, item) if item.choices else ()
    if any(not isinstance(part, TextPart) for message in messages for part in _parts(message)):
        return False
    text = _text(messages)
    return not all(choice in text for choice in item.choices)


def _ignores_choices(suite: Suite, item: Item) -> bool:
    kind = suite.grader_of(item).kind
    return bool(item.choices) and kind in graders.GRADERS and kind != "choice"


def _repeats_choices(_suite: Suite, item: Item) -> bool:
    return len({normalisation.normalise(choice) for choice in item.choices}) < len(item.choices)


def _gives_away(suite: Suite, item: Item) -> bool:
    """Whether an answer that repeats the question would be right."""
    spec = suite.grader_of(item)
    if spec.kind != "include":
        return False
    return graders.grade(spec, item, _text(templates.render(suite, item)[-1:])).score == 1.0


PECULIAR_ITEMS: Sequence[tuple[Callable[[Suite, Item], bool], str, str]] = (
    (
        _hides_choices,
        "with choices that the model is not shown",
        "name `choices` in prompt.user, or repeat them in the item's input",
    ),
    (
        _ignores_choices,
        "with choices, but a grader that does not know them",
        "use the grader choice, or leave the choices out",
    ),
    (
        _repeats_choices,
        "with the same choice twice",
        "change one of the two: only the letter of the target is right",
    ),
    (
        _gives_away,
        "whose question holds a target that need only occur in the answer",
        "use a grader that compares what the text states",
    ),
)
"""What may be peculiar about an item, in words, and what to do about it."""


def _repeated_questions(suite: Suite) -> Iterator[Problem]:
    """Items that ask what another asks; worse, with another target."""
    asked: defaultdict[object, list[Item]] = defaultdict(list)
    for item in suite.items:
        asked[templates.render(suite, item)].append(item)
    same = [items for items in asked.values() if len(items) > 1]
    contradictory = [items for items in same if len({item.target for item in items}) > 1]
    for found, what, todo in (
        (contradictory, "asked with different targets", "correct one of the targets"),
        (
            [items for items in same if items not in contradictory],
            "asked more than once",
            "keep one: a second answer tells little that is new, and is paid for",
        ),
    ):
        if found:
            first = ", ".join(item.id for item in found[0][:NAMED_AT_MOST])
            some = f"{count(len(found), 'question')} {what}, the first by {first:.160}"
            yield Problem(where=_where(suite), what=some, todo=todo)


def _common_answer(suite: Suite) -> Iterator[Problem]:
    if len(suite.items) < FEW_ITEMS:
        return
    normal = ({normalisation.normalise(target) for target in item.target} for item in suite.items)
    answer, right = Counter(each for targets in normal for each in targets).most_common(1)[0]
    if right > COMMON_SHARE * len(suite.items):
        what = f"{right / len(suite.items):.0%} of the items have the target {answer!r:.40}"
        todo = "a model that always says so gets that score: add items with other targets"
        yield Problem(where=_where(suite), what=what, todo=todo)


def _small_groups(suite: Suite) -> Iterator[Problem]:
    sizes = Counter(item.group for item in suite.items if item.group is not None)
    single = sorted(group for group, size in sizes.items() if size == 1)
    if single:
        what = f"{count(len(single), 'group')} of a single item, the first is {single[0]!r:.80}"
        todo = "a group of one says nothing of its kind: file the item elsewhere"
        yield Problem(where=_where(suite), what=what, todo=todo)


def _text(messages: Sequence[Message]) -> str:
    return "\n".join(
        part.text for message in messages for part in _parts(message) if isinstance(part, TextPart)
    )


def _parts(message: Message) -> Sequence[object]:
    content = message.content
    return (TextPart(text=content),) if isinstance(content, str) else content
