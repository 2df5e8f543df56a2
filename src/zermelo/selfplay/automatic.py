"""Settings for a game that nobody tuned: measured in a few seconds, each with its reason.

What the rules say (branching, length) is measured on the same random games every time. How fast
rules and network are here only chooses between sizes.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zermelo.cores import available_cores
from zermelo.errors import UserError
from zermelo.games.protocol import Game
from zermelo.network import architecture_for
from zermelo.network.architecture import NetworkOptions
from zermelo.network.measure import calls_per_second, example_batch
from zermelo.network.runtimes import installed_backends, make_runtime
from zermelo.network.weights import random_weights

Settings = dict[str, dict[str, Any]]

GAMES = 24  # random ones
LEAST_GAMES = 4  # also with rules that are very slow
LONGEST = 1000  # plies of a random game
PROBE = NetworkOptions(blocks=2, filters=32)  # the network whose speed is measured
PROBE_BATCH = 64
# Up to so many decimal digits of lines of play, this tower; the last is for all beyond.
TOWERS = ((8, (2, 32)), (30, (4, 48)), (90, (5, 64)), (220, (6, 96)), (math.inf, (8, 128)))
LEAST_EVALUATIONS = 800  # per second and core; a slower network is made smaller
SIMULATIONS = (16, 24, 32, 48, 64, 96, 128, 192, 256, 384)
LEAST_MOVES = 20.0  # full searches per second, all cores; else the search is made smaller
SAMPLES = (1000, 2000, 4000, 8000, 16000)  # per iteration
ITERATION_SECONDS = 25.0  # of self-play, about
SHORT_GAME = 20  # plies; below, every move is searched in full
FULL_SHARE, FAST_FRACTION = 0.25, 0.25
PLIES = (16, 1024)  # bounds of the longest game
REUSE = 2.0  # as the tuned presets have it
WINDOW_BYTES = 1 << 30


@dataclass(frozen=True)
class Measured:
    """A game as random play shows it; speeds are of one core."""

    games: int
    branching: float  # mean legal actions
    plies: float  # mean length
    long_plies: int  # of the longest tenth
    unfinished: float  # share of games that had not ended after LONGEST plies
    plies_per_second: float  # of the rules
    evaluations_per_second: float  # of the probe network
    cores: int

    @property
    def digits(self) -> float:
        """Decimal digits of the number of lines of play, roughly."""
        return self.plies * math.log10(max(1.0, self.branching))


def automatic_settings(game: Game, seconds: float = 5.0) -> tuple[Settings, list[str]]:
    """A run file's sections for a game, and a sentence for each choice.

    Takes about so many seconds; less where the rules are quick.
    """
    return choose_settings(game, measure(game, seconds))


def measure(game: Game, seconds: float) -> Measured:
    """Plays random games and evaluates a small network."""
    chance = random.Random("automatic settings")
    lengths: list[int] = []
    legal = unfinished = 0
    started = time.perf_counter()
    while len(lengths) < GAMES:
        spent = time.perf_counter() - started
        if len(lengths) >= LEAST_GAMES and spent > 0.6 * seconds:
            break
        state, plies = game.initial(), 0
        while plies < LONGEST and game.outcome(state) is None:
            actions = list(game.legal_actions(state))
            if not actions:
                raise UserError(
                    f"{game.name}: a game goes on after {plies} plies, but legal_actions() is "
                    "empty; `zermelo check FILE` says more"
                )
            legal += len(actions)
            state = game.play(state, chance.choice(actions))
            plies += 1
        lengths.append(plies)
        unfinished += plies == LONGEST
    spent = max(1e-9, time.perf_counter() - started)
    total = max(1, sum(lengths))
    return Measured(
        games=len(lengths),
        branching=legal / total,
        plies=total / len(lengths),
        long_plies=int(np.quantile(lengths, 0.9)),
        unfinished=unfinished / len(lengths),
        plies_per_second=total / spent,
        evaluations_per_second=probe_speed(game, max(0.2, 0.2 * seconds)),
        cores=available_cores(),
    )


def probe_speed(game: Game, seconds: float) -> float:
    """Evaluations per second of the probe network on one core."""
    architecture = architecture_for(game, PROBE)
    session = make_runtime(random_weights(architecture), installed_backends()[0], "f32").session()
    batch = example_batch(architecture, PROBE_BATCH)
    return PROBE_BATCH * calls_per_second(lambda: session.run(batch), seconds)


def choose_settings(game: Game, found: Measured) -> tuple[Settings, list[str]]:
    """From what was measured; the same for the same figures."""
    reasons = [
        f"measured {found.games} random games: {found.branching:.1f} legal actions, "
        f"{found.plies:.0f} plies, {found.plies_per_second:,.0f} plies per second; "
        f"a {PROBE.blocks}x{PROBE.filters} network: {found.evaluations_per_second:,.0f} "
        f"evaluations per second on one of {found.cores} cores"
    ]
    blocks, filters, evaluations = _tower(game, found, reasons)
    simulations, moves = _simulations(found, evaluations, reasons)
    settings: Settings = {
        "network": {"blocks": blocks, "filters": filters},
        "search": {"dirichlet_alpha": _alpha(found, reasons)},
        "selfplay": {"simulations": simulations},
    }
    if simulations < 2 * found.branching:
        settings["search"]["gumbel"] = True
        reasons.append(
            f"search.gumbel is on: {simulations} simulations are few for "
            f"{found.branching:.0f} legal actions"
        )
    settings["selfplay"] |= _games(found, reasons)
    full = settings["selfplay"]["full_search_probability"]
    samples = _samples(found, moves, full, reasons)
    settings["loop"] = {"samples_per_iteration": samples}
    settings["selfplay"]["games"] = _parallel(found, samples, full, reasons)
    settings["train"] = _training(samples, reasons)
    settings["replay"] = _window(game, samples, reasons)
    return settings, reasons


def _tower(game: Game, found: Measured, reasons: list[str]) -> tuple[int, int, float]:
    """Blocks, filters, and evaluations per second that are to be expected of them."""
    sizes = [size for _, size in TOWERS]
    wanted = next(i for i, (digits, _) in enumerate(TOWERS) if found.digits <= digits)
    probe_work = architecture_for(game, PROBE).multiply_adds()

    def speed(size: tuple[int, int]) -> float:
        options = NetworkOptions(blocks=size[0], filters=size[1])
        work = architecture_for(game, options).multiply_adds()
        return found.evaluations_per_second * probe_work / work

    chosen = wanted
    while chosen and speed(sizes[chosen]) < LEAST_EVALUATIONS:
        chosen -= 1
    blocks, filters = sizes[chosen]
    why = f"lines of play have about {found.digits:.0f} digits"
    if chosen < wanted:
        why += f", and {sizes[wanted][0]}x{sizes[wanted][1]} would be too slow here"
    reasons.append(
        f"network.blocks is {blocks} and network.filters {filters}: {why} "
        f"(about {speed(sizes[chosen]):,.0f} evaluations per second)"
    )
    return blocks, filters, speed(sizes[chosen])


def _simulations(found: Measured, evaluations: float, reasons: list[str]) -> tuple[int, float]:
    """Of a full search, and how many of those all cores make in a second."""
    per_second = found.cores / (1 / evaluations + 1 / found.plies_per_second)
    wanted = nearest(8 * found.branching, SIMULATIONS)
    chosen = wanted
    while chosen > SIMULATIONS[0] and per_second / chosen < LEAST_MOVES:
        chosen = SIMULATIONS[SIMULATIONS.index(chosen) - 1]
    why = f"about 8 for each of {found.branching:.1f} legal actions"
    if chosen < wanted:
        why = f"{wanted} would leave fewer than {LEAST_MOVES:.0f} moves a second here"
    reasons.append(f"selfplay.simulations is {chosen}: {why}")
    return chosen, per_second / chosen


def _alpha(found: Measured, reasons: list[str]) -> float:
    alpha = round(min(2.0, max(0.03, 10 / found.branching)), 2)
    reasons.append(
        f"search.dirichlet_alpha is {alpha:g}: 10 / {found.branching:.1f} legal actions, "
        "within 0.03 and 2"
    )
    return alpha


def _games(found: Measured, reasons: list[str]) -> dict[str, Any]:
    """How games are played: what is searched in full, temperature, the longest game."""
    short = found.plies < SHORT_GAME
    full = 1.0 if short else FULL_SHARE
    temperature = max(4, min(60, round(found.plies / 2)))
    longest = max(PLIES[0], min(PLIES[1], 3 * found.long_plies))
    many = "every move of short games" if short else "a quarter of the moves, the rest quickly"
    reasons += [
        f"selfplay.full_search_probability is {full:g}: games have {found.plies:.0f} plies, so "
        f"{many}",
        f"selfplay.temperature_plies is {temperature}: half of a random game's {found.plies:.0f} "
        "plies, from 4 to 60",
        f"selfplay.max_plies is {longest}: three times the {found.long_plies} plies that one "
        f"random game in ten exceeds, from {PLIES[0]} to {PLIES[1]} ({found.unfinished:.0%} did "
        f"not end within {LONGEST})",
    ]
    return {
        "full_search_probability": full,
        "fast_fraction": FAST_FRACTION,
        "temperature_plies": temperature,
        "max_plies": longest,
    }


def _samples(found: Measured, moves: float, full: float, reasons: list[str]) -> int:
    """Per iteration: as many as about ITERATION_SECONDS of self-play give."""
    cost = 1 + (1 - full) / full * FAST_FRACTION  # full searches per sample
    rate = moves / cost
    affordable = [size for size in SAMPLES if size <= ITERATION_SECONDS * rate]
    chosen = affordable[-1] if affordable else SAMPLES[0]
    reasons.append(
        f"loop.samples_per_iteration is {chosen}: about {rate:.0f} samples a second on "
        f"{found.cores} cores, so an iteration plays for about {chosen / rate:.0f} seconds"
    )
    return chosen


def _parallel(found: Measured, samples: int, full: float, reasons: list[str]) -> int:
    """Games at once in a worker: few enough that an iteration sees each of them end."""
    per_game = max(1.0, full * found.plies)
    games = samples / per_game / found.cores / 2
    chosen = max(8, min(64, int(2 ** round(math.log2(max(1.0, games))))))
    reasons.append(
        f"selfplay.games is {chosen}: a game gives about {per_game:.0f} samples, so an iteration "
        f"has about {samples / per_game:.0f} games"
    )
    return chosen


def _training(samples: int, reasons: list[str]) -> dict[str, Any]:
    """Batch and reuse: reuse * samples / batch steps, or one pass over a window that has less."""
    batch = 64 if samples <= 2000 else 128 if samples <= 8000 else 256
    reasons.append(
        f"train.batch is {batch} and train.reuse {REUSE:g}: {REUSE:g} trained samples for each of "
        f"about {samples} new ones are {round(REUSE * samples / batch)} steps an iteration; fewer "
        "while the window holds less than that"
    )
    return {"batch": batch, "reuse": REUSE}


def _window(game: Game, samples: int, reasons: list[str]) -> dict[str, Any]:
    """Iterations in the window, and a bound on its memory."""
    start, most = 4, 20
    planes = int(np.prod(tuple(game.observation_shape)))
    sample_bytes = 4 * planes + 100
    bound = max(10 * samples, min(4_000_000, WINDOW_BYTES // sample_bytes))
    reasons.append(
        f"replay.window_max is {most} iterations, growing from {start}: about "
        f"{most * samples:,} samples, bounded to {bound:,} of at most {sample_bytes:,} bytes"
    )
    return {
        "window_start": start,
        "window_max": most,
        "window_growth": 2 * most,
        "max_samples": bound,
    }


def nearest(value: float, choices: Sequence[int]) -> int:
    """The choice whose ratio to the value is nearest to 1."""
    return min(choices, key=lambda choice: abs(math.log(choice / max(1e-9, value))))
