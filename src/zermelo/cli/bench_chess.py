"""`zermelo bench chess`: nodes per second of a search with a network."""

from __future__ import annotations

import json
import time
from typing import Annotated, Any

import typer

from zermelo.cli.bench_network import MAX_THREADS, PrecisionOption, precision_error
from zermelo.cli.evaluators import tell_choice
from zermelo.cli.options import MOST_SIMULATIONS, BackendOption, JsonOption
from zermelo.errors import UserError
from zermelo.games.notation import parse_position
from zermelo.games.registry import named_game
from zermelo.network import NetworkEvaluator
from zermelo.network.open import open_weights
from zermelo.network.own_search import LOOSE_CACHE
from zermelo.network.runtimes import check_runtime
from zermelo.search import Search, SearchOptions
from zermelo.uci.bench import CHESS_POSITIONS


def bench_chess(
    weights: Annotated[
        str, typer.Option(help="A network for chess: a file, a checkpoint or a run.")
    ],
    *,
    simulations: Annotated[
        int,
        typer.Option(
            min=1, max=MOST_SIMULATIONS, metavar="N", help="Simulations for each position."
        ),
    ] = 10_000,
    positions: Annotated[
        int, typer.Option(min=1, max=10, help="How many of the ten positions.")
    ] = 10,
    threads: Annotated[
        int, typer.Option(min=1, max=MAX_THREADS, help="Threads of the search.")
    ] = 2,
    leaves: Annotated[int, typer.Option(min=1, help="Leaves in each batch.")] = 8,
    backend: BackendOption = "auto",
    precision: PrecisionOption = "f32",
    as_json: JsonOption = False,
    nodes: Annotated[int | None, typer.Option(min=1, hidden=True)] = None,  # as it was called
) -> None:
    """Measure nodes per second on ten chess positions."""
    check_runtime(backend, precision)
    network = open_weights(weights)
    named = network.architecture.game
    if named.partition("?")[0] != "chess":
        raise UserError(f"{network.name} is a network for {named}, not for chess")
    rules = named_game(named)
    evaluator = NetworkEvaluator(network, backend, precision, game=rules)
    tell_choice(evaluator.choice)
    rows = chess_speeds(
        evaluator, CHESS_POSITIONS[:positions], nodes or simulations, threads, leaves
    )
    spent = sum(row["seconds"] for row in rows)
    total: dict[str, Any] = {
        "weights": network.name,
        "backend": evaluator.backend,
        "precision": evaluator.precision,
        "threads": threads,
        "leaves_per_batch": leaves,
        "nodes_per_second": round(sum(row["nodes"] for row in rows) / spent),
        "evaluations_per_second": round(sum(row["evaluations"] for row in rows) / spent),
    }
    if evaluator.precision != "f32":
        total["error"] = precision_error(network, evaluator.backend, evaluator.precision, rules)
    if as_json:
        print(json.dumps(total | {"positions": rows}, indent=2))
        return
    print(f"{network.name}: {network.architecture.summary()}")
    for row in rows:
        print(
            f"{row['nodes_per_second']:>8,} nodes/s {row['evaluations_per_second']:>8,} evals/s "
            f" {row['best']:<6} {row['position']}"
        )
    print(
        f"{total['nodes_per_second']:>8,} nodes/s {total['evaluations_per_second']:>8,} evals/s "
        f" on average; {total['backend']} {total['precision']}, {threads} threads"
    )
    if "error" in total:
        print(total["error"]["text"])


def chess_speeds(
    evaluator: NetworkEvaluator, fens: tuple[str, ...], nodes: int, threads: int, leaves: int
) -> list[dict[str, Any]]:
    """One row per position; each begins with an empty tree and cache, everything compiled."""
    rules = named_game(evaluator.architecture.game)
    options = SearchOptions(threads=threads, leaves_per_tree=leaves, **LOOSE_CACHE)
    evaluator.warm_up(threads, leaves)
    Search(rules, evaluator, options).run(rules.initial(), min(nodes, 500))
    rows = []
    for fen in fens:
        search = Search(rules, evaluator, options)
        state = parse_position(rules, fen)
        started = time.perf_counter()
        result = search.run(state, nodes)
        seconds = time.perf_counter() - started
        counters = result.counters
        rows.append(
            {
                "position": fen,
                "best": result.best.text,
                "nodes": counters["simulations"],
                "evaluations": counters["evaluations"],
                "cache_hits": counters["cache_hits"],
                "batches": counters["batches"],
                "seconds": seconds,
                "nodes_per_second": round(counters["simulations"] / seconds),
                "evaluations_per_second": round(counters["evaluations"] / seconds),
            }
        )
    return rows
