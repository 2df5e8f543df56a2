"""`zermelo export`: a network as one file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from zermelo.cli.options import JsonOption
from zermelo.network import save_network
from zermelo.network.open import open_weights, refuse_misnamed
from zermelo.runs.directory import refuse_own_part


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(export)


def export(
    source: Annotated[str, typer.Argument(help="A run, a checkpoint or a network file.")],
    target: Annotated[Path, typer.Argument(help="FILE.onnx or FILE.safetensors.")],
    as_json: JsonOption = False,
) -> None:
    """Write a network as one file that plays without torch."""
    refuse_own_part(target)
    weights = open_weights(source)
    refuse_misnamed(weights)
    save_network(weights, target)
    found = {
        "file": str(target),
        "bytes": target.stat().st_size,
        "parameters": weights.architecture.parameters(),
        "architecture": weights.architecture.to_dict(),
    }
    if as_json:
        print(json.dumps(found, indent=2))
        return
    print(f"{target}: {weights.architecture.summary()}, {found['bytes']:,} bytes")
