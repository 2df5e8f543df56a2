"""Positions as the page draws them, and games as people write them down.

Knows the rules of games and their notation; nothing of sockets, of searches or of who plays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zermelo.errors import users_sentence
from zermelo.games.board import action_cells, board_of, drops
from zermelo.games.notation import action_text, parse_action, parse_position, position_text
from zermelo.games.protocol import Game, Outcome, State
from zermelo.games.registry import kind_of
from zermelo.web import messages
from zermelo.web.refusal import Refusal

OUTCOMES = {Outcome.FIRST_WINS: "first", Outcome.SECOND_WINS: "second", Outcome.DRAW: "draw"}


def shape_of(game: Game) -> messages.Shape:
    """The board without what stands on it."""
    board = board_of(game, game.initial())
    if board is None:
        raise Refusal(422, "this game has no board to draw")
    return messages.Shape(
        kind=board.kind,
        rows=board.rows,
        columns=board.columns,
        left=list(board.left),
        right=list(board.right),
        names=list(board.names),
        drops=drops(game),
    )


def board_at(
    game: Game, state: State, before: State | None = None, action: int | None = None
) -> messages.Board:
    """What is drawn; `action` led here from `before`."""
    board = board_of(game, state)
    cells = board.cells if board else ""
    owners = (board.owner(cell) for cell in range(len(cells))) if board else ()
    move: str | None = None
    last: list[int] = []
    if before is not None and action is not None:
        move = action_text(game, before, action)
        last = list(action_cells(game, before, action))
    return messages.Board(
        cells=cells,
        owners="".join("." if owner is None else str(owner) for owner in owners),
        text=position_text(game, state),
        turn=game.player(state),
        move=move,
        label=move,
        last=last,
    )


def position_at(game: Game, state: State, board: messages.Board) -> messages.Position:
    """A board with what can be done there."""
    outcome = game.outcome(state)
    legal = []
    if outcome is None:
        for action in game.legal_actions(state):
            cells = list(action_cells(game, state, action))
            legal.append(messages.Legal(text=action_text(game, state, action), cells=cells))
    return messages.Position(
        board=board,
        legal=legal,
        outcome=None if outcome is None else OUTCOMES[outcome],  # type: ignore[arg-type]
        check=_check(game, board),
    )


class Played:
    """A line played out by some rules: `actions[i]` leads from `states[i]` to `states[i+1]`."""

    def __init__(self, game: Game, line: messages.Line) -> None:
        """A Refusal says what is wrong with the line."""
        self.game = game
        self.states: list[State] = [refusing(lambda: self._first(line.start))]
        self.actions: list[int] = []
        for ply, text in enumerate(line.moves, 1):
            self._add(text, f"move {ply}")

    @classmethod
    def of(cls, game: Game, states: Sequence[State], actions: Sequence[int]) -> Played:
        """One that was played elsewhere."""
        made = cls.__new__(cls)
        made.game, made.states, made.actions = game, list(states), list(actions)
        return made

    def _first(self, start: str | None) -> State:
        return self.game.initial() if start is None else parse_position(self.game, start)

    def _add(self, text: str, place: str) -> None:
        state = self.states[-1]
        if self.game.outcome(state) is not None:
            raise Refusal(422, f"{place}: the game is over before '{text}'")
        action = refusing(lambda: parse_action(self.game, state, text), place)
        self.actions.append(action)
        self.states.append(self.game.play(state, action))

    @property
    def state(self) -> State:
        """The last one."""
        return self.states[-1]

    def boards(self) -> list[messages.Board]:
        """All of them."""
        first = board_at(self.game, self.states[0])
        steps = zip(self.states[1:], self.states[:-1], self.actions, strict=True)
        boards = [first, *(board_at(self.game, *step) for step in steps)]
        if kind_of(self.game) == "chess":
            labels = _sans(boards, "chess960=on" in self.game.name)
            changes = ({"label": label} for label in labels)
            boards[1:] = [b.model_copy(update=c) for b, c in zip(boards[1:], changes, strict=True)]
        return boards

    def texts(self) -> list[str]:
        """The moves, as the game itself writes them."""
        steps = zip(self.states[:-1], self.actions, strict=True)
        return [action_text(self.game, *step) for step in steps]


def refusing(do: Any, place: str = "") -> Any:
    """What `do` returns; what it cannot read becomes a Refusal with its sentence."""
    try:
        return do()
    except Refusal:
        raise
    except Exception as error:
        sentence = users_sentence(error)
        if sentence is None and not isinstance(error, ValueError):
            raise
        sentence = sentence or " ".join(str(error).split())
        raise Refusal(422, f"{place}: {sentence}" if place else sentence) from None


def _check(game: Game, board: messages.Board) -> list[int]:
    """Chess: the mover's king if it is attacked."""
    if kind_of(game) != "chess":
        return []
    import chess

    position = chess.Board(board.text)
    king = position.king(position.turn)
    return [chess.square_mirror(king)] if king is not None and position.is_check() else []


def _sans(boards: Sequence[messages.Board], chess960: bool) -> list[str]:
    """Chess moves as people write them."""
    import chess

    position = chess.Board(boards[0].text, chess960=chess960)
    return [_san(position, each.move or "") for each in boards[1:]]


def _san(position: Any, text: str) -> str:
    move = position.parse_uci(text)
    san = str(position.san(move))
    position.push(move)
    return san
