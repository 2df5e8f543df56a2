"""What chess tells the processor network beyond its planes, compared with python-chess."""

from __future__ import annotations

from collections.abc import Iterator

import chess
import numpy as np
import pytest
from native_games import native

import zermelo
from zermelo import _core
from zermelo.errors import UserError
from zermelo.network import NetworkOptions, architecture_for
from zermelo.network.positions import sample_positions
from zermelo.network.sparse.architecture import SparseArchitecture

VALUES = {1: 1, 2: 3, 3: 3, 4: 5, 5: 9, 6: 99}  # only their order matters
ROWS_OF_SIDE, GOES = 6 * 3 * 64, 6 * 64


def from_movers_side(board: chess.Board, square: int) -> int:
    return square if board.turn == chess.WHITE else square ^ 56


def cheaper(board: chess.Board, by: chess.Color, square: int, piece: int) -> bool:
    """Whether a piece of `by` that is worth less attacks the square; kings count as no threat."""
    worth = VALUES[piece] if piece != chess.KING else 0
    return any(VALUES[board.piece_type_at(a) or 0] < worth for a in board.attackers(by, square))


def expected_rows(board: chess.Board) -> set[int]:
    found = set()
    for square, piece in board.piece_map().items():
        if not board.attackers(not piece.color, square):
            continue
        danger = 0
        if cheaper(board, not piece.color, square, piece.piece_type):
            danger = 1
        if not board.attackers(piece.color, square):
            danger = 2
        side = int(piece.color != board.turn)
        row = ((piece.piece_type - 1) * 3 + danger) * 64 + from_movers_side(board, square)
        found.add(side * ROWS_OF_SIDE + row)
    return found


def expected_action(board: chess.Board, move: chess.Move) -> tuple[int, int]:
    mover, other = board.turn, not board.turn
    piece = board.piece_type_at(move.from_square) or 0
    to = move.to_square
    if board.is_castling(move):  # an action is the king's move onto his rook
        to = chess.square(7 if chess.square_file(to) > 4 else 0, chess.square_rank(to))
    taken = 0 if board.color_at(to) == mover else board.piece_type_at(to) or 0
    straight = piece == chess.PAWN and chess.square_file(move.from_square) == chess.square_file(to)
    defended = len(board.attackers(mover, to)) >= (1 if straight else 2)
    risk = 0
    if board.attackers(other, to):
        risk = 1 if defended and not cheaper(board, other, to, piece) else 2
    comes = move.promotion or piece
    king = board.king(other)
    assert king is not None
    if comes == chess.PAWN:
        check = to in board.attackers(mover, king) or king in chess.SquareSet(
            chess.BB_PAWN_ATTACKS[mover][to]
        )
    elif comes == chess.KING:
        check = False
    else:
        alone = board.copy(stack=False)
        alone.set_piece_at(king, chess.Piece(comes, other))
        check = to in alone.attacks(king)
    from_square = move.from_square
    loose = bool(board.attackers(other, from_square)) and (
        not board.attackers(mover, from_square) or cheaper(board, other, from_square, piece)
    )
    exchange = ((((piece - 1) * 6 + taken) * 3 + risk) * 2 + int(check)) * 2 + int(loose)
    return (piece - 1) * 64 + from_movers_side(board, to), GOES + exchange


def positions() -> Iterator[tuple[chess.Board, np.ndarray, list[int], list[chess.Move]]]:
    """Boards, their packed observations, and their actions as numbers and as moves."""
    game = native("chess")
    features = _core.SparseFeatures(game.observation_layout)
    for position in sample_positions(game, 400, seed=3):
        state = position.state
        packed = features.pack(np.asarray(game.observe(state), np.float32)[None])
        actions = list(game.legal_actions(state))
        moves = [chess.Move.from_uci(game.action_text(state, action)) for action in actions]
        yield chess.Board(game.position_text(state)), packed, actions, moves


@pytest.mark.technique("T17")
def test_attacked_pieces_are_those_of_python_chess() -> None:
    layout = native("chess").observation_layout
    plain, told = _core.SparseFeatures(layout), _core.SparseFeatures(layout, inputs="attacks")
    first, seen = plain.num_rows - 1, set()
    for board, packed, _, _ in positions():
        more = {int(row) - first for row in told.read(packed)[0]} - {told.num_rows - 1 - first}
        found = {row for row in more if row >= 0}
        assert found == expected_rows(board), board.fen()
        seen |= found
    assert len(seen) > 400  # the sample shows most kinds of danger


@pytest.mark.technique("T17")
def test_what_a_move_takes_risks_and_threatens_is_that_of_python_chess() -> None:
    game = native("chess")
    features = _core.SparseFeatures(game.observation_layout, inputs="attacks")
    kinds = set()
    for board, packed, actions, moves in positions():
        rows = features.read_actions(packed, np.array([actions]), game.num_actions)[0]
        assert rows[:, 0].tolist() == actions
        for move, (_, goes, exchange) in zip(moves, rows.tolist(), strict=True):
            found = (goes - game.num_actions, exchange - game.num_actions)
            assert found == expected_action(board, move), (board.fen(), move.uci())
            kinds.add(found[1])
    assert len(kinds) > 100


def test_other_games_have_no_such_inputs() -> None:
    options = NetworkOptions(kind="sparse", value_hidden=32, inputs="attacks")
    with pytest.raises(UserError, match="another game's observations"):
        architecture_for(zermelo.game("othello"), options)
    values = architecture_for(zermelo.game("chess"), options).to_dict() | {"inputs": "smells"}
    with pytest.raises(UserError, match="no game has the inputs 'smells'"):
        SparseArchitecture.from_dict(values)
