"""Yardsticks: figures that say how strong a network is, the same at every iteration of a run.

`yardsticks_for(game, options)` gives those that fit a game; `measure` applies them to an evaluator
within a time; `CheckpointYardsticks` does so for each new checkpoint of a run.

| metric | what it is |
|---|---|
| connect4.keeps_value, .keeps_score | share of choices that keep the exact result, or the score |
| connect4.judged | positions that those shares are of |
| connect4.value_error | mean distance of the search's value from the result, 0 to 2 |
| connect4.policy_keeps_value, .policy_keeps_score, .network_value_error | without a search |
| perfect.wins | games won against the perfect player, moving first from the empty board |
| tictactoe.never_loses | 1 if no line of play beats the search on either side |
| random.score, policy.score, rollout_200.score | points per game against an opponent |
| performance.elo, .low, .high | rating by games against an engine's levels, 95 % interval |
| FILE.solved, FILE.policy_solved | share of a suite's problems; chess_mates.* is built in |
| ladder.elo, ladder.margin | rating among the run's checkpoints, half of the 95 % interval |
| ladder.gain, ladder.gain_margin | the same above the checkpoint that was rated before |
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from zermelo.cores import available_cores
from zermelo.errors import UserError
from zermelo.evaluator import Evaluator
from zermelo.games.protocol import Game
from zermelo.games.registry import kind_of
from zermelo.matches.openings import make_openings
from zermelo.network import NetworkEvaluator
from zermelo.players.human import HumanPlayer
from zermelo.players.protocol import PlayerError
from zermelo.players.registry import ENGINE
from zermelo.players.registry import player as find_player
from zermelo.players.uci_player import UciPlayer, engine_command
from zermelo.search import SearchOptions
from zermelo.yardsticks.choosers import Poll
from zermelo.yardsticks.exhaustive import NeverLoses
from zermelo.yardsticks.games import OWN_POLICY, OpponentYardstick
from zermelo.yardsticks.ladder import FOLDER, LadderYardstick, Note, ladder_options
from zermelo.yardsticks.levels import LevelsYardstick, levels_among, performance_text
from zermelo.yardsticks.options import EvaluateOptions
from zermelo.yardsticks.perfect import PerfectYardstick
from zermelo.yardsticks.positions import PositionYardstick, connect4_set
from zermelo.yardsticks.suite import CHESS_MATES, SuiteYardstick

__all__ = [
    "CheckpointYardsticks",
    "EvaluateOptions",
    "Yardstick",
    "headline",
    "measure",
    "yardsticks_for",
]


class Yardstick(Protocol):
    """One kind of measurement."""

    @property
    def name(self) -> str:
        """The prefix of its metrics."""

    def run(
        self, evaluator: Evaluator, budget_seconds: float = 0.0, poll: Poll | None = None
    ) -> dict[str, float]:
        """Figures by name. A budget of 0 is any time; `poll` is called often and may raise."""


def yardsticks_for(
    game: Game, options: EvaluateOptions | None = None, search: SearchOptions | None = None
) -> list[Yardstick]:
    """What can be measured in this game; `search` are the options that the network plays with.

    An engine that is not installed is left out; other players and openings that there are not, and
    engines that cannot be started, are refused.
    """
    options = options or EvaluateOptions()
    refuse_unknown(game, options)
    search = network_search(options, search)
    kind = kind_of(game)
    found: list[Yardstick] = []
    if kind == "tictactoe":
        found.append(NeverLoses(game, options.simulations, search))
    if kind == "connect4" and options.positions:
        known = connect4_set()
        known = replace(known, positions=known.positions[: options.positions])
        found.append(PositionYardstick(game, known, options.simulations, search))
    if kind == "connect4" and options.perfect_games:
        found.append(
            PerfectYardstick(
                game, options.perfect_games, options.simulations, search, seed=options.seed
            )
        )
    if options.suite:
        found.append(SuiteYardstick(game, Path(options.suite), options.simulations, search))
    elif kind == "chess" and options.positions:
        found.append(
            SuiteYardstick(game, CHESS_MATES, options.simulations, search, options.positions)
        )
    players = [player for player in options.players if options.games and installed(player)]
    levels = levels_among(players)
    if levels:
        found.append(
            LevelsYardstick(
                game,
                levels,
                options.games,
                options.simulations,
                search,
                options.openings,
                options.max_plies,
                options.seed,
            )
        )
    if options.games:
        found += [
            OpponentYardstick(
                game,
                opponent,
                options.games,
                options.simulations,
                search,
                options.openings,
                options.max_plies,
                options.seed,
            )
            for opponent in players
            if opponent not in levels.values()
        ]
    ladder = [LadderYardstick.name] if options.ladder else []
    refuse_equal_names([*(yardstick.name for yardstick in found), *ladder])
    return found


def refuse_equal_names(names: Iterable[str]) -> None:
    """A yardstick's name is the prefix of its metrics, so two would share them."""
    for name, count in Counter(names).items():
        if count > 1:
            raise UserError(f"{count} yardsticks are called '{name}': leave out all but one")


def refuse_unknown(game: Game, options: EvaluateOptions) -> None:
    """Opponents and openings that there are not, before anything is played."""
    opponents = options.players if options.games else []
    there = [opponent for opponent in opponents if installed(opponent)]
    try:
        between = list(levels_among(there).values())[1:-1]  # the ends speak for these
        for opponent in there:
            if opponent == OWN_POLICY or opponent in between:
                continue
            found = find_player(opponent, game)
            if isinstance(found, HumanPlayer):
                raise UserError("yardsticks are taken without people: 'human' cannot take part")
            if isinstance(found, UciPlayer):
                found.try_out()
        if opponents or options.ladder:
            make_openings(game, options.openings, 1, options.seed)
    except UserError as error:
        raise UserError(f"[evaluate]: {error}") from None


def network_search(options: EvaluateOptions, search: SearchOptions | None) -> SearchOptions:
    """What a measured network searches with."""
    return (search or SearchOptions()).replace(threads=options.threads or available_cores())


def measured_precision(precision: str) -> str:
    """Of the network that is measured, by that of self-play; int8 would be calibrated anew."""
    return precision if precision in ("f32", "bf16") else "f32"


def installed(opponent: str) -> bool:
    """False for an engine whose program is not there."""
    if not opponent.startswith(ENGINE):
        return True
    try:
        engine_command(opponent.removeprefix(ENGINE).partition("?")[0])
    except UserError:
        return False
    return True


def measure(
    yardsticks: list[Yardstick],
    evaluator: Evaluator,
    seconds: float = 0.0,
    poll: Poll | None = None,
    note: Note | None = None,
) -> dict[str, float]:
    """All figures; each yardstick gets an equal part of the time that those before it left.

    With `note`, a yardstick that cannot be applied is told there and left out.
    """
    figures: dict[str, float] = {}
    started = time.monotonic()
    for index, yardstick in enumerate(yardsticks):
        part = 0.0
        if seconds > 0:
            left = max(0.0, seconds - (time.monotonic() - started))
            # A yardstick always does its least, however little time is left.
            part = max(1e-3, left / (len(yardsticks) - index))
        try:
            figures |= yardstick.run(evaluator, part, poll)
        except (UserError, PlayerError) as error:
            if note is None:
                raise
            note(f"{yardstick.name} is not measured: {error}")
    figures["seconds"] = time.monotonic() - started
    return figures


def headline(figures: Mapping[str, float]) -> str:
    """The figures that matter most, for one line."""
    parts = []
    for key, value in figures.items():
        name, _, last = key.rpartition(".")
        if last in ("keeps_value", "policy_keeps_value", "solved"):
            parts.append(f"{name} {last.replace('_', ' ')} {value:.1%}")
        elif key == "performance.elo":
            parts.append(performance_text(figures))
        elif last == "score" and name != "ladder" and not name.startswith("performance."):
            parts.append(f"{name} {value:.0%}")
        elif last == "never_loses":
            parts.append(f"{name} {never_loses_text(name, figures)}")
        elif key == "perfect.wins":
            parts.append(f"perfect beaten {value:.0f} of {figures['perfect.games']:.0f}")
        elif key == "ladder.elo":
            if round(value):  # nothing stands between equals
                parts.append(f"Elo {value:+.0f} ± {figures['ladder.margin']:.0f}")
            else:
                parts.append("Elo as at first")
        elif key == "ladder.gain" and value != figures.get("ladder.elo"):  # else it is the first
            gain = f"{value:+.0f} ± {figures['ladder.gain_margin']:.0f}"
            parts.append(f"{gain if round(value) else 'no gain'} since the last rating")
    return ", ".join(parts)


def never_loses_text(name: str, figures: Mapping[str, float]) -> str:
    """A network that did not lose is no beaten one because time was short."""
    if figures[f"{name}.never_loses"]:
        return "never loses"
    if any(figures.get(f"{name}.{side}", 0) for side in ("losses_first", "losses_second")):
        return "can be beaten"
    return "not lost so far (not all lines walked)"


class CheckpointYardsticks:
    """What the training loop calls with each new checkpoint and its run.

    The network is made ready once; later checkpoints only exchange its weights.
    """

    def __init__(
        self,
        game: Game,
        options: EvaluateOptions,
        search: SearchOptions | None = None,
        poll: Poll | None = None,
    ) -> None:
        self.options = options
        self.yardsticks = yardsticks_for(game, options, search)
        self._game = game
        self._search = network_search(options, search)
        self._poll = poll
        self._evaluator: NetworkEvaluator | None = None

    def __call__(self, checkpoint: Any, run: Any) -> dict[str, Any]:
        """The metrics of the checkpoint's network, and `notes` of what could not be measured."""
        weights = checkpoint.weights()
        pool = run.config.pool
        precision = measured_precision(pool.precision)
        if self._evaluator is None:
            self._evaluator = NetworkEvaluator(weights, pool.backend, precision, game=self._game)
        else:
            self._evaluator.swap(weights)
        yardsticks = list(self.yardsticks)
        notes: list[str] = []
        if self.options.ladder:
            runtime = (pool.backend, precision)
            ladder = self._ladder(checkpoint.directory, run.path / FOLDER, runtime)
            ladder.note = notes.append
            yardsticks.append(ladder)
        seconds = self.options.seconds
        found = measure(yardsticks, self._evaluator, seconds, self._poll, notes.append)
        return found | ({"notes": notes} if notes else {})

    def _ladder(self, checkpoint: Path, folder: Path, runtime: tuple[str, str]) -> LadderYardstick:
        options = ladder_options(self.options)
        return LadderYardstick(self._game, checkpoint, folder, options, self._search, runtime)
