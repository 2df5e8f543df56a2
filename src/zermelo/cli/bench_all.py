"""`zermelo bench all`: what a search of one board takes, however many are searched and by whom.

Three ways: the readable reference in Python, one tree after another with its own mini-batches, and
many trees that share batches. Three networks: none (equal priors, free), one made for processors,
and a tower. All are new and untrained, which costs the same. Knows how to measure and what to
write; `bench_picture` draws.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from zermelo import reference
from zermelo.cli.bench_search import new_search, position_after
from zermelo.cli.options import PIPED_WIDTH, JsonOption, finite
from zermelo.cores import available_cores
from zermelo.errors import UserError
from zermelo.evaluator import Evaluator
from zermelo.games import game as find_game
from zermelo.games.protocol import Game
from zermelo.network import NetworkEvaluator, NetworkOptions, architecture_for, random_weights
from zermelo.search import UniformEvaluator

SPARSE, TOWER, FREE = "processor network", "tower", "none"
NETWORKS: dict[str, dict[str, NetworkOptions]] = {
    "connect4": {
        SPARSE: NetworkOptions(kind="sparse", hidden=256, windows="line4"),
        TOWER: NetworkOptions(blocks=5, filters=64),
    },
    "chess": {
        SPARSE: NetworkOptions(
            kind="sparse", hidden=512, policy_hidden=96, value_hidden=64, inputs="attacks"
        ),
        TOWER: NetworkOptions(blocks=6, filters=64),
    },
}
BOARDS = (1, 8, 64, 256)  # that share batches
LEAVES = 8  # of a tree alone, evaluated together by a tower
BATCH = 64  # of the boards together


@dataclass(frozen=True)
class Cell:
    """One figure of the table."""

    game: str
    network: str
    way: str  # reference, one board, many boards
    boards: int
    threads: int


class Spent(NamedTuple):
    """What one measurement did."""

    boards: int
    evaluations: int
    seconds: float


Measure = Callable[[], tuple[int, int]]  # boards and evaluations


def bench_all(
    out: Annotated[
        Path | None,
        typer.Option(help="Directory for speeds.jsonl and speeds.svg.", show_default="none"),
    ] = None,
    games: Annotated[
        str, typer.Option(help=f"Games to measure, of {', '.join(NETWORKS)}.")
    ] = ",".join(NETWORKS),
    simulations: Annotated[int, typer.Option(min=1, max=100_000, help="For each board.")] = 100,
    seconds: Annotated[
        float, typer.Option(min=0.0, callback=finite, help="At least, for a figure in a round.")
    ] = 1.0,
    rounds: Annotated[
        int, typer.Option(min=1, max=99, help="Rounds through the table; medians are shown.")
    ] = 3,
    as_json: JsonOption = False,
) -> None:
    """Measure the time for a board: reference, one board, many boards, by network."""
    chosen = [name.strip() for name in games.split(",")]
    if unknown := [name for name in chosen if name not in NETWORKS]:
        raise UserError(f"--games: '{unknown[0]}' is none of {', '.join(NETWORKS)}")
    if out is not None:
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"--out '{out}' is no place to write: {error.strerror}") from None
    rows = measure_all(chosen, simulations, seconds, rounds)
    if out is not None:
        write(out, rows)
    if as_json:
        print(json.dumps({"simulations": simulations, "rounds": rounds, "rows": rows}, indent=2))
    else:
        show(rows, simulations)
        if out is not None:
            print(f"written: {out / 'speeds.jsonl'}, {out / 'speeds.svg'}")


def measure_all(
    games: Iterable[str], simulations: int, seconds: float, rounds: int
) -> list[dict[str, Any]]:
    """A row per cell. The cells take turns, since machines have fast and slow minutes."""
    works = {
        cell: work
        for name in games
        for network, evaluator in evaluators(name).items()
        for cell, work in cells(name, network, evaluator, simulations)
    }
    found: dict[Cell, list[Spent]] = {cell: [] for cell in works}
    terminal = Console(stderr=True)
    with Progress(console=terminal, transient=True, disable=not terminal.is_terminal) as progress:
        task = progress.add_task("bench", total=rounds * len(works))
        for _ in range(rounds):
            for cell, work in works.items():
                label = f"{cell.game}, {cell.network}: {cell.way}, {cell.boards} boards"
                progress.update(task, description=label)
                found[cell].append(repeated(work, seconds))
                progress.advance(task)
    return [row(cell, spent, simulations) for cell, spent in found.items()]


def evaluators(name: str) -> dict[str, Evaluator]:
    """By the network's kind; every tower on the runtime and in the precision that is fastest."""
    game = find_game(name)
    made: dict[str, Evaluator] = {FREE: UniformEvaluator()}
    for kind, options in NETWORKS[name].items():
        weights = random_weights(architecture_for(game, options))
        made[kind] = network = NetworkEvaluator(weights, "auto", "auto", game=game)
        network.warm_up(available_cores(), BATCH)
    return made


def cells(
    name: str, network: str, evaluator: Evaluator, simulations: int
) -> Iterable[tuple[Cell, Measure]]:
    """All that are measured with one network on one game."""
    game = find_game(name)
    yield Cell(name, network, "reference", 1, 1), by_reference(game, evaluator, simulations)
    for threads in sorted({1, min(2, available_cores())}):
        yield (
            Cell(name, network, "one board", 1, threads),
            one_board(game, evaluator, simulations, threads, LEAVES if network == TOWER else 1),
        )
        for boards in BOARDS:
            yield (
                Cell(name, network, "many boards", boards, threads),
                many_boards(game, evaluator, simulations, threads, boards),
            )


def by_reference(game: Game, evaluator: Evaluator, simulations: int) -> Measure:
    """One tree in Python, one evaluation at a time."""
    asked = 0
    network: Any = evaluator  # a callable, unless it is the one of equal priors

    def evaluate(rules: Any, state: Any, actions: Any) -> tuple[list[float], float]:
        nonlocal asked
        asked += 1
        if isinstance(evaluator, UniformEvaluator):
            return [0.0] * len(actions), 0.0
        policy, value = network(np.asarray(rules.observe(state), np.float32)[None])
        answer = np.asarray(value[0])
        return list(policy[0][actions]), float(answer[0] - answer[2] if answer.size > 1 else answer)

    def measure() -> tuple[int, int]:
        before = asked
        reference.search(game, game.initial(), evaluate, simulations)
        return 1, asked - before

    return measure


def one_board(
    game: Game, evaluator: Evaluator, simulations: int, threads: int, leaves: int
) -> Measure:
    """One tree after another, each with all threads."""
    search = new_search(game, evaluator, threads=threads, leaves_per_tree=leaves, batch=leaves)

    def measure() -> tuple[int, int]:
        search.clear()
        result = search.run(game.initial(), simulations)
        return 1, result.counters["evaluations"]

    return measure


def many_boards(
    game: Game, evaluator: Evaluator, simulations: int, threads: int, boards: int
) -> Measure:
    """Trees that share the network's batches (S18)."""
    search = new_search(game, evaluator, threads=threads, batch=min(boards, BATCH))
    states = [position_after(game, seed % 8, seed) for seed in range(boards)]

    def measure() -> tuple[int, int]:
        results = search.run_many(states, simulations)
        return boards, sum(result.counters["evaluations"] for result in results)

    return measure


def repeated(work: Measure, seconds: float) -> Spent:
    """The work over and over for so many seconds, once at least."""
    boards = evaluations = 0
    started = time.perf_counter()
    while True:
        more_boards, more_evaluations = work()
        boards, evaluations = boards + more_boards, evaluations + more_evaluations
        spent = time.perf_counter() - started
        if spent >= seconds:
            return Spent(boards, evaluations, spent)


def row(cell: Cell, found: list[Spent], simulations: int) -> dict[str, Any]:
    """Medians of the rounds."""
    each = statistics.median(spent.seconds / spent.boards for spent in found)
    rate = statistics.median(spent.evaluations / spent.seconds for spent in found)
    return asdict(cell) | {
        "seconds_per_board": each,
        "simulations_per_second": round(simulations / each),
        "evaluations_per_second": round(rate),
    }


def write(out: Path, rows: list[dict[str, Any]]) -> None:
    """The rows as lines of JSON, and the picture."""
    from zermelo.cli.bench_picture import picture
    from zermelo.files import write_whole

    try:
        write_whole(out / "speeds.jsonl", "".join(json.dumps(r) + "\n" for r in rows).encode())
        write_whole(out / "speeds.svg", picture(rows).encode())
    except OSError as error:
        raise UserError(f"--out '{out}' cannot be written: {error.strerror}") from None


def show(rows: list[dict[str, Any]], simulations: int) -> None:
    """The table for people; milliseconds, since boards take between 0.1 and 100 of them."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, PIPED_WIDTH)
    table = Table(box=None, pad_edge=False)
    for head in ("game", "network", "way"):
        table.add_column(head, no_wrap=True)
    for head in ("boards", "threads", "ms a board", "simulations/s", "evaluations/s"):
        table.add_column(head, justify="right", no_wrap=True)
    for found in rows:
        table.add_row(
            *(str(found[key]) for key in ("game", "network", "way", "boards", "threads")),
            f"{1000 * found['seconds_per_board']:,.3f}",
            f"{found['simulations_per_second']:,}",
            f"{found['evaluations_per_second']:,}",
        )
    console.print(table)
    print(f"{simulations} simulations for each board; new networks, no cache")
