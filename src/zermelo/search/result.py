"""What a search found: a table of the root's actions, for people and for programs."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zermelo import _core
from zermelo.games.notation import action_text
from zermelo.games.render import svg_board

HTML_COLUMNS = ("action", "visits", "Q", "prior", "W/D/L", "line")
HTML_ROWS = 12
HTML_MARKS = 5  # actions that are drawn on the board
LARGEST_CP = 12_800  # what a value of 1 gives, rounded; less than programs take for a mate
CERTAIN_WDL = {1: (1.0, 0.0, 0.0), 0: (0.0, 1.0, 0.0), -1: (0.0, 0.0, 1.0)}


class Certain(NamedTuple):
    """A proven result for the player to move at the root: +1, 0 or -1, `distance` plies away."""

    result: int
    distance: int

    def __str__(self) -> str:
        return f"{('loss', 'draw', 'win')[self.result + 1]} in {self.distance}"

    @property
    def mate(self) -> int | None:
        """Moves until the end, as UCI counts: 2 wins in two, -1 loses in one; None for a draw."""
        return (self.distance + 1) // 2 * self.result if self.result else None


@dataclass(frozen=True)
class ActionRow:
    """One root action. Values are for the player to move at the root."""

    action: int
    text: str
    visits: int
    q: float  # mean value, or the certain one; 0 when never visited
    prior: float  # as the search used it, noise included
    wdl: tuple[float, float, float]  # win, draw, loss
    certain: Certain | None
    pv: tuple[str, ...]  # the expected line, this action first
    target: float  # share in the policy target

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "action": self.action,
            "text": self.text,
            "visits": self.visits,
            "q": self.q,
            "prior": self.prior,
            "wdl": list(self.wdl),
            "proven": self.certain.result if self.certain else None,
            "distance": self.certain.distance if self.certain else None,
            "pv": list(self.pv),
            "target": self.target,
        }


def centipawns(value: float) -> int:
    """290.68 tan(1.548 value): 0.25 is a good pawn's worth, near 1 it grows steeply."""
    cp = 290.680623072 * math.tan(1.548090806 * min(max(value, -1.0), 1.0))
    return round(min(max(cp, -LARGEST_CP), LARGEST_CP))


class SearchResult:
    """The root after a search. Arrays have one entry per legal action, best prior first."""

    def __init__(
        self, native: _core.NativeResult, game: Any, state: Any, final: bool = True
    ) -> None:
        self.final = final  # False: its search still ran
        self._native = native
        self._game = game
        self._state = state
        self.value: float = native.value
        self.nodes: int = native.nodes
        self.bytes: int = native.bytes
        self.seconds: float = native.seconds

    # Read when first asked for: searches of many boards make many results.

    @cached_property
    def actions(self) -> NDArray[np.int64]:
        """The legal actions."""
        return self._native.actions

    @cached_property
    def visits(self) -> NDArray[np.int64]:
        """Visits of each action."""
        return self._native.visits

    @cached_property
    def q(self) -> NDArray[np.float64]:
        """Mean value of each action, or the certain one; 0 when never visited."""
        return self._native.q

    @cached_property
    def prior(self) -> NDArray[np.float64]:
        """Priors as the search used them, noise included."""
        return self._native.prior

    @cached_property
    def target(self) -> NDArray[np.float64]:
        """The policy target: visits without the forced ones, or the improved policy (S16)."""
        return self._native.target

    @cached_property
    def counters(self) -> dict[str, Any]:
        """Simulations, evaluations, batches, cache hits, collisions, depths."""
        return dict(self._native.counters)

    @property
    def stop(self) -> str:
        """Why it ended early: "stopped", "time", "max_nodes", "settled" (P9), or ""."""
        return str(self._native.stop)

    @property
    def root_visits(self) -> int:
        """Simulations of the tree and the root's own evaluation."""
        return self._native.root_visits

    @property
    def best_action(self) -> int:
        """What to play: a proven win by the shortest way, else the most visits."""
        return int(self.actions[self._native.best])

    @property
    def best(self) -> ActionRow:
        """The row of the best action."""
        return self.row(self._native.best)

    @property
    def proven(self) -> Certain | None:
        """The certain result of the position, if the search proved one."""
        certain: Any = self._native.certain
        return Certain(*certain) if certain else None

    @property
    def mate(self) -> int | None:
        """Moves until the proven end, as UCI counts; None without a proof, and for a draw."""
        return self.proven.mate if self.proven else None

    @property
    def wdl(self) -> tuple[float, float, float]:
        """Win, draw and loss probabilities of the best action."""
        return self.best.wdl

    @property
    def pv(self) -> tuple[str, ...]:
        """The expected line, in the game's notation."""
        return self.best.pv

    def policy(self, temperature: float = 1.0) -> NDArray[np.float64]:
        """pi(a) = N(a)^(1/T) / sum over the legal actions; T = 0 is the best action (S20)."""
        if temperature < 0:
            raise ValueError(f"temperature {temperature} is negative")
        if temperature < 1e-3:
            return np.asarray(np.arange(len(self.actions)) == self._native.best, dtype=float)
        if not self.visits.any():
            return np.asarray(self.prior / self.prior.sum())
        weights = self.visits / self.visits.max()
        powered = weights ** (1.0 / temperature)
        return np.asarray(powered / powered.sum())

    def row(self, index: int) -> ActionRow:
        """The row of action number `index`, best prior first."""
        native = self._native
        q, draw = float(self.q[index]), float(native.draw[index])
        win = (1.0 - draw + float(native.outcome[index])) / 2.0
        certain = native.certain_actions[index]
        return ActionRow(
            action=int(self.actions[index]),
            text=action_text(self._game, self._state, int(self.actions[index])),
            visits=int(self.visits[index]),
            q=q,
            prior=float(self.prior[index]),
            wdl=CERTAIN_WDL[certain[0]] if certain else (win, draw, 1.0 - draw - win),
            certain=Certain(certain[0], certain[1] + 1) if certain else None,  # from the root
            pv=self._line(native.pv(index)),
            target=float(self.target[index]),
        )

    def rows(self, most: int | None = None) -> list[ActionRow]:
        """The actions, best first: as played, then by visits, then by prior; `most` cuts them."""
        order = sorted(
            range(len(self.actions)),
            key=lambda i: (i != self._native.best, -self.visits[i], -self.prior[i]),
        )
        return [self.row(i) for i in order[:most]]

    def to_dict(self, most: int | None = None) -> dict[str, Any]:
        """Plain values with stable keys, for JSON; `most` cuts the list of actions."""
        proven = self.proven
        return {
            "best": self.best.text,
            "value": self.value,
            "wdl": list(self.wdl),
            "proven": proven.result if proven else None,
            "distance": proven.distance if proven else None,
            "mate": self.mate,
            "pv": list(self.pv),
            "root_visits": self.root_visits,
            "nodes": self.nodes,
            "bytes": self.bytes,
            "seconds": self.seconds,
            "stop": self.stop,
            "counters": dict(self.counters),
            "actions": [row.to_dict() for row in self.rows(most)],
        }

    def __repr__(self) -> str:
        proven = f", {self.proven}" if self.proven else ""
        return (
            f"<SearchResult {self.best.text} value {self.value:+.3f}{proven}, "
            f"{self.root_visits} visits>"
        )

    def _repr_html_(self) -> str:
        """The board with the candidates marked on it, and their table, in a notebook."""
        rows = self.rows(HTML_ROWS)
        total = max(1, int(self.visits.sum()))
        marks = [(row.action, row.visits / total) for row in rows[:HTML_MARKS] if row.visits]
        board = svg_board(self._game, self._state, arrows=marks, best=self.best_action)
        proven = f" ({self.proven})" if self.proven else ""
        caption = f"{self.best.text}: value {self.value:+.3f}{proven}, {self.root_visits:,} visits"
        head = "".join(f"<th>{name}</th>" for name in HTML_COLUMNS)
        body = "".join(_html_row(row) for row in rows)
        return (
            f"<div>{board}<table><caption>{html.escape(caption)}</caption>"
            f"<tr>{head}</tr>{body}</table></div>"
        )

    def _line(self, actions: list[int]) -> tuple[str, ...]:
        state = self._state
        texts = []
        for action in actions:
            texts.append(action_text(self._game, state, action))
            state = self._game.play(state, action)
        return tuple(texts)


def _html_row(row: ActionRow) -> str:
    cells = (
        row.text,
        f"{row.visits:,}",
        str(row.certain) if row.certain else f"{row.q:+.3f}",
        f"{row.prior:.1%}",
        " / ".join(f"{part:.0%}" for part in row.wdl),
        " ".join(row.pv[:8]),
    )
    return "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>"
