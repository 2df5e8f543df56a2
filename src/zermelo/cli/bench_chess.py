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

# Openings, middlegames and endgames of many kinds; the first is the start position.
CHESS_POSITIONS = (
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
    "rnbqkb1r/pp2pppp/3p1n2/8/3NP3/2N5/PPP2PPP/R1BQKB1R b KQkq - 2 5",
    "r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N2N2/PP2BPPP/R1BQ1RK1 w - - 0 9",
    "r2q1rk1/1b2bppp/p1n1pn2/1p6/3P4/1BN2N2/PP2QPPP/R1BR2K1 w - - 0 14",
    "2rq1rk1/pb1n1ppN/4p3/1pb5/3P1Pn1/P1N5/1PQ1B1PP/R1B2RK1 b - - 0 16",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "8/pp2k1pp/2p1p3/3pP1P1/3P1K2/1PP4P/P7/8 w - - 0 30",
    "3r2k1/5ppp/1p6/p1p5/P1P1R3/1P4P1/5PKP/8 b - - 2 28",
    "8/8/1p2k1p1/3p3p/1p1P1P1P/1P2PK2/8/8 w - - 3 54",
)


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
