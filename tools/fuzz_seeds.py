"""Valid inputs that fuzzing of the core begins with, one or two for each kind of game."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np

import zermelo
from zermelo import _core
from zermelo.games.native import native_game

# In the order of `with_game` in cpp/fuzz/targets.hpp.
GAMES = (
    "tictactoe", "connect4", "othello?size=6", "hex?size=5&swap=on", "checkers",
    "chess?chess960=on", "chess",
)  # fmt: skip
FENS = {
    "chess": "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "chess?chess960=on": "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
}


def write_seeds(folder: Path) -> None:
    """A file of each target and game."""
    for number, name in enumerate(GAMES):
        put(folder / "texts" / f"seed-{number}", bytes([number]) + text_of(name))
        saved, samples = played(name)
        put(folder / "saved_games" / f"seed-{number}", bytes([number]) + saved[:-8])
        put(folder / "samples" / f"seed-{number}", bytes([number]) + samples)
        weights = np.random.default_rng(number).integers(0, 256, 600, np.uint8).tobytes()
        put(folder / "sparse_network" / f"seed-{number}", bytes([number, 0, 0]) + weights)
    put(folder / "sparse_network" / "seed-attacks", bytes([0x86, 0, 0]) + weights)
    put(
        folder / "connect4_book" / "seed",
        b"ZC4 BOOK" + struct.pack("<IIQQ", 1, 1, 1, 0x81 << 8 | 64),
    )


def put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def text_of(name: str) -> bytes:
    """A position and some moves of it."""
    game: Any = zermelo.game(name)
    state = game.parse_position(FENS[name]) if name in FENS else game.initial()
    lines = [game.position_text(state)]
    for _ in range(6):
        action = game.legal_actions(state)[-1]
        lines.append(game.action_text(state, action))
        state = game.play(state, action)
        if game.outcome(state) is not None:
            break
    return "\n".join(lines).encode()


def played(name: str) -> tuple[bytes, bytes]:
    """Games under way as they are saved, and finished ones as columns."""
    runner: Any = _core.make_selfplay(
        native_game(zermelo.game(name)),
        _core.HashEvaluator(1),
        _core.SearchOptions(),
        _core.SelfPlayOptions(games=2, simulations=4, max_plies=12, seed=3),
        None,
    )
    done = runner.play(8, 0.0, None)
    runner.drop_trees()
    columns = [np.ravel(column) for column in done.values() if isinstance(column, np.ndarray)]
    return runner.save(), b"".join(struct.pack("<Q", len(c)) + c.tobytes() for c in columns)
