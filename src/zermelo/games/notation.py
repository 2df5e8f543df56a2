"""Actions and positions as text, for every game: its own notation, else the action's number."""

from __future__ import annotations

from zermelo.errors import UserError
from zermelo.games.protocol import Game, Outcome, State


def action_text(game: Game, state: State, action: int) -> str:
    """The name of a legal action."""
    write = getattr(game, "action_text", None)
    return str(action) if write is None else str(write(state, action))


def parse_action(game: Game, state: State, text: str) -> int:
    """The legal action that `text` names; ValueError if there is none."""
    read = getattr(game, "parse_action", None)
    if read is not None:
        return int(read(state, text))
    actions = list(game.legal_actions(state))
    for action in actions:
        if action_text(game, state, action) == text:
            return action
    names = ", ".join(action_text(game, state, action) for action in actions)
    raise UserError(f"'{text}' is not legal here; legal are {names}")


def position_text(game: Game, state: State) -> str:
    """The position on one line."""
    write = getattr(game, "position_text", None)
    return " ".join(str(state).split()) if write is None else str(write(state))


def parse_position(game: Game, text: str) -> State:
    """The position that `text` describes; ValueError if the game cannot read any."""
    read = getattr(game, "parse_position", None)
    if read is None:
        raise UserError(f"positions of {game.name} cannot be typed: it has no parse_position")
    if not text.isascii():
        raise UserError(f"position '{text}' has letters that no position of {game.name} has")
    return read(text)


def outcome_text(outcome: Outcome | None) -> str:
    """How the game ended, in words."""
    if outcome is None:
        return "the game goes on"
    if outcome == Outcome.DRAW:
        return "draw"
    return "the first player wins" if outcome == Outcome.FIRST_WINS else "the second player wins"
