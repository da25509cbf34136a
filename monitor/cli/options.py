"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from monitor.domain.policies import Method

DEFAULT_CONFIG = Path("monitor.yaml")

ConfigOption = Annotated[
    Path, typer.Option("--config", help="The configuration file.", show_default=True)
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON, and nothing else, on standard output.")
]
VersionOption = Annotated[str, typer.Option(help="Name of the version that is to be evaluated.")]
BaseUrlOption = Annotated[
    str,
    typer.Option("--base-url", help="Base URL of an OpenAI-compatible endpoint, up to /v1."),
]
ModelOption = Annotated[str, typer.Option(help="Name of the model in requests to the endpoint.")]
BudgetOption = Annotated[
    str,
    typer.Option(
        metavar="COUNT|SHARE",
        help='Ask so many items, or such a share as "10%"; left out, the policy decides.',
    ),
]
MethodOption = Annotated[
    Method | None,
    typer.Option(help="How to choose the items; left out, the policy decides."),
]
PreviousOption = Annotated[
    str,
    typer.Option(help="Compare with this version; left out, with the last that has a result."),
]
ToleranceOption = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        max=1.0,
        help="Accept at most such a drop below the version before; left out, the policy decides.",
    ),
]
AtLeastOption = Annotated[
    float | None,
    typer.Option(
        min=0.0, max=1.0, help="Demand such a share of right answers, instead of a comparison."
    ),
]
SuiteOption = Annotated[Path, typer.Option(help="Folder of the suite, or its suite.yaml.")]
SuiteArgument = Annotated[Path, typer.Argument(help="Folder of the suite, or its suite.yaml.")]
StateOption = Annotated[
    Path | None,
    typer.Option(help="Look in this state directory; left out, in the configuration's."),
]
BeforeOption = Annotated[
    str, typer.Option(metavar="YYYY-MM-DD", help="Use only history before this day.")
]
ExcludeOption = Annotated[
    list[str] | None,
    typer.Option(metavar="PATTERN", help="Use no history of such models; repeatable."),
]
