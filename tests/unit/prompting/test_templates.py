from collections.abc import Callable
from typing import Any

import pytest

from monitor.domain.errors import SuiteError
from monitor.domain.identifiers import Digest, ItemId, SuiteName
from monitor.domain.suites import (
    Example,
    Generation,
    GraderSpec,
    ImagePart,
    Item,
    Message,
    Prompt,
    Suite,
)
from monitor.prompting import templates

QUESTION = "2 + 2?"
CHAT = (
    Message(role="user", content=(ImagePart(url="https://host/picture.png"),)),
    Message(role="assistant", content="{{ not a template }}"),
)


def rendered(
    asked: str | tuple[Message, ...] = QUESTION,
    *,
    prompt: Prompt,
    metadata: dict[str, Any] | None = None,
    **own: Any,  # noqa: ANN401 - fields of an item
) -> tuple[Message, ...]:
    item = Item(
        id=ItemId("1"),
        input=asked,
        target=("4",),
        choices=("3", "4"),
        metadata=metadata or {},
        digest=Digest("d"),
        **own,
    )
    return templates.render(suite_of(item, prompt), item)


def suite_of(item: Item, prompt: Prompt) -> Suite:
    return Suite(
        name=SuiteName("s"),
        items=(item,),
        prompt=prompt,
        generation=Generation(),
        grader=GraderSpec(kind="exact"),
        digest=Digest("d"),
    )


@pytest.mark.parametrize(
    ("user", "text"),
    [
        ("{{ input }}", QUESTION),
        ("{{ input }}\n", QUESTION),
        ("Q: {{ input | upper }} {{ 2 * 3 }}", "Q: 2 + 2? 6"),
        ("{% for c in choices %}{{ c.letter }}) {{ c.text }} {% endfor %}", "A) 3 B) 4 "),
        ("{% for letter, text in choices %}{{ letter }}={{ text }};{% endfor %}", "A=3;B=4;"),
        ("{{ metadata.topic }} {{ metadata['topic'] }}", "<sums> <sums>"),
        ("{{ metadata.year | default('unknown') }}", "unknown"),
        ("{% for n in range(3) %}{{ n }}{% endfor %}", "012"),
    ],
)
def test_user_template(user: str, text: str) -> None:
    (message,) = rendered(prompt=Prompt(user=user), metadata={"topic": "<sums>"})
    assert message == Message(role="user", content=text)


def test_text_of_an_item_is_no_template() -> None:
    assert rendered("{{ 1 + 1 }}", prompt=Prompt())[0].content == "{{ 1 + 1 }}"


def test_system_message_comes_first() -> None:
    system, user = rendered(prompt=Prompt(system="Of {{ choices | length }}: {{ input }}"))
    assert system == Message(role="system", content=f"Of 2: {QUESTION}")
    assert user.content == QUESTION


def test_chat_messages_are_sent_as_they_are() -> None:
    assert rendered(CHAT, prompt=Prompt(user="never used {{ nor valid")) == CHAT
    assert rendered(CHAT, prompt=Prompt(system="S{{ input }}")) == (
        Message(role="system", content="S"),
        *CHAT,
    )


def test_an_items_own_system_message_takes_the_place_of_the_suites() -> None:
    own = (Message(role="system", content="Own."), *CHAT)
    assert rendered(own, prompt=Prompt(system="{{ nonsense }}")) == own


EXAMPLES = (
    Example(user="{{ 1 + 1 }}?", assistant="2"),
    Example(user=(ImagePart(url="https://host/2.png"),), assistant="A cat"),
)
SHOWN = (
    Message(role="user", content="{{ 1 + 1 }}?"),
    Message(role="assistant", content="2"),
    Message(role="user", content=(ImagePart(url="https://host/2.png"),)),
    Message(role="assistant", content="A cat"),
)


def test_examples_stand_between_system_message_and_question() -> None:
    prompt = Prompt(system="S", examples=EXAMPLES)
    system, own = Message(role="system", content="S"), Message(role="system", content="Own.")
    assert rendered(prompt=prompt) == (system, *SHOWN, Message(role="user", content=QUESTION))
    assert rendered(CHAT, prompt=prompt) == (system, *SHOWN, *CHAT)
    assert rendered((own, *CHAT), prompt=prompt) == (own, *SHOWN, *CHAT)


def test_an_item_may_have_a_prompt_of_its_own() -> None:
    prompt = Prompt(user="?", system="S", examples=EXAMPLES)
    own = {"user": "!{{ input }}", "system": None, "examples": ()}
    item = Item(id=ItemId("1"), input=QUESTION, target=("4",), prompt=own, digest=Digest("d"))
    (message,) = templates.render(suite_of(item, prompt), item)
    assert message.content == f"!{QUESTION}"


def test_choices_are_seen_as_they_are_shown() -> None:
    listing = Prompt(user="{% for c in choices %}{{ c.letter }}) {{ c.text }} {% endfor %}")
    (message,) = rendered(prompt=listing, order=(1, 0))
    assert message.content == "A) 4 B) 3 "


REFUSED = [
    ("{{ inptu }}", "'inptu' is undefined"),
    ("{{ metadata.topic }}", "no attribute 'topic'"),
    ("{{ input", "line 1 of it"),
    ("\n{% for %}", "line 2 of it"),
    ("{{ input | nonsense }}", "No filter named 'nonsense'"),
    ("{{ ''.__class__.__mro__ }}", "'__class__' of 'str' object is unsafe"),
    ("{{ '{0.__class__}'.format(input) }}", "'__class__' of 'str' object is unsafe"),
    ("{{ cycler.__init__.__globals__ }}", "unsafe"),
    ("{{ metadata.update({'a': 1}) }}", "'update' of 'dict' object is unsafe"),
    ("{{ range(10 ** 9) | list }}", "no powers"),
    ("{{ range(1000000000) | list }}", "more than 10000 numbers"),
    ("{{ range(99999999999999999999) | list }}", "more than 10000 numbers"),
    (
        "{% for a in range(999) %}{% for b in range(999) %}{% endfor %}{% endfor %}",
        "more than 10000 numbers",
    ),
    ("{{ 'a' * 1000000000 }}", "only numbers are multiplied"),
    ("{{ [1] * 1000000000 }}", "only numbers are multiplied"),
    ("{{ choices | random }}", "No filter named 'random'"),
    ("{{ lipsum() }}", "'lipsum' is undefined"),
    ("{% include 'secret' %}", "no loader"),
    ("{{ 1 / 0 }}", "division by zero"),
    ("{{ input() }}", "not callable"),
    ("{{ choices[5] }}", "no element 5"),
    ("{{ input + 1 }}", "can only concatenate str"),
    ("{% for x in [0] recursive %}{{ loop([0]) }}{% endfor %}", "recursion"),
    ("{{ '%99999999999d' % 1 }}", "MemoryError"),
]


@pytest.mark.parametrize(("template", "what"), REFUSED)
@pytest.mark.parametrize(
    ("field", "prompt"),
    [
        ("prompt.user", lambda template: Prompt(user=template)),
        ("prompt.system", lambda template: Prompt(system=template)),
    ],
)
def test_refused(field: str, prompt: Callable[[str], Prompt], template: str, what: str) -> None:
    with pytest.raises(SuiteError) as raised:
        rendered(prompt=prompt(template))
    (problem,) = raised.value.problems
    assert problem.where == field
    assert what in problem.what


def test_problems_of_the_templates_as_such() -> None:
    prompt = Prompt(user="{{ input", system="{% if %}")
    assert [each.where for each in templates.problems(prompt)] == ["prompt.user", "prompt.system"]
    assert templates.problems(Prompt(user="{{ inptu }}", system="{{ metadata.x }}")) == []


OVERDONE = [
    ("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", "recursion"),
    ("{% for x in [1] %}" * 30 + "{% endfor %}" * 30, "too many statically nested blocks"),
    ("{{ " + "9" * 5000 + " }}", "5000 digits"),
]


@pytest.mark.parametrize(("template", "what"), OVERDONE, ids=range(len(OVERDONE)))
def test_templates_that_no_interpreter_takes(template: str, what: str) -> None:
    (problem,) = templates.problems(Prompt(user=template))
    assert what in problem.what


@pytest.mark.parametrize(
    ("prompt", "reads"),
    [
        (Prompt(), False),
        (Prompt(user="metadata {# metadata #} {{ input }}"), False),
        (Prompt(user="{% set metadata = 1 %}{{ metadata }}"), False),
        (Prompt(user="{{ metadata.x }}"), True),
        (Prompt(system="{% for a in metadata %}{% endfor %}"), True),
        (Prompt(user="{{ metadata", system="{{ metadata }"), False),
    ],
)
def test_reads_metadata(prompt: Prompt, reads: bool) -> None:  # noqa: FBT001
    assert templates.reads(prompt, "metadata") is reads


CHAT_WITH_SYSTEM = (Message(role="system", content="Own."), *CHAT)
LISTING = "{{ choices }}"


@pytest.mark.parametrize(
    ("prompt", "asked", "shows"),
    [
        (Prompt(), QUESTION, False),
        (Prompt(user=LISTING), QUESTION, True),
        (Prompt(user=LISTING), CHAT, False),
        (Prompt(system=LISTING), CHAT, True),
        (Prompt(system=LISTING), CHAT_WITH_SYSTEM, False),
    ],
)
def test_shows_choices(
    prompt: Prompt,
    asked: str | tuple[Message, ...],
    shows: bool,  # noqa: FBT001
) -> None:
    item = Item(id=ItemId("1"), input=asked, target=("4",), digest=Digest("d"))
    assert templates.shows_choices(suite_of(item, prompt), item) is shows
