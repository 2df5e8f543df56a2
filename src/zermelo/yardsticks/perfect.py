"""Connect Four from the empty board, moving first, against the perfect player: is the win kept?

The first player wins with best play, so a perfect opponent can only make it long. It plays one of
the replies that lose latest; a seed of its own in each game chooses among them. A game in which the
win was given away is over at that move: the rest could only tell a draw from a loss.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from zermelo.evaluator import Evaluator
from zermelo.games.protocol import Game, State
from zermelo.search import SearchOptions
from zermelo.yardsticks.choosers import Chooser, Poll, SearchChooser
from zermelo.yardsticks.labels import Connect4Labels

Line = tuple[int, ...]  # columns from the empty board on
Progress = Callable[[str, int, int], None]  # what is done, how many, of how many


@dataclass
class PerfectGames:
    """What became of the games."""

    won: Counter[Line] = field(default_factory=Counter)  # whole games
    mistakes: Counter[Line] = field(default_factory=Counter)  # up to the move that gave it away


class _Tree:
    """The lines of all games; a position that several of them share is looked at once."""

    def __init__(self, game: Game, chooser: Chooser, labels: Connect4Labels) -> None:
        self.game = game
        self.chooser = chooser
        self.labels = labels
        self.at: dict[Line, State] = {(): game.initial()}

    def actions(self, lines: Sequence[Line], progress: Progress | None) -> dict[Line, list[int]]:
        """What may be played after each line: our choice, or the perfect player's replies."""
        if len(lines[0]) % 2 == 0:
            choices = self.chooser.choose([self.at[line] for line in lines])
            return {line: [choice.action] for line, choice in zip(lines, choices, strict=True)}
        found = {}
        for done, line in enumerate(lines, 1):
            found[line] = best_replies(self.labels, self.at[line])
            if progress is not None:
                progress(f"perfect: reply {len(line) // 2 + 1}", done, len(lines))
        return found

    def gives_win_away(self, line: Line, action: int) -> bool:
        return len(line) % 2 == 0 and self.labels.result_after(self.at[line], action) <= 0

    def go(self, line: Line, action: int) -> Line:
        after = (*line, action)
        self.at.setdefault(after, self.game.play(self.at[line], action))
        return after


def play_perfect(
    game: Game,
    chooser: Chooser,
    labels: Connect4Labels,
    games: int,
    seed: int = 0,
    poll: Poll | None = None,
    progress: Progress | None = None,
) -> PerfectGames:
    """All games side by side."""
    chances = [random.Random(f"perfect {seed} {number}") for number in range(games)]
    tree = _Tree(game, chooser, labels)
    found = PerfectGames()
    going: list[tuple[int, Line]] = [(number, ()) for number in range(games)]
    while going:
        if poll is not None:
            poll()
        actions = tree.actions(sorted({line for _, line in going}), progress)
        following = []
        for number, line in going:
            action = chances[number].choice(actions[line])
            after = tree.go(line, action)
            if tree.gives_win_away(line, action):
                found.mistakes[after] += 1
            elif game.outcome(tree.at[after]) is not None:
                found.won[after] += 1
            else:
                following.append((number, after))
        going = following
    return found


def best_replies(labels: Connect4Labels, state: State) -> list[int]:
    """The columns with the best exact score."""
    scores = labels.scores(state)
    top = max(scores.values())
    return [column for column, score in scores.items() if score == top]


@dataclass
class PerfectYardstick:
    """How often a network's search, moving first, beats the perfect player."""

    game: Game
    games: int = 100
    simulations: int = 100
    search: SearchOptions | None = None
    labels: Connect4Labels | None = None
    seed: int = 0
    progress: Progress | None = None
    last: PerfectGames | None = None  # of the last run

    name = "perfect"

    def run(
        self,
        evaluator: Evaluator,
        budget_seconds: float = 0.0,  # noqa: ARG002
        poll: Poll | None = None,
    ) -> dict[str, float]:
        """All games, whatever time they take: it hardly depends on their number."""
        chooser = SearchChooser(self.game, evaluator, self.simulations, self.search)
        return self.judge(chooser, poll)

    def judge(self, chooser: Chooser, poll: Poll | None = None) -> dict[str, float]:
        """The figures of a chooser."""
        self.labels = self.labels or Connect4Labels()
        self.last = play_perfect(
            self.game, chooser, self.labels, self.games, self.seed, poll, self.progress
        )
        won, mistakes = self.last.won, self.last.mistakes
        return {
            "perfect.wins": float(won.total()),
            "perfect.games": float(self.games),
            "perfect.unique_games": float(len(won) + len(mistakes)),
            "perfect.first_mistake": float(min((len(line) for line in mistakes), default=0)),
        }
