"""The rules of checkers against a slow twin."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from checkers_moves import whole_moves
from native_games import native

import zermelo

Record = Callable[[str, object], None]

Cell = tuple[int, int]  # row, column
Way = tuple[list[Cell], list[Cell]]  # cells visited, cells whose men are taken
START = "B:W" + ",".join(map(str, range(21, 33))) + ":B" + ",".join(map(str, range(1, 13)))


class SlowCheckers:
    """The rules once more: an 8x8 list of letters, whole moves, captured men removed at the end."""

    def __init__(self, cells: str, mover: str, quiet_plies: int) -> None:
        self.rows = [list(cells[row * 8 : row * 8 + 8]) for row in range(8)]
        self.mover = mover  # 'b' or 'w'
        self.quiet_plies = quiet_plies
        self.quiet = 0
        self.seen = Counter([self.key()])

    def key(self) -> tuple[str, str]:
        return "".join("".join(row) for row in self.rows), self.mover

    @staticmethod
    def number(row: int, column: int) -> int:
        return row * 4 + column // 2 + 1

    def directions(self, piece: str) -> list[tuple[int, int]]:
        forward = 1 if self.mover == "b" else -1
        rows = [forward, -forward] if piece.isupper() else [forward]
        return [(down, right) for down in rows for right in (-1, 1)]

    def at(self, row: int, column: int) -> str:
        return self.rows[row][column] if 0 <= row < 8 and 0 <= column < 8 else "#"

    def jumps(self, piece: str, path: list[Cell], taken: list[Cell]) -> list[Way]:
        """All complete ways to jump on from the end of the path: (cells visited, cells taken)."""
        row, column = path[-1]
        ways = []
        for down, right in self.directions(piece):
            over, to = (row + down, column + right), (row + 2 * down, column + 2 * right)
            enemy = self.at(*over).lower() in "bw" and self.at(*over).lower() != self.mover
            if not enemy or over in taken or not (self.at(*to) == "." or to == path[0]):
                continue
            crowned = piece.islower() and to[0] == (7 if self.mover == "b" else 0)
            rest = [] if crowned else self.jumps(piece, [*path, to], [*taken, over])
            ways += rest or [([*path, to], [*taken, over])]
        return ways

    def moves(self) -> dict[str, Way]:
        """Whole moves by their text, such as "11-15" or "1x10x19"."""
        plain: dict[str, Way] = {}
        jumping: dict[str, Way] = {}
        for row in range(8):
            for column in range(8):
                piece = self.rows[row][column]
                if piece.lower() != self.mover:
                    continue
                for path, taken in self.jumps(piece, [(row, column)], []):
                    jumping["x".join(str(self.number(*cell)) for cell in path)] = path, taken
                for down, right in self.directions(piece):
                    to = (row + down, column + right)
                    if self.at(*to) == ".":
                        text = f"{self.number(row, column)}-{self.number(*to)}"
                        plain[text] = [(row, column), to], []
        return jumping or plain

    def play(self, text: str) -> None:
        path, taken = self.moves()[text]
        (row, column), to = path[0], path[-1]
        piece = self.rows[row][column]
        self.rows[row][column] = "."
        for r, c in taken:
            self.rows[r][c] = "."
        self.quiet = self.quiet + 1 if piece.isupper() and not taken else 0
        crowned = to[0] == (7 if self.mover == "b" else 0)
        self.rows[to[0]][to[1]] = piece.upper() if crowned else piece
        self.mover = "w" if self.mover == "b" else "b"
        self.seen[self.key()] += 1

    def outcome(self) -> zermelo.Outcome | None:
        if not self.moves():
            lost = self.mover == "b"
            return zermelo.Outcome.SECOND_WINS if lost else zermelo.Outcome.FIRST_WINS
        if self.seen[self.key()] >= 3 or self.quiet >= self.quiet_plies:
            return zermelo.Outcome.DRAW
        return None


def play_against_twin(position: str, seed: int, quiet_plies: int = 80) -> str:
    """Plays a random game by both rules, comparing all they say; how it ended."""
    name = "checkers" if quiet_plies == 80 else f"checkers?quiet_plies={quiet_plies}"
    game, rng = native(name), random.Random(seed)
    state = game.parse_position(position)
    twin = SlowCheckers(game.cells(state), "bw"[game.player(state)], quiet_plies)
    ply = 0
    while True:
        assert (game.cells(state), "bw"[game.player(state)]) == twin.key()
        assert game.outcome(state) == twin.outcome()
        assert game.ply(state) == ply
        outcome = game.outcome(state)
        if outcome is not None:
            assert game.legal_actions(state) == []
            if outcome != zermelo.Outcome.DRAW:
                return "won"
            return "repetition" if twin.seen[twin.key()] >= 3 else "quiet"
        moves = whole_moves(game, state)
        assert sorted(moves) == sorted(twin.moves())
        planes = np.asarray(game.observe(state))
        assert round(float(planes[5, 0, 0]) * quiet_plies) == twin.quiet
        assert planes[6, 0, 0] == (twin.seen[twin.key()] - 1) / 2
        choice = rng.choice(sorted(moves))
        for action in moves[choice]:
            state = game.play(state, action)
            ply += 1
        twin.play(choice)


def kings_only(rng: random.Random) -> str:
    squares = rng.sample(range(1, 33), 4)
    white, black = (
        ",".join(f"K{square}" for square in half) for half in (squares[:2], squares[2:])
    )
    return f"{rng.choice('BW')}:W{white}:B{black}"


def scattered(rng: random.Random) -> str:
    """Men and kings anywhere, so that long jumps and crowning jumps are frequent."""
    squares = rng.sample(range(5, 29), 12)
    pieces = [rng.choice(["", "", "K"]) + str(square) for square in squares]
    return f"{rng.choice('BW')}:W{','.join(pieces[:7])}:B{','.join(pieces[7:])}"


def test_random_games_agree_with_the_slow_twin() -> None:
    ends = Counter(play_against_twin(START, seed) for seed in range(300))
    assert ends["won"] > 0


def test_random_games_from_scattered_pieces_agree_with_the_slow_twin() -> None:
    for seed in range(200):
        play_against_twin(scattered(random.Random(seed)), seed)


def test_random_games_of_kings_end_by_both_draw_rules_as_with_the_slow_twin() -> None:
    ends: Counter[str] = Counter()
    for seed in range(120):
        position = kings_only(random.Random(seed))
        ends[play_against_twin(position, seed, quiet_plies=(20, 80, 200)[seed % 3])] += 1
    assert ends["repetition"] > 0
    assert ends["quiet"] > 0


@pytest.mark.slow
def test_thousands_of_random_games_agree_with_the_slow_twin(record_property: Record) -> None:
    for seed in range(1000, 6000):
        rng = random.Random(seed)
        position = (START, scattered(rng), START, kings_only(rng))[seed % 4]
        play_against_twin(position, seed, quiet_plies=(80, 30, 200)[seed % 3])
    record_property("tried", 5000)
