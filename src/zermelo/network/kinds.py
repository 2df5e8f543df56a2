"""The kinds of networks: which one options mean, and which one a file describes."""

from __future__ import annotations

from typing import TypeAlias

from zermelo.errors import UserError
from zermelo.games.protocol import Game
from zermelo.network.architecture import Architecture, NetworkOptions, tower_for
from zermelo.network.sparse.architecture import SparseArchitecture, sparse_for

AnyArchitecture: TypeAlias = Architecture | SparseArchitecture
KINDS = ("residual", "sparse")


def architecture_for(game: Game, options: NetworkOptions | None = None) -> AnyArchitecture:
    """The network that these options mean for this game."""
    chosen = options or NetworkOptions()
    if chosen.kind == "sparse":
        return sparse_for(game, chosen)
    if chosen.kind != "residual":
        raise UserError(f"the network's kind is '{chosen.kind}', not {' or '.join(KINDS)}")
    return tower_for(game, chosen)


def architecture_from_dict(values: object) -> AnyArchitecture:
    """What `to_dict` gave; a mistake in it is a UserError."""
    if isinstance(values, dict) and values.get("kind") == "sparse":
        return SparseArchitecture.from_dict(values)
    return Architecture.from_dict(values)
