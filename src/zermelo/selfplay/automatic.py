"""Settings for a game that nobody tuned: chosen by what was measured, each with its reason.

What a person has set stays, and what depends on it is reckoned with it. How fast rules and network
are here only chooses between sizes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from zermelo.games.protocol import Game
from zermelo.selfplay.choices import Choices, Given, Settings
from zermelo.selfplay.chosen_network import choose_network
from zermelo.selfplay.measured import LONGEST, PROBE, Measured, measure

SIMULATIONS = (16, 24, 32, 48, 64, 96, 128, 192, 256, 384)
LEAST_MOVES = 20.0  # full searches per second, all cores; else the search is made smaller
LEAST_IN_TIME = 30_000  # full searches of a run whose end is known, which plays
PLAYING = 0.7  # of its time
FEW_SIMULATIONS = 48  # as Connect Four's preset has
SAMPLES = (250, 500, 1000, 2000, 4000, 8000, 16000)  # per iteration
ITERATION_SECONDS = 25.0  # of self-play, about
ITERATIONS = 20  # that a time is planned for, at least where the machine is as quick as it seems
LEAST_ITERATION_SECONDS = 2.0
LEAST_MOST = 100  # iterations of a run that has a time, as of one without
LEARNING_RATE_END = 0.1  # of a run whose end is known
SHORT_GAME = 20  # plies; below, every move is searched in full
FULL_SHARE, FAST_FRACTION = 0.25, 0.25
OPENING_SHARE, OPENING_TEMPERATURE = 0.9, 3.0
OPENING_PLIES = (2, 16)
PLIES = (16, 1024)  # bounds of the longest game
REUSE = 2.0  # as the tuned presets have it
REUSE_IN_TIME = 4.0  # samples are few in minutes
MUON_RATE = 0.006
WINDOW = (4, 20)  # iterations at first and at last
WINDOW_BYTES = 1 << 30
ROLLOUTS = (1000, 500, 200, 100, 50)  # random games a move of the opponent that shows progress
ROLLOUT_SECONDS = 8.0  # at most, for the games against it
YARDSTICK_GAMES = 10  # against each opponent


def automatic_settings(
    game: Game, seconds: float = 5.0, given: Given | None = None, time: float | None = None
) -> tuple[Settings, list[str]]:
    """A run file's sections for a game, and a sentence for each choice.

    Takes about so many seconds; less where the rules are quick. `time` is what the run will have.
    """
    seconds = seconds if time is None else min(seconds, max(0.5, 0.03 * time))
    return choose_settings(game, measure(game, seconds), given, time)


def choose_settings(
    game: Game, found: Measured, given: Given | None = None, time: float | None = None
) -> tuple[Settings, list[str]]:
    """From what was measured and what was given, which stays; the same for the same figures."""
    choices = Choices(given or {})
    choices.reasons.append(
        f"measured {found.games} random games: {found.branching:.1f} legal actions, "
        f"{found.plies:.0f} plies, {found.plies_per_second:,.0f} plies per second; "
        f"a {PROBE.blocks}x{PROBE.filters} network: {found.evaluations_per_second:,.0f} "
        f"evaluations per second on one of {found.cores} cores"
    )
    network = choose_network(game, found, choices, time)
    simulations, moves = _simulations(found, network.nodes_per_second, choices, time)
    gumbel = _gumbel(found, simulations, choices, time)
    full = _games(found, gumbel, choices)
    opening = _variety(found, gumbel, choices)
    samples = _samples(found, moves, full, choices, time)
    _parallel(found, samples, full, opening, choices)
    _training(samples, network.kind, choices, time)
    _window(game, samples, choices)
    _yardsticks(found, choices, time)
    return choices.settings, choices.reasons


def _simulations(
    found: Measured, nodes: float, choices: Choices, time: float | None
) -> tuple[int, float]:
    """Of a full search, and how many of those all cores make in a second."""
    per_second = found.cores * nodes
    least = LEAST_MOVES
    if time is not None:
        least = max(least, LEAST_IN_TIME / (PLAYING * time))
    wanted = nearest(8 * found.branching, SIMULATIONS)
    chosen = wanted
    while chosen > SIMULATIONS[0] and per_second / chosen < least:
        if chosen <= FEW_SIMULATIONS:  # fewer teach so little that only the slowest games have them
            least = LEAST_MOVES
            if per_second / chosen >= least:
                break
        chosen = SIMULATIONS[SIMULATIONS.index(chosen) - 1]
    why = f"about 8 for each of {found.branching:.1f} legal actions"
    if chosen < wanted:
        why = f"{wanted} would leave only {per_second / wanted:.0f} moves a second here"
    choices.choose("selfplay", why, simulations=chosen)
    used = max(1, choices.value("selfplay", "simulations", chosen))
    return used, per_second / used


def _gumbel(found: Measured, simulations: int, choices: Choices, time: float | None) -> bool:
    """Whether roots are searched by sequential halving."""
    short = time is not None and simulations <= FEW_SIMULATIONS
    few = short or simulations < 2 * found.branching
    if few or "gumbel" in choices.given.get("search", {}):
        why = f"{simulations} simulations are few for {found.branching:.0f} legal actions"
        choices.choose("search", why, gumbel=few)
    return bool(choices.value("search", "gumbel", few))


def _games(found: Measured, gumbel: bool, choices: Choices) -> float:
    """How games are played: what is searched in full, whose share it returns, the longest game."""
    short = found.plies < SHORT_GAME
    chosen = 1.0 if short or gumbel else FULL_SHARE
    many = "so every move" if short else "so a quarter of the moves, the rest quickly"
    if gumbel:
        many = "and few simulations are spent on every move"
    choices.choose(
        "selfplay",
        f"games have {found.plies:.0f} plies, {many}",
        full_search_probability=chosen,
    )
    full = float(choices.value("selfplay", "full_search_probability", chosen))
    if full < 1:
        why = "the share of the simulations that the quick searches have"
        choices.choose("selfplay", why, fast_fraction=FAST_FRACTION)
    choices.choose(
        "selfplay",
        f"three times the {found.long_plies} plies that one random game in ten exceeds, from "
        f"{PLIES[0]} to {PLIES[1]} ({found.unfinished:.0%} did not end within {LONGEST})",
        max_plies=max(PLIES[0], min(PLIES[1], 3 * found.long_plies)),
    )
    return full


def _variety(found: Measured, gumbel: bool, choices: Choices) -> float:
    """What makes games differ; the mean plies of an opening, which give no samples.

    A Gumbel root takes no noise: its samples do that.
    """
    least, most = OPENING_PLIES
    longest = max(least, min(most, round(found.plies / 2)))
    choices.choose(
        "selfplay",
        f"games differ most by openings that the raw policy plays, of up to half of a random "
        f"game's {found.plies:.0f} plies, from {least} to {most}",
        opening_share=OPENING_SHARE,
        opening_plies=longest,
        opening_temperature=OPENING_TEMPERATURE,
    )
    if not gumbel:
        choices.choose(
            "search",
            f"10 / {found.branching:.1f} legal actions, within 0.03 and 2",
            dirichlet_alpha=round(min(2.0, max(0.03, 10 / found.branching)), 2),
        )
    choices.choose(
        "selfplay",
        f"half of a random game's {found.plies:.0f} plies, from 4 to 60",
        temperature_plies=max(4, min(60, round(found.plies / 2))),
    )
    longest = choices.value("selfplay", "opening_plies", longest)
    share = float(choices.value("selfplay", "opening_share", OPENING_SHARE))
    return share * (1 + longest) / 2 if longest else 0.0


def _samples(
    found: Measured, moves: float, full: float, choices: Choices, time: float | None
) -> int:
    """Per iteration: as many as about ITERATION_SECONDS of self-play give; fewer in short runs."""
    wanted = ITERATION_SECONDS
    if time is not None:
        wanted = min(wanted, max(LEAST_ITERATION_SECONDS, time / ITERATIONS))
    fast = choices.value("selfplay", "fast_fraction", FAST_FRACTION)
    cost = 1 + (1 - full) / max(0.01, full) * fast  # full searches per sample
    rate = moves / cost
    affordable = [size for size in SAMPLES if size <= wanted * rate]
    chosen = affordable[-1] if affordable else SAMPLES[0]
    choices.choose(
        "loop",
        f"about {rate:.0f} samples a second on {found.cores} cores, so an iteration plays for "
        f"about {chosen / rate:.0f} seconds",
        samples_per_iteration=chosen,
    )
    if time is not None:
        most = iterations_within(time)
        why = f"more than {time:,.0f} seconds can hold, so that the time ends the run"
        choices.choose("loop", why, iterations=most)
    return int(choices.value("loop", "samples_per_iteration", chosen))


def _parallel(found: Measured, samples: int, full: float, opening: float, choices: Choices) -> None:
    """Games at once in a worker: few enough that an iteration sees each of them end."""
    per_game = max(1.0, full * (found.plies - opening))
    games = samples / per_game / found.cores / 2
    choices.choose(
        "selfplay",
        f"a game gives about {per_game:.0f} samples, so an iteration has about "
        f"{samples / per_game:.0f} games",
        games=max(8, min(64, int(2 ** round(math.log2(max(1.0, games)))))),
    )


def _training(samples: int, kind: str, choices: Choices, time: float | None) -> None:
    """Batch and reuse: reuse * samples / batch steps, or one pass over a window that has less."""
    batch = 64 if samples <= 2000 else 128 if samples <= 8000 else 256
    usual = REUSE
    if time is not None and kind == "residual":
        usual = REUSE_IN_TIME
    reuse = choices.value("train", "reuse", usual)
    steps = round(reuse * samples / choices.value("train", "batch", batch))
    why = (
        f"{reuse:g} trained samples for each of about {samples} new ones are {steps} steps an "
        "iteration; fewer while the window holds less than that"
    )
    if not reuse:
        why = f"an iteration adds about {samples} samples and trains on its whole window"
    choices.choose("train", why, batch=batch, reuse=usual)
    if time is not None:
        if kind == "residual":
            why = "as Connect Four's preset, which learns most in 3 minutes so"
            choices.choose("train", why, optimiser="muon", learning_rate=MUON_RATE)
        why = "on a busy machine 2 threads wait for each other: 0.5 steps a second, one made 14"
        choices.choose("train", why, threads=1)
        end = "over the second half of the iterations that fit into the time"
        choices.choose("train", end, learning_rate_end=LEARNING_RATE_END)


def _window(game: Game, samples: int, choices: Choices) -> None:
    """Iterations in the window, and a bound on its memory."""
    start = min(WINDOW[0], choices.value("replay", "window_max", WINDOW[0]))
    most = max(WINDOW[1], choices.value("replay", "window_start", WINDOW[1]))
    last = choices.value("replay", "window_max", most)
    planes = int(np.prod(tuple(game.observation_shape)))
    sample_bytes = 4 * planes + 100
    choices.choose(
        "replay",
        f"about {last * samples:,} samples at last, bounded by a memory of "
        f"{WINDOW_BYTES >> 20} MiB at {sample_bytes:,} bytes each at most",
        window_start=start,
        window_max=most,
        window_growth=2 * last,
        max_samples=max(10 * samples, min(4_000_000, WINDOW_BYTES // sample_bytes)),
    )


def _yardsticks(found: Measured, choices: Choices, time: float | None) -> None:
    """Opponents that tell more than random moves, which soon lose always; and earlier networks."""
    plies = YARDSTICK_GAMES * (found.plies / 2) ** 2  # of random games, if it had one for a move
    cost = plies / (found.cores * found.plies_per_second)  # seconds
    longest = ROLLOUT_SECONDS if time is None else min(ROLLOUT_SECONDS, time / 100)
    fitting = [n for n in ROLLOUTS if n * cost <= longest]
    opponents = "random policy"
    why = f"searches with random games would take more than {longest:g} seconds"
    if fitting:
        opponents += f" rollout?simulations={fitting[0]}"
        seconds = fitting[0] * cost
        why = f"{YARDSTICK_GAMES} games against the last take about {seconds:.1f} seconds"
    choices.choose(
        "evaluate",
        f"{why}; every third iteration, with two earlier networks as opponents too",
        every=3,
        games=YARDSTICK_GAMES,
        opponents=opponents,
        ladder=2,
        ladder_games=YARDSTICK_GAMES,
    )


def iterations_within(time: float) -> int:
    """More iterations than a run can have in so many seconds."""
    return max(LEAST_MOST, math.ceil(time / LEAST_ITERATION_SECONDS))


def nearest(value: float, choices: Sequence[int]) -> int:
    """The choice whose ratio to the value is nearest to 1."""
    return min(choices, key=lambda choice: abs(math.log(choice / max(1e-9, value))))
