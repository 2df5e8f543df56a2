"""Syzygy tablebases through python-chess: the moves that keep the result at the root, and exact
values of positions with few pieces inside the tree.

Results count the fifty-move rule: a win that it spoils is a draw. A position whose counter already
runs is trusted only where that cannot matter.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from zermelo.errors import UserError
from zermelo.evaluator import BatchEvaluator

PIECES = (chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN, chess.KING)
WDL_ROWS = {1: (1.0, 0.0, 0.0), 0: (0.0, 1.0, 0.0), -1: (0.0, 0.0, 1.0)}
REMEMBERED = 100_000  # probed positions kept
FIFTY_MOVES = 100  # plies


class Tablebase:
    """Tables on disk. `prober` has python-chess's `probe_wdl` and `probe_dtz`; for tests."""

    def __init__(self, path: str, prober: Any = None, max_pieces: int = 0) -> None:
        """`path` is one or more folders, separated as in PATH."""
        self.hits = 0
        # Guarded by the lock: all threads of a search ask.
        self._lock = threading.Lock()
        self._known: OrderedDict[bytes, int | None] = OrderedDict()
        if prober is not None:
            self._prober, self.max_pieces = prober, max_pieces
            return
        from chess import syzygy

        self._prober = syzygy.Tablebase()
        folders = [folder for folder in path.split(os.pathsep) if folder]
        for folder in folders:
            if not os.path.isdir(folder):
                raise UserError(f"SyzygyPath: there is no folder '{folder}'")
            self._prober.add_directory(folder)
        # A table's name lists the pieces of both sides: KQvKR has four.
        self.max_pieces = max((len(name) - 1 for name in self._prober.wdl), default=0)
        if not self.max_pieces:
            raise UserError(f"SyzygyPath: there are no tables in '{path}'")

    def close(self) -> None:
        """Lets the files go."""
        if hasattr(self._prober, "close"):
            self._prober.close()

    def root_moves(self, board: chess.Board) -> list[chess.Move]:
        """The moves that keep the result: the quickest to win, the slowest to lose, all that draw.

        Empty when the tables do not know the position.
        """
        if chess.popcount(board.occupied) > self.max_pieces or board.castling_rights:
            return []
        try:
            ranks = {move: self._rank(board, move) for move in board.legal_moves}
        except KeyError:  # a table is missing
            return []
        if not ranks:
            return []
        self.hits += len(ranks)
        best = max(ranks.values())
        return [move for move, rank in ranks.items() if rank == best]

    def _rank(self, board: chess.Board, move: chess.Move) -> tuple[int, int]:
        """Result for the mover, and how soon it is safe; larger is better."""
        board = board.copy(stack=False)
        zeroes = board.is_zeroing(move)
        board.push(move)
        if board.is_checkmate():
            return 1, 0
        if board.is_stalemate() or board.is_insufficient_material():
            return 0, 0
        wdl = -self._prober.probe_wdl(board)
        if abs(wdl) < 2:
            return 0, 0
        plies = abs(self._prober.probe_dtz(board))
        if not zeroes and board.halfmove_clock + plies > FIFTY_MOVES:
            return 0, 0
        if wdl > 0:
            return 1, -1 if zeroes else -plies - 1
        return -1, 1 if zeroes else plies + 1

    def value(self, key: bytes, board: chess.Board) -> int | None:
        """Result for the side to move of a position with few pieces; None if it is not known.

        `key` tells positions apart; `board.halfmove_clock` is the fifty-move counter. Any thread.
        """
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                found = self._known[key]
            else:
                found = self._probe(board)
                self._known[key] = found
                if len(self._known) > REMEMBERED:
                    self._known.popitem(last=False)
            self.hits += found is not None
            return found

    def _probe(self, board: chess.Board) -> int | None:
        try:
            wdl = self._prober.probe_wdl(board)
        except KeyError:
            return None
        if abs(wdl) < 2:  # a draw, or a win that takes too long: no counter makes it better
            return 0
        return (1 if wdl > 0 else -1) if board.halfmove_clock == 0 else None


class TablebaseEvaluator:
    """An evaluator whose values of positions with few pieces are exact.

    `inner` is a callable on float32 planes, or None for equal priors; `encoder` is that of the
    game, lc0 or compact. The mover's pieces are White's here: the tables know no difference.
    """

    packed = False

    def __init__(
        self, inner: BatchEvaluator | None, tablebase: Tablebase, encoder: str, num_actions: int
    ) -> None:
        self._inner = inner
        self._tablebase = tablebase
        self._encoder = encoder
        self._num_actions = num_actions

    def __call__(self, planes: NDArray[Any], /) -> tuple[NDArray[Any], NDArray[Any]]:
        """Policy logits, and win, draw and loss probabilities [batch, 3]."""
        if self._inner is None:
            policy = np.zeros((len(planes), self._num_actions), np.float32)
            value = np.tile(np.array([0, 1, 0], np.float32), (len(planes), 1))
        else:
            policy, value = self._inner(planes)
            value = _as_wdl(np.asarray(value))
        counts = planes[:, :12].sum(axis=(1, 2, 3))
        for row in np.flatnonzero(counts <= self._tablebase.max_pieces).tolist():
            found = self._find(planes[row])
            if found is not None:
                value[row] = WDL_ROWS[found]
        return policy, value

    def _find(self, planes: NDArray[Any]) -> int | None:
        board = board_of(planes, self._encoder)
        if board is None:
            return None
        key = b"%s|%d" % (board.board_fen().encode(), board.ep_square or 0)
        key += b"|0" if board.halfmove_clock == 0 else b"|1"
        return self._tablebase.value(key, board)


def board_of(planes: NDArray[Any], encoder: str) -> chess.Board | None:
    """The position of one observation, the mover as White; None if somebody may still castle.

    A board that was turned stays so.
    """
    compact = encoder == "compact"
    castling = planes[13] if compact else planes[104:108]
    if castling.any():
        return None
    board = chess.Board(None)
    for index in range(12):
        piece = chess.Piece(PIECES[index % 6], index < 6)
        for row, column in np.argwhere(planes[index]).tolist():
            board.set_piece_at(chess.square(column, row), piece)
    board.turn = chess.WHITE
    plies = 1 if encoder in ("lc0", "lc0_3") else 100  # of one on the clock's plane
    board.halfmove_clock = round(float(planes[16 if compact else 109, 0, 0]) * plies)
    if compact:
        for row, column in np.argwhere(planes[12]).tolist():
            board.ep_square = chess.square(column, row)
    elif encoder != "lc0":
        for column in np.flatnonzero(planes[108, 7]).tolist():
            board.ep_square = chess.square(column, 5)
    else:
        board.ep_square = _passed_square(planes[6], planes[13 + 6])
    return board


def _passed_square(now: NDArray[Any], before: NDArray[Any]) -> int | None:
    """Behind the opponent's pawn that has just made its double step (row 6 to row 4)."""
    stepped = (now[4] > 0) & (before[4] == 0) & (before[6] > 0) & (now[6] == 0)
    files: Sequence[int] = np.flatnonzero(stepped).tolist() if before.any() else []
    return chess.square(files[0], 5) if len(files) == 1 else None


def _as_wdl(value: NDArray[Any]) -> NDArray[Any]:
    if value.ndim == 2 and value.shape[1] == 3:
        return value.copy()
    flat = value.reshape(len(value))
    return np.stack([(1 + flat) / 2, np.zeros_like(flat), (1 - flat) / 2], axis=1)
