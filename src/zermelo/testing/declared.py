"""Whether declared tables of symmetries are true: mirror images of games are played."""

from __future__ import annotations

import numpy as np

from zermelo.games.symmetries import Symmetries, image_action, image_planes
from zermelo.testing.position import Position


def check_declared(p: Position) -> None:
    """The game that led here, played in its image from the start, leads to the image of this."""
    tables = getattr(p.game, "symmetries", None)
    p.require(
        isinstance(tables, Symmetries),
        f"symmetries must be what board_symmetries() makes, not {tables!r},",
    )
    assert isinstance(tables, Symmetries)
    _, rows, columns = p.game.observation_shape
    fits = all(len(cells) == rows * columns for cells in tables.cells)
    p.require(fits, f"symmetries are of another board than {rows} x {columns} cells, seen")
    fits = all(len(actions) == p.game.num_actions for actions in tables.actions)
    p.require(fits, f"symmetries are not of {p.game.num_actions} actions, seen")
    for k in range(1, len(tables)):
        image = p.call("initial")
        for action in p.path:
            renamed = image_action(p.game, action, k)
            legal = renamed in list(p.call("legal_actions", image))
            p.require(legal, f"symmetry {k} makes action {renamed} of {action}, not legal there,")
            image = p.call("play", image, renamed)
        p.require(
            p.call("player", image) == p.player and p.call("outcome", image) == p.outcome,
            f"symmetry {k} changes the player or the outcome",
        )
        same = np.array_equal(p.observe(image), image_planes(p.game, p.state, k))
        p.require(same, f"symmetry {k} moves the observation otherwise than its table of cells")
