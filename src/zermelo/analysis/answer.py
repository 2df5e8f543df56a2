"""Positions of requests on their way through the analysis engine, and how they are answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zermelo.analysis.request import Analyse
from zermelo.games.notation import position_text
from zermelo.games.protocol import Game, State, value_for
from zermelo.search import SearchResult

_FIGURES = ("best", "value", "wdl", "proven", "distance", "mate", "pv", "root_visits", "actions")
NOTHING: dict[str, Any] = {"stop": "terminated", "noResults": True}
Listener = Callable[[dict[str, Any]], None]  # of one request's answers


@dataclass(eq=False)
class Task:
    """One position of a request."""

    request: Analyse
    turn: int
    state: State
    number: int  # of its arrival
    arrived: float
    listener: Listener | None = None  # None: the engine's queue
    cancelled: bool = False

    @property
    def place(self) -> tuple[int, int]:
        """In the queue."""
        return (-self.request.priority, self.number)

    @property
    def alone(self) -> bool:
        """Whether it needs a tree of its own."""
        asked = self.request
        return bool(asked.allowed) or asked.tree or asked.keep_tree or asked.report_every > 0

    @property
    def board(self) -> tuple[Any, ...] | None:
        """The board whose tree it goes on with; None for a tree of its own."""
        return game_key(self.request.game) if self.request.keep_tree else None

    @property
    def company(self) -> tuple[Any, ...]:
        """Equal for tasks that can be searched together."""
        return (*game_key(self.request.game), self.request.simulations, self.alone)


def game_key(game: Game) -> tuple[Any, ...]:
    """Equal for equal games."""
    return (type(game), game.name)


def head(task: Task, final: bool) -> dict[str, Any]:
    """What every answer begins with."""
    game = task.request.game
    return {
        "id": task.request.id,
        "turn": task.turn,
        "final": final,
        "game": game.name,
        "position": position_text(game, task.state),
        "player": game.player(task.state),
    }


def figures(task: Task, result: SearchResult) -> dict[str, Any]:
    """What a search found, as the request wants it."""
    stop = "terminated" if task.cancelled and result.stop == "stopped" else result.stop
    stop = stop or ("proven" if result.proven else "simulations")
    if not len(result.actions) or not (result.visits.any() or result.proven):
        return {"stop": stop, "noResults": True}
    found = result.to_dict(task.request.max_actions)
    shown = {name: found[name] for name in _FIGURES} | {"stop": stop}
    if task.request.policy:
        shown["policy"] = {row.text: row.prior for row in result.rows()}
    return shown


def ending(game: Game, state: State) -> dict[str, Any] | None:
    """The figures of a position in which the game has ended; None if it goes on."""
    outcome = game.outcome(state)
    if outcome is None:
        return None
    value = float(value_for(outcome, game.player(state)))
    return {"outcome": str(outcome).rpartition(".")[2].lower(), "value": value, "stop": "over"}
