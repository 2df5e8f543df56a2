"""The ladder (E3) as a yardstick of a run: each new checkpoint meets earlier ones of the run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zermelo.evaluate.ladder import Ladder, LadderOptions
from zermelo.evaluate.openings import make_openings
from zermelo.evaluate.rating import ColourSplit
from zermelo.evaluate.yardstick_choosers import Poll, SearchChooser
from zermelo.evaluate.yardstick_games import play_pairs
from zermelo.evaluate.yardstick_options import EvaluateOptions
from zermelo.games.protocol import Game
from zermelo.network.files import CHECKPOINT_FILE
from zermelo.players.network_path import MANIFEST
from zermelo.players.search_player import network_evaluator
from zermelo.search import SearchOptions

FOLDER = "ladder"  # in the run's directory


class CheckpointLadder:
    """What the training loop calls with each new checkpoint and its run."""

    def __init__(self, game: Game, options: EvaluateOptions) -> None:
        self._game = game
        self._options = LadderOptions(
            opponents=max(1, options.ladder),
            games=options.ladder_games,
            simulations=options.simulations,
            openings=options.openings,
            seed=options.seed,
        )

    def __call__(self, checkpoint: Any, run: Any) -> dict[str, float]:
        """Elo above the run's first rated checkpoint, and half of its 95 % interval."""
        ladder = Ladder(run.path / FOLDER, self._game, self._options)
        rung = ladder.climb(checkpoint.directory, earlier(run.checkpoints, checkpoint.directory))
        if rung is None or rung.elo is None or rung.margin is None:
            return {}
        return {
            "ladder.elo": rung.elo,
            "ladder.margin": rung.margin,
            "ladder.score": rung.score,
            "ladder.games": float(rung.games),
        }


def earlier(directory: Path, checkpoint: Path) -> list[Path]:
    """The whole checkpoints before one, the newest last."""
    found = [
        entry
        for entry in directory.iterdir()
        if entry.name.isdecimal() and int(entry.name) < int(checkpoint.name)
    ]
    whole = [e for e in found if (e / MANIFEST).is_file() and (e / CHECKPOINT_FILE).is_file()]
    return sorted(whole, key=lambda entry: int(entry.name))


def network_pairs(
    game: Game,
    networks: Sequence[Path],
    options: LadderOptions,
    search: SearchOptions | None = None,
    backend: str = "auto",
    poll: Poll | None = None,
) -> ColourSplit:
    """A match of two networks with all games side by side in this process; for the first."""
    first, second = (
        SearchChooser(
            game, network_evaluator(str(path), game, backend), options.simulations, search
        )
        for path in networks
    )
    openings = make_openings(game, options.openings, (options.games + 1) // 2, options.seed)
    return play_pairs(game, (first, second), openings, poll=poll)
