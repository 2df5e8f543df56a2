"""Self-play throughput: simulations per second against the bare runtime, in one run.

Usage: python benchmarks/selfplay.py [--seconds 10] [--repeats 3] [--json FILE]
       [--part all|speed|peer|scaling|games|cap] [--peer PYTHON]

PYTHON is an interpreter with jax, mctx and pgx; then benchmarks/peers/mctx_pgx.py takes turns with
ours, on all cores in one process and pinned to a core each in two.

Every worker is a process of its own with one thread, as in training. The sides of a comparison are
interleaved and repeated; figures are medians. The bare runtime is OpenVINO alone on the same
network, one request of the same batch per process.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

import zermelo
from zermelo import _core
from zermelo.network import NetworkEvaluator, NetworkOptions, architecture_for
from zermelo.network.measure import bare_openvino_rate
from zermelo.network.weights import random_weights

PLAIN = {"cache_mib": 0, "tree_reuse": False, "solver": False, "auto_extend": False}
FULL_ONLY = {"full_search_probability": 1.0}
NETWORKS = {"connect4": (5, 64), "othello": (5, 64), "chess": (6, 64)}
BATCH = 64
PARTS = ("all", "speed", "peer", "scaling", "games", "cap")


def weights_for(game: str) -> Any:
    """A network that has learned nothing yet: the speed does not depend on its numbers."""
    blocks, filters = NETWORKS[game.partition("?")[0]]
    options = NetworkOptions(blocks=blocks, filters=filters)
    return random_weights(architecture_for(zermelo.game(game), options))


def play(task: dict[str, Any], start: Any, answers: Any) -> None:
    """One worker: plays for so many seconds after the start and tells what it did."""
    game = zermelo.game(task["game"])
    search = _core.SearchOptions(**task["search"])
    evaluator = NetworkEvaluator(
        weights_for(task["game"]), "openvino", task["precision"], game=game
    )
    evaluator.warm_up(1, int(search.batch))
    cache = _core.EvaluationCache(search.cache_mib, game.num_actions) if search.cache_mib else None
    options = _core.SelfPlayOptions(**({"simulations": 100, "seed": task["seed"]} | task["play"]))
    runner = _core.make_selfplay(game, evaluator, search, options, cache)
    runner.play(1 << 40, task["warm_up"])  # games at every stage, as later in a run
    start.wait()
    found = runner.play(1 << 40, task["seconds"])["statistics"]
    found["tree_mib"] = runner.bytes_reserved / 2**20
    found["memory_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    answers.put(found)


def bare(task: dict[str, Any], start: Any, answers: Any) -> None:
    """OpenVINO alone."""
    weights = weights_for(task["game"])
    bare_openvino_rate(weights, task["precision"], batch=BATCH, threads=1, seconds=0.2)
    start.wait()
    rate = bare_openvino_rate(
        weights, task["precision"], batch=BATCH, threads=1, seconds=task["seconds"]
    )
    answers.put({"evaluations": rate, "seconds": 1.0})


def measure(target: Any, workers: int, **task: Any) -> dict[str, float]:
    """Sums over the workers, per second where that makes sense."""
    context = multiprocessing.get_context("spawn")
    start, answers = context.Barrier(workers), context.Queue()
    given = {"search": {}, "play": {}, "precision": "f32", "warm_up": 2.0} | task
    processes = [
        context.Process(target=target, args=(given | {"seed": i + 1}, start, answers))
        for i in range(workers)
    ]
    for process in processes:
        process.start()
    found = [answers.get(timeout=600) for _ in processes]
    for process in processes:
        process.join()
    keys = [k for k, v in found[0].items() if isinstance(v, int | float) and k != "seconds"]
    per_second = {"simulations", "evaluations", "games", "moves"}
    return {
        key: sum(f[key] / (f["seconds"] if key in per_second else 1) for f in found) for key in keys
    } | {"total_games": sum(f.get("games", 0) for f in found)}


def interleaved(repeats: int, sides: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Runs every side once per round; medians by key."""
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, run in sides.items():
            rounds[name].append(run())
    return {
        name: {key: statistics.median(row[key] for row in rows) for key in rows[0]}
        for name, rows in rounds.items()
    }


def speed(game: str, seconds: float, repeats: int, precision: str) -> dict[str, Any]:
    """Bare runtime, our search without and with what saves evaluations, one and two workers."""
    common: dict[str, Any] = {"game": game, "seconds": seconds, "precision": precision}
    sides = {}
    for workers in (1, 2):
        sides[f"bare {workers}"] = lambda w=workers: measure(bare, w, **common)
        sides[f"plain {workers}"] = lambda w=workers: measure(
            play, w, search=PLAIN, play=FULL_ONLY, **common
        )
        sides[f"with cache, reuse, solver {workers}"] = lambda w=workers: measure(
            play, w, play=FULL_ONLY, **common
        )
    found = interleaved(repeats, sides)
    print(f"\n{game} {NETWORKS[game][0]}x{NETWORKS[game][1]}, {precision}, 100 simulations a move")
    print(f"{'':<30}{'simulations/s':>14}{'evaluations/s':>14}{'of bare':>9}{'games/s':>9}")
    for name, row in found.items():
        reference = found[f"bare {name[-1]}"]["evaluations"]
        print(
            f"{name:<30}{row.get('simulations', 0):>14,.0f}{row['evaluations']:>14,.0f}"
            f"{row['evaluations'] / reference:>9.2f}{row.get('games', 0):>9.2f}"
        )
    return found


def peer_rate(python: str, seconds: float, processes: int) -> dict[str, float]:
    """Simulations per second of mctx and pgx with the same network and budget."""
    script = str(Path(__file__).parent / "peers" / "mctx_pgx.py")
    command = [python, script, "--seconds", str(seconds)]
    pins = [[]] if processes == 1 else [["taskset", "-c", str(i)] for i in range(processes)]
    running = [
        subprocess.Popen([*pin, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for pin in pins
    ]
    answers = [json.loads(process.communicate()[0]) for process in running]
    return {"simulations": sum(answer["simulations_per_second"] for answer in answers)}


def peer(python: str, seconds: float, repeats: int) -> dict[str, Any]:
    """Ours and the peer in turns; both on all cores."""
    common: dict[str, Any] = {"game": "connect4", "seconds": seconds, "play": FULL_ONLY}
    found = interleaved(
        repeats,
        {
            "mctx + pgx, one process": lambda: peer_rate(python, seconds, 1),
            "mctx + pgx, two pinned": lambda: peer_rate(python, seconds, 2),
            "ours, plain": lambda: measure(play, 2, search=PLAIN, **common),
            "ours, cache, reuse, solver": lambda: measure(play, 2, **common),
        },
    )
    print("\nConnect Four 5x64, 100 simulations a move, two cores")
    best = max(found[name]["simulations"] for name in found if name.startswith("mctx"))
    for name, row in found.items():
        rate = row["simulations"]
        print(f"{name:<30}{rate:>14,.0f} simulations/s{rate / best:>8.1f}x")
    return found


def scaling(seconds: float, repeats: int) -> dict[str, Any]:
    """Two workers against one."""
    sides = {
        str(workers): lambda w=workers: measure(
            play, w, game="connect4", seconds=seconds, play=FULL_ONLY
        )
        for workers in (1, 2)
    }
    found = interleaved(repeats, sides)
    ratio = found["2"]["simulations"] / found["1"]["simulations"]
    print(f"\ntwo workers / one worker: {ratio:.2f} (simulations/s)")
    return found | {"ratio": ratio}


def games(seconds: float) -> dict[str, Any]:
    """Games per worker: speed and memory, without cache: many games begin alike."""
    print(f"\n{'games':>6}{'simulations/s':>15}{'evaluations/s':>15}{'memory MiB':>12}{'trees':>8}")
    found = {}
    for count in (1, 4, 16, 64, 256, 1024):
        row = measure(
            play,
            1,
            game="connect4",
            seconds=seconds,
            search={"cache_mib": 0},
            play=FULL_ONLY | {"games": count},
        )
        found[count] = row
        print(
            f"{count:>6}{row['simulations']:>15,.0f}{row['evaluations']:>15,.0f}"
            f"{row['memory_mib']:>12,.0f}{row['tree_mib']:>8,.0f}"
        )
    return found


def cap(seconds: float) -> dict[str, Any]:
    """P1: finished games per million simulations.

    With random games in place of a network, so that thousands of games end and those under way at
    the end of the time do not count.
    """
    game, found = zermelo.game("connect4"), {}
    for name, probability in (("on", 0.25), ("off", 1.0)):
        runner = _core.make_selfplay(
            game,
            _core.RolloutEvaluator(),
            _core.SearchOptions(),
            _core.SelfPlayOptions(full_search_probability=probability),
            None,
        )
        row = runner.play(1 << 40, seconds)["statistics"]
        found[name] = 1e6 * row["games"] / row["simulations"]
    found["ratio"] = found["on"] / found["off"]
    print(
        f"\nplayout cap: {found['on']:,.0f} games per million simulations on, "
        f"{found['off']:,.0f} off: {found['ratio']:.2f}x"
    )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--precision", default="f32")
    parser.add_argument("--games", default="connect4,othello,chess")
    parser.add_argument("--part", default="all", choices=PARTS)
    parser.add_argument("--peer", metavar="PYTHON")
    parser.add_argument("--json")
    given = parser.parse_args()
    found: dict[str, Any] = {"time": time.strftime("%Y-%m-%d %H:%M")}
    if given.part in ("all", "speed"):
        for game in given.games.split(","):
            found[game] = speed(game, given.seconds, given.repeats, given.precision)
    if given.part in ("all", "peer") and given.peer:
        found["peer"] = peer(given.peer, given.seconds, given.repeats)
    if given.part in ("all", "scaling"):
        found["scaling"] = scaling(given.seconds, given.repeats)
    if given.part in ("all", "games"):
        found["games per worker"] = games(given.seconds)
    if given.part in ("all", "cap"):
        found["playout cap"] = cap(given.seconds)
    if given.json:
        with open(given.json, "w") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
