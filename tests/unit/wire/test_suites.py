import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from monitor.domain.errors import SuiteError
from monitor.domain.identifiers import Digest, ItemId, SuiteName
from monitor.domain.suites import (
    AnswerRules,
    Example,
    Generation,
    GraderSpec,
    ImageFile,
    ImagePart,
    Item,
    Message,
    Prompt,
    Suite,
    TextPart,
    item_digest,
    suite_digest,
)
from monitor.wire import images, suites
from monitor.wire.suites import Source
from tests.unit.wire import pictures

MANIFEST = """\
name: capitals
description: Capitals of the world
prompt:
  user: "{{ input }}"
generation: {temperature: 0, max_tokens: 64}
grader:
  kind: normalised
"""
ITEM = {"id": "fr", "input": "Capital of France?", "target": "Paris"}
OLD = """\
name: old
prompt: {user: "{{ metadata.n }} {{ input }}", system: Be brief.}
generation: {temperature: 0, max_tokens: 64}
grader: {kind: choice}
answers: {refusal_score: 1}
"""
LETTERS = """\
name: letters
prompt: {user: "{{ input }} {% for c in choices %}{{ c.letter }}) {{ c.text }} {% endfor %}"}
grader: {kind: choice}
choices: {shuffle: true, seed: 3}
"""
CHOICE = {"id": 1, "input": "Which?", "choices": ["w", "x", "y", "z"], "target": "A"}


PICTURE = pictures.data_url(pictures.png())


def decoded(manifest: str = MANIFEST, *items: Mapping[str, object]) -> Suite:
    lines = "\n".join(json.dumps(item) for item in items or [ITEM])
    return suites.decode_suite(
        Source(name="suite.yaml", content=manifest.encode()),
        Source(name="items.jsonl", content=lines.encode()),
    )


def problems(manifest: str = MANIFEST, *items: Mapping[str, object]) -> list[str]:
    with pytest.raises(SuiteError) as raised:
        decoded(manifest, *items)
    return [str(problem) for problem in raised.value.problems]


def rich() -> Suite:
    spec = GraderSpec(kind="choice", options={"letters": "AB"})
    asked = (
        Message(role="system", content="Look."),
        Message(role="user", content=(TextPart(text="?"), ImagePart(url=PICTURE, detail="low"))),
    )
    chat = Item(
        id=ItemId("1"),
        input=asked,
        target=("A", "B"),
        choices=("x", "y"),
        group="g",
        metadata={"deep": [1, None, {"x": 1.5}]},
        grader=spec,
        digest=item_digest(input=asked, target=("A", "B"), choices=("x", "y"), grader=spec),
    )
    text = Item(
        id=ItemId("zwei"),
        input="Zürich\u2028?",
        target=("no",),
        digest=item_digest(input="Zürich\u2028?", target=("no",)),
    )
    own: dict[str, Any] = {
        "generation": {"max_tokens": 3, "stop": (".",)},
        "prompt": {"system": None, "examples": ()},
    }
    special = Item(
        id=ItemId("3"),
        input="Why?",
        target=("no",),
        **own,
        digest=item_digest(input="Why?", target=("no",), **own),
    )
    return sealed((chat, text, special))


def sealed(items: tuple[Item, ...]) -> Suite:
    shown = Example(user=(TextPart(text="?"), ImagePart(url=PICTURE)), assistant="A cat")
    prompt = Prompt(user="Q: {{ input }}\n\n  A:", system="yes", examples=(shown,))
    generation = Generation(temperature=None, top_p=0.5, max_tokens=7, seed=1, stop=("a", "\n"))
    grader = GraderSpec(kind="regex", options={"pattern": r"(\w+)$", "group": 1})
    return Suite(
        name=SuiteName("s"),
        items=items,
        prompt=prompt,
        generation=generation,
        grader=grader,
        digest=suite_digest(items=items, prompt=prompt, generation=generation, grader=grader),
    )


def test_decoded_suite() -> None:
    suite = decoded()
    assert (suite.name, suite.grader.kind, suite.generation.max_tokens) == (
        "capitals",
        "normalised",
        64,
    )
    assert suite.items == (
        Item(
            id=ItemId("fr"),
            input="Capital of France?",
            target=("Paris",),
            digest=item_digest(input="Capital of France?", target=("Paris",)),
        ),
    )


def test_encoded_suite_decodes_to_itself() -> None:
    manifest, items = suites.encode_suite(rich(), description="über")
    assert (
        suites.decode_suite(Source(name="s", content=manifest), Source(name="i", content=items))
        == rich()
    )


def test_suites_that_exist_keep_their_digests() -> None:
    """What was measured on a suite stays comparable: none of these may ever change."""
    parts = [{"type": "text", "text": "?"}, {"type": "image", "image": "https://host/p.png"}]
    chat = {"id": "a", "input": [{"role": "user", "content": parts}], "target": "B", "group": "g"}
    text = {"id": 2, "input": "Who?", "target": ["x", "A"], "metadata": {"n": [1.5, None]}}
    own = {"grader": {"kind": "choice", "answer": "stated"}}
    first, second = (
        {**chat, "choices": ["x", "y"], "metadata": {"n": 1}},
        {**text, "choices": ["x", "y"], **own},
    )
    old = decoded(OLD, first, second)
    assert [item.digest[:16] for item in old.items] == ["8bef4aa0be90fd3d", "278619e3f2aff3e2"]
    assert old.digest[:16] == "fecaca788b9a692a"
    assert decoded().digest[:16] == "8a527ad54bf03e76"


def test_choices_are_shown_in_an_order_of_their_own() -> None:
    shuffled = decoded(LETTERS, CHOICE, {**CHOICE, "id": 2, "shuffle": False})
    plain = decoded(LETTERS.replace("true", "false"), CHOICE, {**CHOICE, "id": 2})
    assert sorted(shuffled.items[0].order) == [0, 1, 2, 3]
    assert shuffled.items[0].choices == ("w", "x", "y", "z")
    assert shuffled.items[1].order == plain.items[0].order == ()
    assert [item.digest for item in shuffled.items] == [item.digest for item in plain.items]
    seeded = decoded(LETTERS.replace("3", "4"), CHOICE, {**CHOICE, "id": 2, "shuffle": False})
    assert len({suite.digest for suite in (shuffled, plain, seeded)}) == 3


def test_shuffled_suite_decodes_to_itself() -> None:
    shuffled = decoded(LETTERS, CHOICE, {**CHOICE, "id": 2, "shuffle": False})
    manifest, items = suites.encode_suite(shuffled)
    again = suites.decode_suite(Source(name="", content=manifest), Source(name="", content=items))
    assert again == shuffled


@pytest.mark.parametrize(
    ("manifest", "item", "found"),
    [
        (LETTERS.replace("choice}", "exact}"), CHOICE, "only the grader choice knows"),
        (LETTERS.replace("choices %}", "[] %}"), CHOICE, "no template shows the choices"),
        (LETTERS, {**CHOICE, "input": [{"role": "user", "content": "?"}]}, "no template shows"),
    ],
)
def test_shuffling_that_cannot_be_undone(
    manifest: str, item: dict[str, object], found: str
) -> None:
    (problem,) = problems(manifest, item)
    assert problem.startswith(f"items.jsonl:1: choices: {found}")
    assert decoded(manifest, {**item, "shuffle": False}).items[0].order == ()


def test_templates_of_an_item_are_checked_and_read() -> None:
    (told,) = problems(MANIFEST, {**ITEM, "prompt": {"user": "{{ input"}})
    assert told.startswith("items.jsonl:1: prompt.user: the template cannot be used (line 1 of it)")
    reading = {**ITEM, "prompt": {"user": "{{ metadata.n }}"}}
    one, two = (decoded(MANIFEST, {**reading, "metadata": {"n": n}}) for n in (1, 2))
    assert one.items[0].digest != two.items[0].digest


@pytest.mark.parametrize(("shown", "asked"), [(0, 3), (1, 2), (3, 0)])
def test_pictures_sent_together_have_a_limit(shown: int, asked: int) -> None:
    """Of ten MiB each, in an example and in the question."""

    def find(name: str) -> ImageFile:
        digest = Digest(name)
        return ImageFile(name=name, folder="/s", digest=digest, size=images.LARGEST_TOGETHER // 2)

    def read(shown: int, asked: int) -> Suite:
        part = {"type": "image", "image": "p.png"}
        text = {"type": "text", "text": "?"}
        example = {"user": [text, *[part] * shown], "assistant": "x"}
        manifest = {"name": "s", "grader": {"kind": "exact"}, "prompt": {"examples": [example]}}
        turn = {"role": "user", "content": [text, *[part] * asked]}
        item = json.dumps({"id": 1, "input": [turn], "target": "x"}).encode()
        source = Source(name="suite.yaml", content=json.dumps(manifest).encode())
        return suites.decode_suite(source, Source(name="items.jsonl", content=item), find)

    read(min(shown, 1), min(asked, 1))
    with pytest.raises(SuiteError, match=r"items.jsonl:1: input: .*more than 20 MiB of pictures"):
        read(shown, asked)


def test_choices_without_a_letter_are_not_left_out_silently() -> None:
    normalised = LETTERS.replace("choice}", "normalised}").replace("true", "false")
    many = {**CHOICE, "choices": [f"c{number}" for number in range(27)], "target": "c26"}
    assert problems(normalised, many) == [
        "items.jsonl:1: choices: 27 choices are shown, but there are 26 letters (give fewer)"
    ]
    unseen = "name: s\ngrader: {kind: normalised}\n"
    assert len(decoded(unseen, many).items[0].choices) == 27


def test_rules_for_answers_are_part_of_the_digest() -> None:
    ruled = decoded(MANIFEST + "answers: {refusal_score: 1, latency_objective: true}\n")
    assert ruled.rules == AnswerRules(refusal_score=1.0, latency_objective=True)
    assert ruled.digest != decoded().digest
    again, items = suites.encode_suite(ruled)
    assert (
        suites.decode_suite(Source(name="", content=again), Source(name="", content=items)) == ruled
    )


def test_encoded_item_decodes_to_itself() -> None:
    for item in rich().items:
        assert suites.decode_item(suites.encode_item(item)) == item


def test_item_that_cannot_be_read() -> None:
    with pytest.raises(SuiteError, match="target: is missing"):
        suites.decode_item(b'{"id": 1, "input": "?"}')


@pytest.mark.parametrize(
    "change",
    [
        ("max_tokens: 64", "max_tokens: 65"),
        ("{{ input }}", "{{ input }}?"),
        ("normalised", "exact"),
    ],
)
def test_digest_covers_the_way_of_asking(change: tuple[str, str]) -> None:
    assert decoded(MANIFEST.replace(*change)).digest != decoded().digest


def test_digest_does_not_cover_names_and_groups() -> None:
    other = MANIFEST.replace("capitals", "other").replace("of the world", "")
    assert decoded(other, {**ITEM, "group": "g", "metadata": {"n": 1}}).digest == decoded().digest


def test_metadata_belongs_to_the_question_where_a_template_reads_it() -> None:
    reading = MANIFEST.replace("{{ input }}", "{{ metadata.n }}: {{ input }}")
    one, two = (decoded(reading, {**ITEM, "metadata": {"n": n}}) for n in (1, 2))
    assert one.items[0].digest != two.items[0].digest
    assert one.digest != two.digest


def test_order_of_items_counts() -> None:
    there = decoded(MANIFEST, ITEM, {**ITEM, "id": "b"})
    back = decoded(MANIFEST, {**ITEM, "id": "b"}, ITEM)
    assert there.digest != back.digest


@pytest.mark.parametrize(
    ("manifest", "found"),
    [
        ("", ["suite.yaml:1: must hold named fields (write `name: value` lines below it)"]),
        ("name: [", ["suite.yaml:1: is not YAML"]),
        ("name: s\n", ["suite.yaml:1: grader: is missing (add it)"]),
        (
            MANIFEST.replace("user:", "usr:"),
            ["suite.yaml:4: prompt.usr: unknown key (did you mean user?)"],
        ),
        (
            MANIFEST.replace("max_tokens: 64", "max_tokens: many"),
            ["suite.yaml:5: generation.max_tokens: must be a whole number"],
        ),
        (
            MANIFEST.replace("normalised", "normalized"),
            ["suite.yaml:7: grader.kind: unknown grader 'normalized' (did you mean normalised?)"],
        ),
        (
            MANIFEST + "  ignore_article: yes\n",
            ["suite.yaml:8: grader.ignore_article: unknown option (did you mean ignore_articles?)"],
        ),
        (
            MANIFEST.replace("{{ input }}", "{{ input"),
            ["suite.yaml:4: prompt.user: the template cannot be used (line 1 of it)"],
        ),
        (MANIFEST + "name: again\n", ["suite.yaml:8: name: stands here a second time"]),
        (
            MANIFEST.replace("{{ input }}", "{{ inptu }}"),
            ["items.jsonl:1: prompt.user: the template cannot be used: 'inptu' is undefined"],
        ),
    ],
)
def test_problems_of_the_manifest(manifest: str, found: list[str]) -> None:
    told = problems(manifest)
    assert len(told) == len(found)
    assert all(each.startswith(start) for each, start in zip(told, found, strict=True))


def test_problems_of_both_files_are_told_together() -> None:
    places = [problem.split(": ")[0] for problem in problems("nme: s\n", {"id": "x"}, {**ITEM})]
    assert places == ["suite.yaml:1"] * 3 + ["items.jsonl:1"] * 2


def test_problems_of_the_grader_are_told_once() -> None:
    items = ({**ITEM, "id": number} for number in range(5))
    assert len(problems(MANIFEST.replace("normalised", "nonsense"), *items)) == 1


def test_problems_of_an_item() -> None:
    own = {"kind": "numeric", "tolerence": 1}
    told = problems(MANIFEST, ITEM, {**ITEM, "id": 2, "target": "?"}, {**ITEM, "grader": own})
    assert [problem.partition(" (")[0] for problem in told] == [
        "items.jsonl:2: target: '?' cannot be an answer",
        "items.jsonl:3: id: 'fr' is the id of line 1 already",
        "items.jsonl:3: grader.tolerence: unknown option",
        "items.jsonl:3: target: 'Paris' cannot be an answer",
    ]


def test_empty_pool() -> None:
    empty = Source(name="items.jsonl", content=b"\n")
    with pytest.raises(SuiteError, match=r"^items\.jsonl:1: holds no items"):
        suites.decode_suite(Source(name="suite.yaml", content=MANIFEST.encode()), empty)


@pytest.mark.parametrize(
    ("manifest", "name"),
    [
        (MANIFEST, "items.jsonl"),
        (MANIFEST + "items: other.jsonl\n", "other.jsonl"),
        (MANIFEST + "items: ../other.jsonl\n", "items.jsonl"),
        ("?", "items.jsonl"),
    ],
)
def test_items_file(manifest: str, name: str) -> None:
    assert suites.items_file(Source(name="s", content=manifest.encode())) == name


def test_digest_of_a_decoded_item_needs_no_prompt() -> None:
    (item,) = decoded().items
    moved = replace(item, id=ItemId("other"), digest=Digest(""))
    assert suites.decode_item(suites.encode_item(moved)).digest == item.digest
