"""Which rows are one model in several settings.

A model's answers at another temperature, prompt, effort or host are so near to its own that history
which holds them promises more than any history of a new model will keep.
"""

import re
from collections.abc import Sequence
from typing import Final

from monitor.history.outcomes import Pair

SAME_MODEL: Final = frozenset({"prompt", "temperature", "effort", "deployment"})

# Endings of a name that tell the setting and not the model.
SETTING: Final = re.compile(
    r"""
    (?: [\s_+@:/-]+ | [\s_+@:/-]* \( ) (?:
        t [\s_]? = [\s_]? \d+ (?:\.\d+)?                            # temperature
      | t \d \. \d+
      | temp (?:erature)? [\s_=-]* \d+ (?:\.\d+)?
      | (?:zero|one|two|three|four|five|few|many|\d+) [\s_-]? shots? # prompt
      | cot | direct | prompt | fc (?:[-_] (?:any|auto))?
      | (?:no[-_]?)? think (?:ing)? (?:[-_] \d+ k)?                  # effort
      | (?:minimal|low|medium|high|xhigh) (?:[-_\s] effort)?
      | fp8 | fp16 | bf16 | int4 | int8 | awq | gptq                 # deployment
      | (?<=@) [\w.-]+
    ) \)? $
    """,
    re.VERBOSE,
)


def label_families(models: Sequence[str], pairs: Sequence[Pair] = ()) -> tuple[int, ...]:
    """Number the families of rows: the row of each one's first member, (M,).

    Rows are joined where their names differ only in case or in endings that tell the setting,
    and where a pair of such a kind joins them, each over any number of steps.

    Args:
        models: (M,) name of each row.
        pairs: of rows, by name.
    """
    first: dict[str, int] = {}
    labels = [first.setdefault(model_name(name), row) for row, name in enumerate(models)]
    rows = {name: row for row, name in enumerate(models)}
    for pair in pairs:
        if pair.kind in SAME_MODEL and pair.old in rows and pair.new in rows:
            joined = {labels[rows[pair.old]], labels[rows[pair.new]]}
            labels = [min(joined) if label in joined else label for label in labels]
    return tuple(labels)


def model_name(row_name: str) -> str:
    """Return the name without the endings that tell the setting, and without case.

    What is left of a name is never empty.
    """
    name = row_name.casefold()
    while (shorter := SETTING.sub("", name)) not in {name, ""}:
        name = shorter
    return name
