"""The options that mean a given network: the way back from an architecture to `NetworkOptions`."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from zermelo.errors import UserError
from zermelo.games.protocol import Game
from zermelo.network.architecture import Architecture, NetworkOptions
from zermelo.network.kinds import AnyArchitecture, architecture_for

SPARSE = ("hidden", "policy_hidden", "value_hidden", "windows", "inputs")
TOWER = ("blocks", "filters", "policy", "value_filters", "value_hidden")


def options_of(architecture: AnyArchitecture, game: Game, name: str) -> dict[str, Any]:
    """Options by name that give this architecture for the game; the rest has its defaults.

    A UserError, which begins with `name`, if no options do: the network of another program.
    """
    if isinstance(architecture, Architecture):
        found = {"kind": "residual"} | {key: getattr(architecture, key) for key in TOWER}
        hidden = architecture.se_hidden
        found["se_ratio"] = architecture.filters // hidden if hidden else 0
        found["moves_left"] = architecture.moves_filters > 0
        if architecture.policy == "dense":
            found["policy_filters"] = architecture.policy_filters
    else:
        found = {"kind": "sparse"} | {key: getattr(architecture, key) for key in SPARSE}
    options = replace(NetworkOptions(), **found)
    if architecture_for(game, options) != replace(architecture, game=game.name):
        raise UserError(f"{name}: no options make a network of {architecture.summary()}")
    return {key: value for key, value in asdict(options).items() if key in found}
