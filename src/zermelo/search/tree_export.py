"""A search tree for people: JSON and Graphviz."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from zermelo.games.notation import action_text

Row = tuple[int, int, int, int, int, float, float, tuple[int, int] | None]


class Child(NamedTuple):
    """One action of a node, visited or not, as selection sees it: the best q + u is chosen."""

    action: int
    visits: int
    q: float  # for the player who chooses it; the first-play value where it was not visited
    u: float
    prior: float
    certain: tuple[int, int] | None  # result and plies


class Place(NamedTuple):
    """A node with all its actions, best prior first."""

    visits: int
    chosen: int  # index of the action that the next simulation takes; -1 if all are lost
    children: list[Child]


class TreeExport:
    """Nodes of a tree, parents first. Values are for the player who chose the node."""

    def __init__(self, rows: list[Row], game: Any, state: Any) -> None:
        self.nodes: list[dict[str, Any]] = []
        states: list[Any] = []
        for ident, parent, action, depth, visits, q, prior, certain in rows:
            text = ""
            if parent < 0:
                states.append(state)
            else:
                text = action_text(game, states[parent], action)
                states.append(game.play(states[parent], action))
            self.nodes.append(
                {
                    "id": ident,
                    "parent": parent if parent >= 0 else None,
                    "action": text,
                    "depth": depth,
                    "visits": visits,
                    "q": q,
                    "prior": prior,
                    "proven": certain[0] if certain else None,
                    "distance": certain[1] if certain else None,
                }
            )

    def to_json(self) -> str:
        """One object with the list `nodes`."""
        return json.dumps({"nodes": self.nodes})

    def to_graphviz(self) -> str:
        """A digraph for `dot`: proven nodes are coloured."""
        colours = {1: "palegreen", 0: "lightgrey", -1: "lightsalmon", None: "white"}
        lines = ["digraph tree {", "  node [shape=box, style=filled];"]
        for node in self.nodes:
            label = f"{node['action'] or 'root'}\\nN {node['visits']}\\nQ {node['q']:+.3f}"
            colour = colours[node["proven"]]
            lines.append(f'  n{node["id"]} [label="{label}", fillcolor={colour}];')
            if node["parent"] is not None:
                lines.append(f"  n{node['parent']} -> n{node['id']};")
        return "\n".join([*lines, "}"])
