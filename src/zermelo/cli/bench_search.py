"""`zermelo bench search`: is the search still the same, and how fast is it here?

The signature is a hash of the visit counts of many short searches with a hash as the network: any
change of what the search or a game does changes it, a faster search does not. The network's
signature is the same with a processor network. Neither depends on the machine. The figures do.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from zermelo.cli.options import JsonOption, finite
from zermelo.evaluator import Evaluator
from zermelo.games import game as find_game
from zermelo.games import game_names
from zermelo.games.protocol import Game, State
from zermelo.network import NetworkEvaluator, NetworkOptions, Weights, architecture_for
from zermelo.search import Search, SearchOptions, SearchResult, UniformEvaluator
from zermelo.testing import HashEvaluator
from zermelo.testing.hash_evaluator import mix64

SIMULATIONS = 300  # of each search of the signature
PLIES = (0, 5, 12, 23)  # after which its positions stand
# Every variant is a way through other code.
VARIANTS: dict[str, dict[str, Any]] = {
    "play": {},
    "plain": {"solver": False, "auto_extend": False, "turn_discount": 1.0, "fpu": "loss"},
    "lab": {
        "c_puct_factor": 2.0,
        "c_puct_base": 100.0,
        "fpu": "reduced",
        "fpu_root": "parent",
        "averaging_power": 0.8,
        "prior_compression": 0.1,
        "branching_power": 0.3,
        "leaves_per_tree": 4,
    },
    "gumbel": {"gumbel": True},
}
BOARDS = 64


def bench_search(
    games: Annotated[
        list[str] | None, typer.Argument(help="Games to measure; all by default.")
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(
            min=0.0, callback=finite, help="Seconds for each speed; 0 prints only signatures."
        ),
    ] = 1.0,
    as_json: JsonOption = False,
) -> None:
    """Print the search's signature and speed for each game; the default."""
    chosen = [find_game(name) for name in games or game_names()]
    rows: dict[str, dict[str, Any]] = {}
    terminal = Console(stderr=True)
    with Progress(console=terminal, transient=True, disable=not terminal.is_terminal) as progress:
        steps = (1 + len(SPEEDS)) if seconds > 0 else 1
        task = progress.add_task("bench", total=steps * len(chosen))
        for game in chosen:
            progress.update(task, description=f"{game.name}: signature")
            row: dict[str, Any] = {
                "signature": signature(game),
                "network_signature": network_signature(game),
            }
            progress.advance(task)
            for name, measure in SPEEDS.items() if seconds > 0 else ():
                progress.update(task, description=f"{game.name}: {name.replace('_', ' ')}")
                row |= measure(game, seconds)
                progress.advance(task)
            rows[game.name] = row
    whole = digest(row["signature"] for row in rows.values())
    network = digest(row["network_signature"] for row in rows.values())
    if as_json:
        print(
            json.dumps({"signature": whole, "network_signature": network, "games": rows}, indent=2)
        )
    else:
        show(whole, network, rows, seconds > 0)


# --- signature ------------------------------------------------------------------------------------


def signature(game: Game) -> str:
    """Of one game, 16 hexadecimal digits."""
    return digest(signature_lines(game))


def signature_lines(game: Game) -> Iterator[str]:
    """One line per search: the variant, the ply, and the visits of every action."""
    for ply in PLIES:
        state = position_after(game, ply, seed=ply)
        for name, options in VARIANTS.items():
            search = new_search(game, HashEvaluator(ply), **options)
            result = search.run(state, SIMULATIONS, full=name != "play")
            yield f"{name} {ply} {visits_text(result)}"
            action = result.best_action
            after = game.play(state, action)
            if name == "gumbel" or game.outcome(after) is not None:
                continue
            search.advance(action)  # the tree is kept, discounted and made noisy again
            result = search.run(after, SIMULATIONS // 3, full=name != "play")
            yield f"{name} {ply} reused {visits_text(result)}"


def network_signature(game: Game) -> str:
    """The same with a processor network, whose weights are as arbitrary as the hash."""
    options = NetworkOptions(kind="sparse", hidden=64, policy_hidden=32, value_hidden=32)
    evaluator = NetworkEvaluator(arbitrary_network(game, options), game=game)
    return digest(
        visits_text(new_search(game, evaluator).run(position_after(game, ply, ply), SIMULATIONS))
        for ply in PLIES
    )


def arbitrary_network(game: Game, options: NetworkOptions) -> Weights:
    """A processor network whose numbers fill their ranges; the same on every machine."""
    architecture = architecture_for(game, options)
    arrays = {}
    for seed, (name, kind) in enumerate(architecture.dtypes().items()):
        shape = architecture.shapes()[name]
        most = 60 if kind == np.int8 else 170 if kind == np.int16 else 2000
        drawn = [mix64(mix64(seed) + i) % (2 * most + 1) for i in range(math.prod(shape))]
        arrays[name] = (np.array(drawn) - most).astype(kind).reshape(shape)
    return Weights(architecture, arrays, "an arbitrary network").check()


def visits_text(result: SearchResult) -> str:
    """Every action with its visits, in the search's order."""
    pairs = zip(result.actions.tolist(), result.visits.tolist(), strict=True)
    return " ".join(f"{action}:{visits}" for action, visits in pairs)


def digest(lines: Iterable[str]) -> str:
    """64 bits of SHA-256."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def position_after(game: Game, plies: int, seed: int) -> State:
    """A position of a random game that is not over; the same on every machine."""
    state = game.initial()
    for ply in range(plies):
        actions = list(game.legal_actions(state))
        first = mix64(mix64(seed + 1) + ply) % len(actions)
        for action in actions[first:] + actions[:first]:
            after = game.play(state, action)
            if game.outcome(after) is None:
                state = after
                break
        else:
            return state
    return state


def new_search(game: Game, evaluator: Evaluator, **options: Any) -> Search:
    """A search without a cache, so that every simulation does all of its work."""
    return Search(game, evaluator, SearchOptions(cache_mib=0, **options))


# --- speed ----------------------------------------------------------------------------------------


def one_board(threads: int) -> Callable[[Game, float], dict[str, Any]]:
    """Simulations per second on the first position, and bytes per node of the tree."""

    def measure(game: Game, seconds: float) -> dict[str, Any]:
        search = new_search(game, UniformEvaluator(), threads=threads)
        state = game.initial()
        simulations, spent = 0, 0.0
        while spent < seconds:  # small games are solved before the time is up
            search.clear()
            result = search.run(state, seconds=seconds - spent)
            simulations += result.counters["simulations"]
            spent += result.seconds
        found: dict[str, Any] = {f"one_board_{threads}_threads": round(simulations / spent)}
        if threads == 1:
            found["bytes_per_node"] = round(result.bytes / result.nodes, 1)
        return found

    return measure


def many_boards(threads: int) -> Callable[[Game, float], dict[str, Any]]:
    """Simulations per second over 64 boards in batches of 64, of 200 simulations each."""

    def measure(game: Game, seconds: float) -> dict[str, Any]:
        states = [position_after(game, seed % 8, seed) for seed in range(BOARDS)]
        search = new_search(game, UniformEvaluator(), threads=threads, batch=BOARDS)
        simulations, started = 0, time.perf_counter()
        while (spent := time.perf_counter() - started) < seconds:
            results = search.run_many(states, 200)
            simulations += sum(result.counters["simulations"] for result in results)
        return {f"many_boards_{threads}_threads": round(simulations / spent)}

    return measure


SPEEDS: dict[str, Callable[[Game, float], dict[str, Any]]] = {
    "one_board_1_thread": one_board(1),
    "one_board_2_threads": one_board(2),
    "many_boards_1_thread": many_boards(1),
    "many_boards_2_threads": many_boards(2),
}


def show(whole: str, network: str, rows: dict[str, dict[str, Any]], speeds: bool) -> None:
    """The table for people."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, 110)
    table = Table(box=None, pad_edge=False)
    table.add_column("game")
    table.add_column("signature", no_wrap=True, min_width=16)
    if speeds:
        for head in ("one board", "2 threads", "64 boards", "2 threads", "bytes/node"):
            table.add_column(head, justify="right")
    for name, row in rows.items():
        figures = [f"{value:,}" for key, value in row.items() if key.endswith("threads")]
        table.add_row(
            name, row["signature"], *([*figures, str(row["bytes_per_node"])] if speeds else [])
        )
    console.print(table)
    if speeds:
        print("simulations per second; equal priors for a network, no cache")
    print(f"signature {whole}, with a network {network}")
