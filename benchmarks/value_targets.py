"""How far the value targets of Connect Four self-play lie from the truth, judged by BitBully.

Usage: python benchmarks/value_targets.py --weights RUN [--samples 20000] [--judged 8000]
[--set SECTION.OPTION=VALUE ...] [--json]

Plays with the preset's options and what `--set` changes, in one process, then solves the last
positions of finished games. For each target, the mean squared distance from the true result (win
1, draw 0, loss -1), in all and by plies: the game's result, the search's root value, and their
blends (T3).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import bitbully
import numpy as np
from numpy.typing import NDArray

from zermelo.config import RunConfig, find_preset, parse_settings, read_run_file
from zermelo.network import load_network
from zermelo.network.places import network_path
from zermelo.replay import Samples
from zermelo.replay.samples import VALUE_SCALE
from zermelo.selfplay.self_play import SelfPlay

ROWS, COLUMNS = 6, 7
BLENDS = (0.0, 0.3, 0.5, 0.7, 1.0)  # 0 is the result, 1 the root's value
PLIES = ((0, 42), (0, 4), (4, 8), (8, 16), (16, 26), (26, 42))


def preset(settings: list[str]) -> RunConfig:
    """The options of the Connect Four preset with these changes."""
    path = find_preset("connect4")
    assert path is not None
    _, tables = read_run_file(path)
    return RunConfig.from_tables(tables).changed(parse_settings(settings))


def played(config: RunConfig, weights: Path, count: int) -> Samples:
    """Samples of finished games."""
    game = config.game()
    runner = SelfPlay(
        game,
        load_network(weights, game),
        config.search,
        config.selfplay,
        precision=config.pool.precision,
    )
    return runner.play(count).samples


def board_of(observation: NDArray[np.uint64]) -> bitbully.Board:
    """From the bits of the mover and of the other player; cell 0 is at the top left."""
    mover, other = (int(word) for word in observation)
    first_moves = (mover | other).bit_count() % 2 == 0
    first, second = (mover, other) if first_moves else (other, mover)
    return bitbully.Board(
        [
            [(first >> cell & 1) + 2 * (second >> cell & 1) for cell in range(row, row + COLUMNS)]
            for row in range(0, ROWS * COLUMNS, COLUMNS)
        ]
    )


def truth_of(samples: Samples) -> NDArray[np.float64]:
    """What each position is worth to the mover."""
    judge = bitbully.BitBully(opening_book="12-ply-dist")
    scores = [
        max(judge.score_all_moves(board_of(observation)).values())
        for observation in samples.observations
    ]
    return np.sign(np.array(scores, np.float64))


def distances(samples: Samples, truth: NDArray[np.float64]) -> list[dict[str, Any]]:
    """A row for each range of plies, with a column for each blend."""
    results = samples.results.astype(np.float64)
    roots = samples.values / VALUE_SCALE
    rows = []
    for low, high in PLIES:
        chosen = (samples.plies >= low) & (samples.plies < high)
        row: dict[str, Any] = {"plies": [low, high - 1], "positions": int(chosen.sum())}
        for blend in BLENDS:
            target = (1 - blend) * results + blend * roots
            squares = np.square(target - truth)[chosen]
            row[f"{blend:g}"] = float(squares.mean()) if len(squares) else None
        rows.append(row)
    return rows


def main() -> None:
    """A table, or with --json its rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weights", required=True, help="a run, checkpoint or network file")
    parser.add_argument("--samples", type=int, default=20000, help="to play")
    parser.add_argument("--judged", type=int, default=8000, help="of those, from the end")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.OPTION=VALUE")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    samples = played(preset(given.set), network_path(given.weights), given.samples)
    # The first games to end are the short ones, so those are left away.
    judged = samples.take(np.arange(max(0, len(samples) - given.judged), len(samples)))
    rows = distances(judged, truth_of(judged))
    if given.json:
        print(json.dumps({"rows": rows}, indent=2))
        return
    print("| plies | positions | " + " | ".join(f"value_blend {b:g}" for b in BLENDS) + " |")
    print("|---" * (len(BLENDS) + 2) + "|")
    for row in rows:
        figures = [row[f"{b:g}"] for b in BLENDS]
        texts = ["-" if figure is None else f"{figure:.3f}" for figure in figures]
        print(f"| {row['plies'][0]}-{row['plies'][1]} | {row['positions']} | {' | '.join(texts)} |")


if __name__ == "__main__":
    main()
