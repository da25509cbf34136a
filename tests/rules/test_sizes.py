"""Sizes that keep the code readable; a limit is raised by nobody, an exception only shrinks."""

import ast
import statistics
from collections.abc import Iterator

from tests.rules import repository

BODY_MEDIAN, BODY_95TH, DEFINITION, FILE, PARAMETERS, TEST_MEDIAN = 10, 40, 60, 400, 7, 10

COMMANDS = (
    "monitor/cli/backtest.py:",
    "monitor/cli/commands.py:",
    "monitor/cli/evaluate.py:",
    "monitor/cli/suites.py:",
)

# Size by `path:name`, of what is over a limit. An entry goes, or gets smaller, with its code.
LONG_DEFINITIONS: dict[str, int] = {}
LONG_FILES: dict[str, int] = {}
MANY_PARAMETERS: dict[str, int] = {}

type_of_function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(tree: ast.Module) -> Iterator[type_of_function]:
    return (node for node in ast.walk(tree) if isinstance(node, type_of_function))


def named_functions(*folders: str) -> Iterator[tuple[str, type_of_function]]:
    for path, tree in repository.modules(*folders).items():
        for function in functions(tree):
            yield f"{path}:{function.name}", function


def without_commands() -> Iterator[tuple[str, type_of_function]]:
    """A command is mostly the list of its options: one parameter and some lines for each."""
    for name, function in named_functions("monitor"):
        if not name.startswith(COMMANDS):
            yield name, function


def definition_lines(function: type_of_function) -> int:
    assert function.end_lineno
    return function.end_lineno - function.lineno + 1


def body_lines(function: type_of_function) -> int:
    """Lines from the first statement after the docstring to the end; 0 where there is none."""
    statements = function.body[ast.get_docstring(function) is not None :]
    if not statements:
        return 0
    assert function.end_lineno
    return function.end_lineno - statements[0].lineno + 1


def parameter_count(function: type_of_function) -> int:
    """Parameters that a caller can pass: the receiver of a method does not count."""
    declared = function.args
    positional = [argument.arg for argument in declared.posonlyargs + declared.args]
    receiver = positional[:1] in (["self"], ["cls"])
    variadic = (declared.vararg is not None) + (declared.kwarg is not None)
    return len(positional) - receiver + len(declared.kwonlyargs) + variadic


def sizes_over(limit: int, sizes: dict[str, int]) -> dict[str, int]:
    return {name: size for name, size in sizes.items() if size > limit}


def test_function_bodies_are_short() -> None:
    bodies = [body_lines(function) for _, function in named_functions("monitor")]
    assert statistics.median(bodies) <= BODY_MEDIAN
    assert statistics.quantiles(bodies, n=20)[-1] <= BODY_95TH


def test_no_definition_is_long() -> None:
    sizes = {name: definition_lines(function) for name, function in without_commands()}
    assert sizes_over(DEFINITION, sizes) == LONG_DEFINITIONS


def test_no_function_has_many_parameters() -> None:
    sizes = {name: parameter_count(function) for name, function in without_commands()}
    assert sizes_over(PARAMETERS, sizes) == MANY_PARAMETERS


def test_no_file_is_long() -> None:
    sizes = {
        path: text.count("\n") for path, text in repository.texts() if path.endswith((".py", ".sh"))
    }
    assert sizes_over(FILE, sizes) == LONG_FILES


def test_tests_are_short() -> None:
    tests = [
        definition_lines(function)
        for _, function in named_functions("tests")
        if function.name.startswith("test_")
    ]
    assert statistics.median(tests) < TEST_MEDIAN


SAMPLE = '''
class Box:
    @decorated
    def put(self, a, /, b, *rest, c=0, **more):
        """Say what is put,

        and where.
        """
        if a:
            return b

        return c

    async def empty(cls): """Nothing."""
'''


def test_measures() -> None:
    put, empty = functions(ast.parse(SAMPLE))
    assert (definition_lines(put), definition_lines(empty)) == (9, 1)
    assert (body_lines(put), body_lines(empty)) == (4, 0)
    assert (parameter_count(put), parameter_count(empty)) == (5, 0)
