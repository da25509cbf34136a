"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

ConfigOption = Annotated[
    Path, typer.Option("--config", help="The configuration file.", show_default=True)
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
VariantOption = Annotated[str, typer.Option(help="Name of the production model.")]
VersionOption = Annotated[str, typer.Option(help="The version that is to be evaluated.")]
BaseUrlOption = Annotated[
    str, typer.Option("--base-url", help="Of an OpenAI-compatible endpoint, up to /v1.")
]
ModelOption = Annotated[str, typer.Option(help="Name that requests to the endpoint carry.")]
BudgetOption = Annotated[str, typer.Option(help='Items to ask: a count, or a share such as "10%".')]
MethodOption = Annotated[str, typer.Option(help="auto, faq or simple.")]
PreviousOption = Annotated[
    str, typer.Option("--previous-version", help="Version to compare with; the last by default.")
]
ToleranceOption = Annotated[
    float, typer.Option(help="Largest drop below the version before that is accepted.")
]
AtLeastOption = Annotated[
    float, typer.Option("--at-least", help="Demand this pool mean instead of a comparison.")
]
SuiteFolder = Annotated[Path, typer.Argument(help="Folder of the suite, or its suite.yaml.")]
DEFAULT_CONFIG = Path("monitor.yaml")
