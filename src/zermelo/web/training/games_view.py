"""Self-play games and judged positions as the page draws them: boards, moves, numbers.

Values become those of the first player here, so that a game's curve does not jump at every ply.
"""

from __future__ import annotations

from typing import Any

from zermelo.games.notation import action_text, outcome_text
from zermelo.games.protocol import Game, State
from zermelo.replay.samples import ADJUDICATED, AUDIT, PROVEN, RESIGNED
from zermelo.runs.judging import Judgement
from zermelo.runs.recent_games import ListedGame, Ply, iterations_played, one_game, recent_games
from zermelo.runs.tactics import learned_tactics
from zermelo.web.positions import board_at, position_at, shape_of
from zermelo.web.training.run_view import RunView

MOST_GAMES = 60
_WHY = {
    RESIGNED: "resigned",
    ADJUDICATED: "cut off and judged",
    PROVEN: "ended when the result was proven",
    AUDIT: "played on to check resignation",
}


def listed_games(view: RunView, before: int | None) -> dict[str, Any]:
    """The newest games of a run, or those up to an iteration."""
    replay = view.path / "replay"
    rows = recent_games(replay, view.game, MOST_GAMES, before)
    return {
        "shape": shape_of(view.game).model_dump(),
        "iterations": iterations_played(replay),
        "games": [_listed(view.game, row) for row in rows],
    }


def _listed(game: Game, row: ListedGame) -> dict[str, Any]:
    return {
        "shard": row.shard,
        "number": row.number,
        "iteration": row.iteration,
        "plies": len(row.actions),
        "outcome": int(row.outcome),
        "result": outcome_text(row.outcome),
        "why": _why(row.flags),
        "opening": line_texts(game, row.actions[:8]),
    }


def _why(flags: int) -> list[str]:
    return [words for flag, words in _WHY.items() if flags & flag]


def whole_game(view: RunView, shard: str, number: int) -> dict[str, Any]:
    """Every position of a game with the numbers of its search."""
    game = view.game
    record, plies = one_game(view.path / "replay", game, shard, number)
    shown = []
    before: Ply | None = None
    for ply in plies:
        shown.append(_ply(game, ply, before))
        before = ply
    return {
        "shard": shard,
        "number": number,
        "result": outcome_text(record.outcome),
        "outcome": int(record.outcome),
        "why": _why(record.flags),
        "shape": shape_of(game).model_dump(),
        "plies": shown,
    }


def _ply(game: Game, ply: Ply, before: Ply | None) -> dict[str, Any]:
    board = board_at(game, ply.state)
    if before is not None:
        board = board_at(game, ply.state, before.state, before.action)
    found: dict[str, Any] = {"board": board.model_dump(), "search": None, "played": None}
    found["legal"] = legal(game, ply.state)
    if ply.action is not None:
        found["played"] = action_text(game, ply.state, ply.action)
    if ply.search is not None:
        found["search"] = {
            "value": for_first(game, ply.state, ply.search.value),
            "draw": ply.search.draw,
            "proven": ply.search.proven,
            "shares": shares_by_text(game, ply.state, ply.search.shares),
        }
    return found


def judged(game: Game, state: State, found: Judgement) -> dict[str, Any]:
    """What a checkpoint says; win and loss are the first player's."""
    win, draw, loss = found.wdl
    if game.player(state) == 1:
        win, loss = loss, win
    return {
        "checkpoint": found.iteration,
        "simulations": found.simulations,
        "value": for_first(game, state, found.value),
        "wdl": [win, draw, loss],
        "shares": shares_by_text(game, state, found.policy),
    }


def position(game: Game, state: State) -> dict[str, Any]:
    """To be drawn and played on."""
    return position_at(game, state, board_at(game, state)).model_dump()


def tactics(view: RunView) -> list[dict[str, Any]]:
    """Positions to watch, each as the moves that lead there."""
    found = learned_tactics(view.path / "replay", view.game, view.judges)
    shown = []
    for tactic in found:
        state = played(view.game, tactic.actions)
        shown.append(
            {
                "moves": line_texts(view.game, tactic.actions),
                "board": board_at(view.game, state).model_dump(),
                "best": action_text(view.game, state, tactic.best),
                "first": tactic.first,
                "last": tactic.last,
            }
        )
    return shown


def played(game: Game, actions: tuple[int, ...]) -> State:
    """The position after legal actions."""
    state = game.initial()
    for action in actions:
        state = game.play(state, action)
    return state


def line_texts(game: Game, actions: tuple[int, ...]) -> list[str]:
    """As people write them."""
    state, found = game.initial(), []
    for action in actions:
        found.append(action_text(game, state, action))
        state = game.play(state, action)
    return found


def legal(game: Game, state: State) -> list[dict[str, Any]]:
    """Actions with their cells."""
    return [one.model_dump() for one in position_at(game, state, board_at(game, state)).legal]


def shares_by_text(game: Game, state: State, shares: dict[int, float]) -> dict[str, float]:
    """Largest first."""
    order = sorted(shares.items(), key=lambda pair: -pair[1])
    return {action_text(game, state, action): share for action, share in order}


def for_first(game: Game, state: State, value: float) -> float:
    """The mover's value as the first player's."""
    return value if game.player(state) == 0 else -value
