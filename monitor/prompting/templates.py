"""Turns an item and a suite's templates into the messages that a model is sent.

Templates are Jinja in a sandbox, as suites come from anywhere. They see

- `input`: the item's text, empty where the item brings chat messages;
- `choices`: the choices in the order in which they are shown, each with `letter` and `text`
  ({% for letter, text in choices %});
- `metadata`: the item's own fields;
- `range`, for at most ten thousand numbers in one rendering.

A name or field that does not exist is an error, not an empty text. Refused are attributes that
reach into Python, changes to a value, powers, multiplied texts, and random choices, which would
make one item different questions. The sandbox bounds neither the time nor the memory of every
template that can be written: it is a guard against slips and mischief, not a jail.
"""

import functools
import string
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import jinja2
import jinja2.exceptions
import jinja2.meta
import jinja2.sandbox

from monitor.domain import errors, suites

MOST_CHOICES = len(string.ascii_uppercase)
_RANGE_AT_MOST = 10_000
_FAILURES = (
    jinja2.TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    SyntaxError,
    TypeError,
    ValueError,
)


class Choice(NamedTuple):
    """A choice as templates see it."""

    letter: str
    text: str


class _Sandbox(jinja2.sandbox.ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset({"*", "**"})

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:  # noqa: ANN401
        if operator == "**" or not all(isinstance(side, (int, float)) for side in (left, right)):
            raise jinja2.exceptions.SecurityError("only numbers are multiplied, and no powers")
        return super().call_binop(context, operator, left, right)


def _sandbox() -> _Sandbox:
    sandbox = _Sandbox(undefined=jinja2.StrictUndefined, autoescape=False)
    sandbox.globals.clear()
    del sandbox.filters["random"]
    return sandbox


_SANDBOX = _sandbox()


def render(suite: suites.Suite, item: suites.Item) -> tuple[suites.Message, ...]:
    """Messages to send for an item.

    First the system message, then the examples, then the question. An item of chat messages is sent
    as it is: the user template is for items of text, and a system message with which the item
    begins takes the place of the suite's.

    Raises:
        SuiteError: a template is not valid, reaches for what it may not, or names something that
            the item does not have.
    """
    prompt = suite.prompt_of(item)
    examples = tuple(_turns(prompt.examples))
    if not isinstance(item.input, str) and item.has_own_system:
        return (item.input[0], *examples, *item.input[1:])
    system: tuple[suites.Message, ...] = ()
    if prompt.system is not None:
        content = _rendered("prompt.system", prompt.system, item)
        system = (suites.Message(role="system", content=content),)
    if not isinstance(item.input, str):
        return (*system, *examples, *item.input)
    content = _rendered("prompt.user", prompt.user, item)
    return (*system, *examples, suites.Message(role="user", content=content))


def _turns(examples: Iterable[suites.Example]) -> Iterator[suites.Message]:
    for example in examples:
        yield suites.Message(role="user", content=example.user)
        yield suites.Message(role="assistant", content=example.assistant)


def problems(prompt: suites.Prompt) -> list[errors.Problem]:
    """What is wrong with the templates as such, whatever the items."""
    found = []
    for field, template in (("prompt.user", prompt.user), ("prompt.system", prompt.system)):
        try:
            _compiled(template or "")
        except _FAILURES as error:
            found.append(_problem(field, error))
    return found


def reads(prompt: suites.Prompt, name: str) -> bool:
    """Whether a template reads what it calls by this name; one that cannot be used does not."""
    return any(name in _names(template or "") for template in (prompt.user, prompt.system))


def shows_choices(suite: suites.Suite, item: suites.Item) -> bool:
    """Whether a template that is used for the item reads its choices."""
    prompt = suite.prompt_of(item)
    user = prompt.user if isinstance(item.input, str) else ""
    system = None if item.has_own_system else prompt.system
    return reads(suites.Prompt(user=user, system=system), "choices")


@functools.lru_cache(maxsize=256)
def _names(template: str) -> frozenset[str]:
    try:
        return frozenset(jinja2.meta.find_undeclared_variables(_SANDBOX.parse(template)))
    except _FAILURES:
        return frozenset()


@functools.lru_cache(maxsize=256)
def _compiled(template: str) -> jinja2.Template:
    return _SANDBOX.from_string(template)


def _rendered(field: str, template: str, item: suites.Item) -> str:
    try:
        return _compiled(template).render(
            input=item.input if isinstance(item.input, str) else "",
            choices=tuple(map(Choice, string.ascii_uppercase, item.shown_choices)),
            metadata=item.metadata,
            range=_limited_range(),
        )
    except _FAILURES as error:
        raise errors.SuiteError([_problem(field, error)]) from error


def _limited_range() -> Callable[..., range]:
    """`range`, counting what one rendering takes of it, so that nested loops end as well."""
    left = _RANGE_AT_MOST

    def limited(*bounds: int) -> range:
        nonlocal left
        numbers = range(*bounds)
        # Not len(), which raises where a range is longer than a machine word.
        if numbers[:left] != numbers:
            message = f"more than {_RANGE_AT_MOST} numbers are taken from range"
            raise jinja2.exceptions.SecurityError(message)
        left -= len(numbers)
        return numbers

    return limited


def _problem(field: str, error: Exception) -> errors.Problem:
    line = f" (line {error.lineno} of it)" if isinstance(error, jinja2.TemplateSyntaxError) else ""
    what = f"the template cannot be used{line}: {str(error) or type(error).__name__}"
    todo = "a template has input, choices and metadata, in Jinja syntax"
    return errors.Problem(where=field, what=what, todo=todo)
