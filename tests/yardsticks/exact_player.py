"""A player that knows the exact scores, and a file of positions, for the tests of yardsticks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from zermelo.games.protocol import State
from zermelo.yardsticks import positions as known_positions
from zermelo.yardsticks.choosers import Choice
from zermelo.yardsticks.labels import sign

Scores = Callable[[State], dict[int, int]]


class ByScore:
    """A chooser that takes the best or the worst action by exact scores."""

    def __init__(self, scores: Scores, worst: bool = False) -> None:
        self.scores = scores
        self.pick = min if worst else max

    def choose(self, states: Sequence[State]) -> list[Choice]:
        return [self.one(state) for state in states]

    def one(self, state: State) -> Choice:
        scores = self.scores(state)
        action = self.pick(scores, key=lambda a: scores[a])
        return Choice(action, float(sign(max(scores.values()))))


def position_file(folder: Path, count: int = 25, ply: int = 22) -> Path:
    """A file as others publish them: moves and the exact score, made from the set."""
    lines = known_positions.CONNECT4_SET.read_text().splitlines()[1:]
    rows = []
    for line in lines:
        moves, *scores = line.split()
        if len(moves) >= ply:
            rows.append(f"{moves} {max(int(score) for score in scores if score != '-')}")
    path = folder / "Test_L9_R9"
    path.write_text("\n".join(rows[:count]) + "\n")
    return path
