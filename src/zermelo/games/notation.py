"""Actions and positions as text, for every game: its own notation, else cells or numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from zermelo.errors import REFUSALS, UserError
from zermelo.games.native import is_native
from zermelo.games.protocol import Game, HasCells, Outcome, State

LETTERS = 26  # columns that have a name


def action_text(game: Game, state: State, action: int) -> str:
    """The name of a legal action."""
    write = getattr(game, "action_text", None)
    if write is not None:
        return str(write(state, action))
    return _filled_cell(game, state, action) or str(action)


def parse_action(game: Game, state: State, text: str) -> int:
    """The legal action that `text` names; refuses if there is none."""
    read = getattr(game, "parse_action", None)
    if read is not None:
        if is_native(game) and not text.isascii():
            raise UserError(f"'{text}' has letters that no action of {game.name} has")
        with _game_may_refuse(game):
            return int(read(state, text))
    actions = list(game.legal_actions(state))
    for action in actions:
        if action_text(game, state, action) == text:
            return action
    if not hasattr(game, "action_text") and text.isdecimal() and int(text) in actions:
        return int(text)
    names = ", ".join(action_text(game, state, action) for action in actions)
    raise UserError(f"'{text}' is not legal here; legal are {names}")


def position_text(game: Game, state: State) -> str:
    """The position on one line."""
    write = getattr(game, "position_text", None)
    return " ".join(str(state).split()) if write is None else str(write(state))


def parse_position(game: Game, text: str) -> State:
    """The position that `text` describes; refuses if the game cannot read any."""
    read = getattr(game, "parse_position", None)
    if read is None:
        raise UserError(f"positions of {game.name} cannot be typed: it has no parse_position")
    if not text.isascii():
        raise UserError(f"position '{text}' has letters that no position of {game.name} has")
    with _game_may_refuse(game):
        return read(text)


def _filled_cell(game: Game, state: State, action: int) -> str:
    """`b3`, of a game with a board and an action for each cell, if this one fills its own."""
    if not isinstance(game, HasCells) or len(game.observation_shape) != 3:
        return ""
    _, rows, columns = game.observation_shape
    size = rows * columns
    if game.num_actions not in (size, size + 1) or action >= size or columns > LETTERS:
        return ""
    before, after = game.cells(state), game.cells(game.play(state, action))
    if len(before) != size or before[action] != "." or after[action] == ".":
        return ""
    row, column = divmod(action, columns)
    return f"{chr(ord('a') + column)}{rows - row}"


@contextmanager
def _game_may_refuse(game: Game) -> Iterator[None]:
    """A game in Python says with a ValueError that it cannot read a text; the core has its own."""
    try:
        yield
    except ValueError as error:
        if isinstance(error, REFUSALS) or is_native(game):
            raise
        raise UserError(str(error)) from error


def outcome_text(outcome: Outcome | None) -> str:
    """How the game ended, in words."""
    if outcome is None:
        return "the game goes on"
    if outcome == Outcome.DRAW:
        return "draw"
    return "the first player wins" if outcome == Outcome.FIRST_WINS else "the second player wins"
