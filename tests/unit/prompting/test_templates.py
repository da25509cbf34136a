from collections.abc import Callable
from typing import Any

import pytest

from monitor.domain.errors import SuiteError
from monitor.domain.identifiers import Digest, ItemId, SuiteName
from monitor.domain.suites import Generation, GraderSpec, ImagePart, Item, Message, Prompt, Suite
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
) -> tuple[Message, ...]:
    item = Item(
        id=ItemId("1"),
        input=asked,
        target=("4",),
        choices=("3", "4"),
        metadata=metadata or {},
        digest=Digest("d"),
    )
    suite = Suite(
        name=SuiteName("s"),
        items=(item,),
        prompt=prompt,
        generation=Generation(),
        grader=GraderSpec(kind="exact"),
        digest=Digest("d"),
    )
    return templates.render(suite, item)


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
    ],
)
def test_reads_metadata(prompt: Prompt, reads: bool) -> None:  # noqa: FBT001
    assert templates.reads_metadata(prompt) is reads
