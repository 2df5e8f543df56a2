"""How fast the processor network is: bare, in searches, in self-play and while it is trained.

    python benchmarks/processor_network.py [--seconds 3] [--repeats 5] [--only ROW ...] [--quick]
        [--positions FILE.epd] [--json]

| row | what is measured |
|---|---|
| bare | evaluations/s of one core: the network alone, on positions with their legal moves |
| search | nodes/s of one board with one and two threads; share of the bare rate; against a tower |
| selfplay | simulations/s of two processes, against a tower at the same settings |
| trainer | samples/s of the trainer with decoding; playing's and training's share of the time |

The sides of a row take turns, round after round; figures are medians over the rounds. Networks are
new: speed does not depend on what they learned. Positions are of random games unless a file has
others. The tower (6x64 in chess, else 5x64) runs on OpenVINO, bare with batches of 32. `--quick`
only shows that everything runs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import platform
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import zermelo
from zermelo import _core
from zermelo.cores import available_cores
from zermelo.games.native import native_game
from zermelo.games.notation import parse_position
from zermelo.network import NetworkEvaluator, NetworkOptions, Weights, architecture_for
from zermelo.network.measure import bare_openvino_rate, calls_per_second
from zermelo.network.positions import SampledPosition, sample_positions
from zermelo.network.sparse.runtime import CoreRuntime
from zermelo.network.weights import random_weights
from zermelo.search import Search, SearchOptions

ROOT = Path(__file__).parents[1]
MY_GAME = str(ROOT / "examples" / "my_game.py")
BARE_BATCH = 32  # of the tower
TOWER_LEAVES = 8  # of one board at a time: a tower is slow with a batch of one
REUSE = 3  # times that a sample is trained on, as in the preset
Figures = dict[str, float]
Side = Callable[[], Figures]


@dataclass(frozen=True)
class Kind:
    """A network by its options, so that processes can be told of it."""

    name: str
    options: NetworkOptions
    precision: str = "f32"

    @cache  # noqa: B019
    def weights(self, game: str) -> Weights:
        """A new one."""
        return random_weights(architecture_for(zermelo.game(game), self.options))

    def evaluator(self, game: str, threads: int, batch: int) -> NetworkEvaluator:
        """Made ready."""
        rules = zermelo.game(game)
        made = NetworkEvaluator(self.weights(game), "openvino", self.precision, game=rules)
        made.warm_up(threads, batch)
        return made

    @property
    def is_tower(self) -> bool:
        """Else it is a processor network."""
        return self.options.kind == "residual"


def sparse(hidden: int, inputs: str = "", windows: str = "") -> Kind:
    """The processor network, its other sizes as in the preset of chess."""
    sizes = {"hidden": hidden, "policy_hidden": 96, "value_hidden": 64}
    options = NetworkOptions(kind="sparse", inputs=inputs, windows=windows, **sizes)
    more = "".join(f" {word}" for word in (inputs, windows) if word)
    return Kind(f"sparse {hidden}{more}", options)


def tower(blocks: int, precision: str = "f32") -> Kind:
    """What it is compared with."""
    return Kind(f"tower {blocks}x64 {precision}", NetworkOptions(blocks=blocks), precision)


CHESS = (sparse(256), sparse(256, "attacks"), sparse(512), sparse(512, "attacks"))
CONNECT4 = (sparse(256), sparse(256, windows="line4"))
SELFPLAY = (
    ("chess", sparse(512, "attacks"), 6),
    ("connect4", sparse(256, windows="line4"), 5),
    ("othello", sparse(256, windows="line3"), 5),
    ("hex?size=7", sparse(256, windows="line3"), 5),
    (MY_GAME, sparse(256), 5),
)


@dataclass
class Plan:
    """What was asked for."""

    seconds: float
    repeats: int
    quick: bool
    file: Path | None

    def positions(self, game: str, count: int = 512) -> list[SampledPosition]:
        """Of the file, for chess, or of random games."""
        return list(_positions(game, 32 if self.quick else count, self.file))

    def rounds(self, sides: dict[str, Side]) -> dict[str, Figures]:
        """Every side once a round; medians of its figures."""
        found: dict[str, list[Figures]] = {name: [] for name in sides}
        for turn in range(self.repeats):
            order = list(sides.items())
            for name, run in order if turn % 2 else order[::-1]:
                found[name].append(run())
        return {
            name: {key: statistics.median(row[key] for row in rows) for key in rows[0]}
            for name, rows in found.items()
        }


@cache
def _positions(game: str, count: int, file: Path | None) -> tuple[SampledPosition, ...]:
    rules: Any = zermelo.game(game)
    if file is None or not game.startswith("chess"):
        return tuple(sample_positions(rules, count))
    found = []
    for line in file.read_text().splitlines():
        fields = line.split()[:4]
        if len(fields) == 4:
            state = parse_position(rules, " ".join([*fields, "0", "1"]))
            found.append(SampledPosition(state, [int(a) for a in rules.legal_actions(state)]))
    return tuple(itertools.islice(itertools.cycle(found), count))


def bare_sparse(kind: Kind, game: str, plan: Plan) -> Figures:
    """One core: packed observations and legal actions in, logits and value out."""
    rules: Any = zermelo.game(game)
    positions = plan.positions(game)
    runtime = CoreRuntime(kind.weights(game))
    packed = np.stack([rules.observe_packed(position.state) for position in positions])
    actions = np.array([a for position in positions for a in position.actions], np.int64)
    offsets = np.cumsum([0, *(len(position.actions) for position in positions)], dtype=np.int64)
    call = partial(runtime.network.evaluate_legal, packed, actions, offsets)
    rate = calls_per_second(call, plan.seconds) * len(positions)
    return {"evaluations": rate, "legal_actions": len(actions) / len(positions)}


def bare_tower(kind: Kind, game: str, plan: Plan) -> Figures:
    """One core: OpenVINO alone."""
    rate = bare_openvino_rate(
        kind.weights(game), kind.precision, batch=BARE_BATCH, threads=1, seconds=plan.seconds,
        game=zermelo.game(game),
    )  # fmt: skip
    return {"evaluations": rate}


def bare(plan: Plan) -> dict[str, Figures]:
    """All networks of the comparison."""
    sides: dict[str, Side] = {}
    for game, kinds, blocks in (("chess", CHESS, 6), ("connect4", CONNECT4, 5)):
        for kind in kinds:
            sides[f"{game} {kind.name}"] = partial(bare_sparse, kind, game, plan)
        for precision in ("f32", "int8"):
            kind = tower(blocks, precision)
            sides[f"{game} {kind.name}"] = partial(bare_tower, kind, game, plan)
    return plan.rounds(sides)


def search_rate(kind: Kind, threads: int, plan: Plan) -> Figures:
    """Nodes per second over a few positions, each in a fresh tree."""
    game = "chess"
    leaves = TOWER_LEAVES if kind.is_tower else 1
    evaluator = kind.evaluator(game, threads, leaves)
    options = SearchOptions(threads=threads, leaves_per_tree=leaves, batch=leaves)
    positions = plan.positions(game)[:8]
    found: Counter[str] = Counter()
    spent = 0.0
    search = Search(zermelo.game(game), evaluator, options)
    search.run(positions[-1].state, seconds=plan.seconds / 5)  # memory is there from now on
    for position in positions:
        result = search.run(position.state, seconds=plan.seconds / len(positions))
        found.update(result.counters)
        spent += result.seconds
    return {"nodes": found["simulations"] / spent, "evaluations": found["evaluations"] / spent}


def search(plan: Plan) -> dict[str, Figures]:
    """Networks with one and two threads, each beside its bare rate in the same round."""
    kinds = (*CHESS[:: 3 if plan.quick else 1], tower(6), tower(6, "int8"))
    sides: dict[str, Side] = {}
    for kind in kinds:
        alone = bare_tower if kind.is_tower else bare_sparse
        sides[f"{kind.name}, bare"] = partial(alone, kind, "chess", plan)
        for threads in (1, 2):
            sides[f"{kind.name}, {threads} threads"] = partial(search_rate, kind, threads, plan)
    found = plan.rounds(sides)
    slow = {t: max(found[f"{k.name}, {t} threads"]["nodes"] for k in kinds[-2:]) for t in (1, 2)}
    for kind in kinds:
        one = found[f"{kind.name}, 1 threads"]
        for threads in (1, 2):
            row = found[f"{kind.name}, {threads} threads"]
            row["of_bare"] = row["evaluations"] / found[f"{kind.name}, bare"]["evaluations"]
            row["of_one_thread"] = row["nodes"] / one["nodes"]
            row["times_the_faster_tower"] = row["nodes"] / slow[threads]
    return found


class TimedRules:
    """A game in Python that adds up the time spent in its rules."""

    def __init__(self, game: Any) -> None:
        self.seconds = 0.0
        self._game = game
        for name in ("initial", "legal_actions", "play", "player", "outcome", "observe"):
            setattr(self, name, partial(self._timed, getattr(game, name)))

    def _timed(self, rule: Callable[..., Any], *given: Any) -> Any:
        started = time.perf_counter()
        try:
            return rule(*given)
        finally:
            self.seconds += time.perf_counter() - started

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)


def play(task: dict[str, Any], start: Any, answers: Any) -> None:
    """One process: plays for so many seconds after the start and tells what it did."""
    game: Any = zermelo.game(task["game"])
    batch = 32 if task["kind"].is_tower else 1
    evaluator = task["kind"].evaluator(task["game"], 1, batch)
    rules = TimedRules(game) if task["timed"] else game
    options = _core.SelfPlayOptions(
        simulations=task["simulations"], games=32, seed=task["seed"], full_search_probability=1.0
    )
    runner = runner_of(rules, evaluator, batch, options)
    runner.play(1 << 40, task["warm_up"])
    if task["timed"]:
        rules.seconds = 0.0
    start.wait()
    started = time.perf_counter()
    found = runner.play(1 << 40, task["seconds"])["statistics"]
    spent = time.perf_counter() - started
    in_rules = rules.seconds / spent if task["timed"] else 0.0
    # Every search is a full one, so a move is a sample.
    answers.put((found["simulations"] / spent, found["moves"] / spent, in_rules))


def runner_of(game: Any, evaluator: Any, batch: int, options: _core.SelfPlayOptions) -> Any:
    """What plays, with the usual cache."""
    search = SearchOptions(batch=batch)
    rules = native_game(game)
    cache = _core.EvaluationCache(int(search.cache_mib), int(rules.num_actions))
    return _core.make_selfplay(rules, evaluator, search, options, cache)


def play_rate(kind: Kind, game: str, plan: Plan, timed: bool = False) -> Figures:
    """Two processes together."""
    context = multiprocessing.get_context("spawn")
    start, answers = context.Barrier(2), context.Queue()
    task = {
        "game": game, "kind": kind, "timed": timed, "seconds": plan.seconds,
        "simulations": 16 if plan.quick else 100, "warm_up": min(2.0, plan.seconds),
    }  # fmt: skip
    processes = [
        context.Process(target=play, args=(task | {"seed": i}, start, answers)) for i in (1, 2)
    ]
    for process in processes:
        process.start()
    found = [answers.get(timeout=600) for _ in processes]
    for process in processes:
        process.join()
    simulations, samples, in_rules = (sum(column) for column in zip(*found, strict=True))
    figures = {"simulations": simulations, "samples": samples}
    return figures | ({"share_in_rules": in_rules / 2} if timed else {})


def selfplay(plan: Plan) -> dict[str, Figures]:
    """Every game with both kinds; of a game in Python also the share of the time in its rules."""
    found: dict[str, Figures] = {}
    for game, kind, blocks in SELFPLAY[:: 4 if plan.quick else 1]:
        name = Path(game).name
        sides: dict[str, Side] = {
            f"{name} {each.name}": partial(play_rate, each, game, plan)
            for each in (kind, tower(blocks))
        }
        if game == MY_GAME:
            sides[f"{name} {kind.name}, timed"] = partial(play_rate, kind, game, plan, True)
        found |= plan.rounds(sides)
        ours, theirs = (found[f"{name} {each.name}"] for each in (kind, tower(blocks)))
        ours["times_the_tower"] = ours["simulations"] / theirs["simulations"]
    return found


def train_rate(threads: int, plan: Plan) -> Figures:
    """Samples per second, from packed samples of self-play to steps of the optimiser."""
    from zermelo.network.trained import new_network
    from zermelo.replay import BatchSampler
    from zermelo.train import Trainer, TrainOptions

    game: Any = zermelo.game("chess")
    batch = 256 if plan.quick else 2048
    merged = _samples(2 * batch if plan.quick else 40 * batch)
    options = TrainOptions(batch=batch, threads=threads, device="cpu")
    trainer = Trainer(new_network(game, sparse(512, "attacks").options), options)
    trainer.train_iteration(BatchSampler(merged, game, batch, most=1, packed=True), 0, 1)
    metrics = trainer.train_iteration(BatchSampler(merged, game, batch, packed=True), 0, 1)
    return {"samples": float(metrics["samples_per_second"])}


@cache
def _samples(count: int) -> Any:
    from zermelo.replay import Samples, merge

    options = _core.SelfPlayOptions(simulations=8, full_search_probability=1.0, max_plies=120)
    columns = runner_of(zermelo.game("chess"), _core.UniformEvaluator(), 1, options).play(count, 0)
    columns.pop("statistics")
    return merge(Samples.from_columns(columns))


def trainer(plan: Plan) -> dict[str, Figures]:
    """With one and all cores, and how a run's time is shared between playing and training."""
    kind = sparse(512, "attacks")
    sides: dict[str, Side] = {
        f"{kind.name}, {threads} threads": partial(train_rate, threads, plan)
        for threads in sorted({1, available_cores()})
    }
    sides["self-play, 2 processes"] = partial(play_rate, kind, "chess", plan)
    found = plan.rounds(sides)
    playing = 1 / max(1e-9, found["self-play, 2 processes"]["samples"])
    for name, row in found.items():
        if name.startswith(kind.name):
            training = REUSE / row["samples"]
            row["training_share"] = training / (training + playing)
    return found


ROWS: dict[str, Callable[[Plan], dict[str, Figures]]] = {
    "bare": bare, "search": search, "selfplay": selfplay, "trainer": trainer,
}  # fmt: skip


def machine() -> dict[str, Any]:
    """Processor, cores, and the arithmetic that the core chose."""
    listed = Path("/proc/cpuinfo")
    model = re.search(r"model name\s*:\s*(.+)", listed.read_text() if listed.is_file() else "")
    name = model[1].strip() if model else platform.processor()
    kernels = CoreRuntime(sparse(64).weights("connect4")).network.kernels
    return {"processor": name, "cores": available_cores(), "instruction_set": kernels}


def main() -> None:
    """Prints tables, or one JSON object."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3.0, help="of each side of a round")
    parser.add_argument("--repeats", type=int, default=5, help="rounds")
    parser.add_argument("--only", metavar="ROW", action="append", choices=tuple(ROWS))
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--positions", type=Path, help="chess positions (EPD or FEN)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    seconds, repeats = (0.1, 1) if given.quick else (given.seconds, given.repeats)
    plan = Plan(seconds, repeats, given.quick, given.positions)
    where = machine()
    if not given.json:
        print(*where.values(), sep=", ")
    rows: dict[str, dict[str, Figures]] = {}
    for name in given.only or ROWS:
        rows[name] = ROWS[name](plan)
        if not given.json:
            show(name, rows[name])
    if given.json:
        print(json.dumps({**where, **vars(plan), "rows": rows}, default=str))


def show(name: str, found: dict[str, Figures]) -> None:
    """A table of one row's sides; rates are per second."""
    print(f"\n{name}")
    for side, figures in found.items():
        texts = [f"{key} {value:,.{0 if value >= 100 else 2}f}" for key, value in figures.items()]
        print(f"  {side:<36} {', '.join(texts).replace('_', ' ')}")


if __name__ == "__main__":
    main()
