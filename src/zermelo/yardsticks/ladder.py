"""The ladder (E3) as a yardstick of a run: each new checkpoint meets earlier ones of the run.

All games of two networks are played side by side in this process, so that they share batches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from zermelo.checkpoint import CheckpointError, CheckpointStore
from zermelo.errors import UserError
from zermelo.evaluator import Evaluator
from zermelo.games.protocol import Game
from zermelo.matches.openings import make_openings
from zermelo.matches.pairing import derived_seed
from zermelo.network import NetworkEvaluator
from zermelo.network.places import whole_checkpoints
from zermelo.search import SearchOptions
from zermelo.statistics.rating import PairPoints
from zermelo.yardsticks.choosers import Budget, Poll, SearchChooser
from zermelo.yardsticks.games import play_within
from zermelo.yardsticks.ladder_file import Ladder, LadderOptions
from zermelo.yardsticks.options import EvaluateOptions

FOLDER = "ladder"  # in the run's directory

Note = Callable[[str], None]  # takes a sentence for the person and the log


def ladder_options(options: EvaluateOptions) -> LadderOptions:
    """Those of a run's ladder."""
    return LadderOptions(
        opponents=max(1, options.ladder),
        games=options.ladder_games,
        simulations=options.simulations,
        openings=options.openings,
        max_plies=options.max_plies,
        seed=options.seed,
    )


@dataclass
class LadderYardstick:
    """The rating of one checkpoint among those of its run."""

    game: Game
    checkpoint: Path
    folder: Path  # of the ladder
    options: LadderOptions
    search: SearchOptions | None = None
    runtime: tuple[str, str] = ("auto", "f32")  # backend and precision of the opponents
    note: Note | None = None

    name = "ladder"

    def run(
        self, evaluator: Evaluator, budget_seconds: float = 0.0, poll: Poll | None = None
    ) -> dict[str, float]:
        """Elo above the run's first rated checkpoint and above the one before, with intervals.

        `evaluator` is the checkpoint's network. Opponents have equal parts of the time; those for
        whom none is left are not met, nor those whose files are damaged.
        """
        ladder = Ladder(self.folder, self.options)
        whole = Budget(budget_seconds, poll)
        part = budget_seconds / self.options.opponents
        begun: list[Path] = []
        # Each checkpoint has openings of its own: else all ratings hang on the same few.
        seed = derived_seed(self.options.seed, int(self.checkpoint.name))
        options = replace(self.options, seed=seed)

        def meet(other: Path) -> list[PairPoints] | None:
            if begun and not whole.enough_for(0.0):
                return None
            opponent = self._opponent(other)
            if opponent is None:
                return None
            begun.append(other)
            return network_pairs(
                self.game, (evaluator, opponent), options, Budget(part, poll), self.search
            )

        rung = ladder.climb(self.checkpoint.name, opponents(ladder, self.checkpoint), meet)
        if rung is None or rung.elo is None or rung.margin is None:
            return {}
        found = {
            "ladder.elo": rung.elo,
            "ladder.margin": rung.margin,
            "ladder.score": rung.score,
            "ladder.games": float(rung.games),
        }
        if rung.gain is not None:
            found["ladder.gain"], found["ladder.gain_margin"] = rung.gain
        return found

    def _opponent(self, checkpoint: Path) -> NetworkEvaluator | None:
        """Its network; None, and a note, if a file of it is not as it was written."""
        store = CheckpointStore(checkpoint.parent, read_only=True)
        try:
            weights = store.open(int(checkpoint.name)).weights()
        except CheckpointError as error:
            if self.note is not None:
                self.note(f"{error}; the ladder goes on without it")
            return None
        return NetworkEvaluator(weights, *self.runtime, game=self.game)


def opponents(ladder: Ladder, checkpoint: Path) -> list[Path]:
    """Earlier checkpoints that are rated, the newest last, or the oldest if none is.

    A rating needs a chain of games to the first one, and of the checkpoints between two evaluations
    none has played.
    """
    whole = whole_checkpoints(checkpoint.parent)
    found = [path for path in whole if int(path.name) < int(checkpoint.name)]
    return [path for path in found if path.name in ladder.names] or found[:1]


def needed_checkpoints(folder: Path, options: EvaluateOptions) -> list[int]:
    """The iterations of the checkpoints that the next ones will meet, so that they must stay.

    Twice as many as are met at a time, since those lie further and further back.
    """
    if not options.ladder or not options.every:
        return []
    try:
        names = Ladder(folder).names
    except UserError:  # it is damaged, which is told when the next checkpoint should climb it
        return []
    return [int(name) for name in names[-2 * options.ladder :]]


def network_pairs(
    game: Game,
    networks: tuple[Evaluator, Evaluator],
    options: LadderOptions,
    budget: Budget | None = None,
    search: SearchOptions | None = None,
) -> list[PairPoints]:
    """A match of two evaluators with all games side by side in this process; for the first."""
    first, second = (SearchChooser(game, e, options.simulations, search) for e in networks)
    openings = make_openings(game, options.openings, (options.games + 1) // 2, options.seed)
    return play_within(game, (first, second), openings, budget or Budget(), options.max_plies)
