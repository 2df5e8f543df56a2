"""Makes the Connect Four positions that ship with the package, with their exact scores.

    python tools/make_connect4_set.py set        src/zermelo/data/connect4_set.txt
    python tools/make_connect4_set.py opening    src/zermelo/data/connect4_opening.txt

`set` is the yardstick's fixed set: for every ply from 8 to 34 positions in which some move gives
the result away, and some that are lost whatever is played. Half of the games are random, half take
a win and stop a loss at once. Same seed, same file; it takes a few minutes.

`opening` holds the scores of the positions that the perfect second player meets while the first
player keeps its win, down to a ply. It takes some minutes more, and goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import zermelo
from zermelo.yardsticks.labels import COLUMNS, Connect4Labels, scores_line, sign

FIRST_PLY, LAST_PLY = 8, 34
DECISIVE, LOST = 17, 5  # of each ply
SEED = 20240  # of the file in the package
OPENING_PLIES = 13
SET_HEAD = "# columns played, then the exact score of each column for the player to move"
OPENING_HEAD = "# a position or its mirror image, then the exact score of each column"
GAME: Any = zermelo.game("connect4")
START = (-2, -1, 0, 1, 0, -1, -2)  # the empty board, which takes the solver minutes


def main() -> None:
    """One of the two files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("set", "opening"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--plies", type=int, default=OPENING_PLIES, help="of the opening")
    parser.add_argument("--last-ply", type=int, default=LAST_PLY)
    parser.add_argument("--first-ply", type=int, default=FIRST_PLY)
    given = parser.parse_args()
    if given.what == "set":
        lines = list(make_set(given.seed, range(given.first_ply, given.last_ply + 1)))
        given.file.write_text("\n".join(lines) + "\n")
    else:
        make_opening(given.file, given.plies)


def make_set(seed: int, plies: range) -> Iterator[str]:
    """The lines in a random order, so that the first so many are a fair sample."""
    labels = Connect4Labels(opening=None)
    lines: list[str] = []
    for ply in plies:
        lines += positions_of(ply, labels, random.Random(f"connect4 set {seed} {ply}"))
        print(f"ply {ply}: {len(lines)} positions", file=sys.stderr, flush=True)
    random.Random(f"connect4 set {seed}").shuffle(lines)
    yield SET_HEAD
    yield from lines


def positions_of(ply: int, labels: Connect4Labels, chance: random.Random) -> list[str]:
    """Different positions after so many plies, as many of each sort as are wanted."""
    wanted = {True: DECISIVE, False: LOST}  # by whether a mistake is possible
    seen: set[str] = set()
    lines: list[str] = []
    while any(wanted.values()):
        careful = chance.random() < 0.5
        moves = random_moves(ply, chance, careful)
        state = GAME.parse_position(moves) if moves else None
        if state is None or (key := labels._key(state)[0]) in seen:
            continue
        seen.add(key)
        scores = labels.scores(state)
        results = {sign(score) for score in scores.values()}
        decisive = len(results) > 1
        if not decisive and results != {-1}:
            continue  # won or drawn by every move: it tells nothing about the choice
        if wanted[decisive]:
            wanted[decisive] -= 1
            lines.append(scores_line(moves, [scores.get(c) for c in range(COLUMNS)]))
    return lines


def random_moves(plies: int, chance: random.Random, careful: bool) -> str:
    """The columns of a game that is not over after so many plies; "" if it is."""
    state, moves = GAME.initial(), ""
    for _ in range(plies):
        columns = list(GAME.legal_actions(state))
        column = careful_choice(state, columns, chance) if careful else chance.choice(columns)
        state = GAME.play(state, column)
        moves += str(column + 1)
        if GAME.outcome(state) is not None:
            return ""
    return moves


def careful_choice(state: Any, columns: list[int], chance: random.Random) -> int:
    """Wins at once if it can, keeps the opponent from doing so, and plays at random else."""
    chance.shuffle(columns)
    for column in columns:
        if GAME.outcome(GAME.play(state, column)) is not None:
            return column
    safe = [column for column in columns if not loses_at_once(GAME.play(state, column))]
    return (safe or columns)[0]


def loses_at_once(state: Any) -> bool:
    """Whether the player to move can win with the next stone."""
    return any(
        GAME.outcome(GAME.play(state, column)) not in (None, zermelo.Outcome.DRAW)
        for column in GAME.legal_actions(state)
    )


def make_opening(path: Path, plies: int) -> None:
    """Follows every first move that wins, and every best reply; solved positions are kept."""
    if not path.exists():
        path.write_text(OPENING_HEAD + "\n")
    labels = Connect4Labels(cache=path, opening=None)
    empty = GAME.initial()
    if labels._key(empty)[0] not in labels._scores:
        labels._keep_scores(labels._key(empty)[0], START)
    layer = [empty]
    for ply in range(plies + 1):
        following: dict[str, Any] = {}
        for state in layer:
            scores = labels.scores(state)
            top = max(scores.values())
            kept = [c for c, s in scores.items() if (s > 0 if ply % 2 == 0 else s == top)]
            for column in kept:
                after = GAME.play(state, column)
                if GAME.outcome(after) is None:
                    following.setdefault(labels._key(after)[0], after)
            print(f"ply {ply}: {GAME.position_text(state)} {scores}", file=sys.stderr, flush=True)
        layer = list(following.values())


if __name__ == "__main__":
    main()
