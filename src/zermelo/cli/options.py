"""What several commands declare alike: their arguments and options, and how wide they print.

Every command imports this, so nothing slow is imported here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from zermelo.cli import completion
from zermelo.errors import UserError

PIPED_WIDTH = 110  # columns of a table when the output is no terminal
MOST_SIMULATIONS = 10**12  # more than any machine gets through

GameArgument = Annotated[
    str, typer.Argument(help="A game's name or Python file.", autocompletion=completion.games)
]
GameOrRunArgument = Annotated[
    str,
    typer.Argument(
        help="A game's name or Python file, or a run with its newest network.",
        autocompletion=completion.games_and_runs,
    ),
]
RunArgument = Annotated[
    Path, typer.Argument(help="Directory of the run.", autocompletion=completion.runs)
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
WeightsOption = Annotated[
    str | None,
    typer.Option(
        help="A network: .pb.gz or .pb (lc0), .onnx, .safetensors, a checkpoint or a run."
    ),
]
BackendOption = Annotated[
    str, typer.Option(help="What runs the network: auto, openvino, onnx or torch.")
]
SearchSetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="OPTION=VALUE",
        help="Set an option of the search; repeatable.",
        autocompletion=completion.search_options,
    ),
]
TrustOption = Annotated[
    bool, typer.Option("--trust", help="Run the code that a run made elsewhere names.")
]
ClusterOption = Annotated[
    str | None,
    typer.Option(metavar="WHERE", help="Play on a Ray cluster: local, auto or HOST:PORT."),
]
RunSetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="SECTION.KEY=VALUE",
        help="Set an option of the run; repeatable.",
        autocompletion=completion.run_options,
    ),
]


def finite(value: float | None) -> float | None:
    """For options that are numbers: neither endless nor none at all."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is no finite number")
    return value


def read_settings(settings: Sequence[str]) -> dict[str, Any]:
    """Options of the search as `--set` spells them."""
    given: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name or not value:
            raise UserError(f"--set '{setting}' should look like c_puct=1.2")
        given[name] = value
    return given
