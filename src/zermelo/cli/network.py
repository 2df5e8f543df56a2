"""`zermelo export`, `zermelo bench-network` and `zermelo bench-chess`: networks by hand."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from zermelo.cli.judge import tell_choice
from zermelo.cli.options import BackendOption, JsonOption
from zermelo.errors import UserError
from zermelo.games import game as find_game
from zermelo.games.notation import parse_position
from zermelo.games.protocol import Game
from zermelo.games.registry import named_game
from zermelo.network import (
    NetworkEvaluator,
    NetworkOptions,
    Weights,
    architecture_for,
    load_network,
    random_weights,
    save_network,
)
from zermelo.network.accuracy import difference
from zermelo.network.measure import bare_openvino_rate, evaluation_rates, fastest, peak_gflops
from zermelo.network.positions import sample_positions
from zermelo.network.runtimes import BACKENDS, capable_backends, check_runtime, installed_backends
from zermelo.players.network_path import network_path
from zermelo.search import LOOSE_CACHE, Search, SearchOptions

PrecisionOption = Annotated[str, typer.Option(help="auto, f32, bf16 or int8.")]
PRECISION_POSITIONS = 200
MAX_THREADS, MAX_BATCH = 256, 4096
WITH_PEAK = ("f32", "bf16")  # precisions in which OpenVINO multiplies matrices as it is told

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


def add_to(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(export)
    app.command("bench-network")(bench_network)
    app.command("bench-chess")(bench_chess)


def export(
    source: Annotated[str, typer.Argument(help="A run, a checkpoint or a network file.")],
    target: Annotated[Path, typer.Argument(help="FILE.onnx or FILE.safetensors.")],
    as_json: JsonOption = False,
) -> None:
    """Write a network as one file that plays without torch."""
    weights = load_network(network_path(source))
    save_network(weights, target)
    found = {
        "file": str(target),
        "bytes": target.stat().st_size,
        "parameters": weights.architecture.parameters(),
        "architecture": weights.architecture.to_dict(),
    }
    if as_json:
        print(json.dumps(found, indent=2))
        return
    print(f"{target}: {weights.architecture.summary()}, {found['bytes']:,} bytes")


def bench_network(
    game: Annotated[str | None, typer.Argument(help="Measure a new network of a game.")] = None,
    *,
    weights: Annotated[
        str | None, typer.Option(help="Measure this network: a file, a checkpoint or a run.")
    ] = None,
    blocks: Annotated[int, typer.Option(min=0, help="Of a new network.")] = 5,
    filters: Annotated[int, typer.Option(min=1, help="Of a new network.")] = 64,
    backend: Annotated[
        str, typer.Option(help=f"all (that have the precision), auto, {', '.join(BACKENDS)}.")
    ] = "all",
    precision: PrecisionOption = "f32",
    batches: Annotated[str, typer.Option(help="Batch sizes, as 1,8,64.")] = "1,8,64",
    threads: Annotated[str, typer.Option(help="Numbers of threads, as 1,2.")] = "1,2",
    seconds: Annotated[float, typer.Option(min=0.01, help="For each figure.")] = 1.0,
    as_json: JsonOption = False,
) -> None:
    """Evaluations per second, beside the bare runtime and the machine's peak."""
    check_runtime("auto" if backend == "all" else backend, precision)
    counts = _numbers(threads, "--threads", MAX_THREADS)
    sizes = _numbers(batches, "--batches", MAX_BATCH)
    network, rules = _network(game, weights, NetworkOptions(blocks=blocks, filters=filters))
    runtimes = _runtimes(network, backend, precision, rules)
    rough = next((runtime for runtime in runtimes if runtime[1] != "f32"), None)
    if rough is not None and rules is None:  # its error is measured on positions
        rules = named_game(network.architecture.game)
    found: dict[str, Any] = {
        "network": network.architecture.to_dict(),
        "parameters": network.architecture.parameters(),
        "multiply_adds": network.architecture.multiply_adds(),
        **_rates(network, rules, runtimes, counts, sizes, seconds),
    }
    if rough is not None and rules is not None:
        found["error"] = precision_error(network, *rough, rules)
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        _show_rates(network, found)


def _runtimes(
    network: Weights, backend: str, precision: str, rules: Game | None
) -> list[tuple[str, str]]:
    """The backends to measure, each with a precision; what `auto` means is settled once."""
    runtimes = []
    for name in capable_backends(precision) if backend == "all" else [backend]:
        chosen, kind, choice = fastest(network, name, precision, game=rules)
        tell_choice(choice)
        runtimes.append((chosen, kind))
    return runtimes


def _rates(
    network: Weights,
    rules: Game | None,
    runtimes: list[tuple[str, str]],
    counts: list[int],
    sizes: list[int],
    seconds: float,
) -> dict[str, Any]:
    """Peaks by precision and threads, and one row per runtime, batch size and number of threads."""
    kinds = _openvino_kinds({kind for _, kind in runtimes})
    peaks: dict[str, dict[str, float]] = {kind: {} for kind in kinds if kind in WITH_PEAK}
    rows: list[dict[str, Any]] = []
    for n in counts:
        for kind, found in peaks.items():
            found[str(n)] = round(peak_gflops(n, seconds, kind), 1)
        for batch in sizes:
            given: dict[str, Any] = {"batch": batch, "threads": n, "seconds": seconds}
            given["game"] = rules
            bare = {kind: bare_openvino_rate(network, kind, **given) for kind in kinds}
            for name, kind in runtimes:
                row = evaluation_rates(network, name, kind, **given)
                if kind in bare:
                    row["of_bare_openvino"] = round(row["evaluations_per_second"] / bare[kind], 3)
                if kind in peaks:
                    row["of_peak"] = round(row["gflops"] / peaks[kind][str(n)], 3)
                rows.append(row)
    return {"peak_gflops": peaks, "rows": rows}


def _openvino_kinds(kinds: set[str]) -> list[str]:
    """The precisions in which OpenVINO computes here, to compare with."""
    if "openvino" not in installed_backends():
        return []
    from zermelo.network.runtime_openvino import supports_bf16

    return sorted(kind for kind in kinds if kind != "bf16" or supports_bf16())


def precision_error(weights: Weights, backend: str, precision: str, rules: Game) -> dict[str, Any]:
    """What a lower precision changes, on positions of random games."""
    exact = NetworkEvaluator(weights, backend, "f32", game=rules)
    other = NetworkEvaluator(weights, backend, precision, game=rules)
    positions = sample_positions(rules, PRECISION_POSITIONS, seed=1)
    found = difference(exact, other, rules, positions)
    return found.to_dict() | {"text": f"{precision} against f32: {found}"}


def bench_chess(
    weights: Annotated[str, typer.Option(help="An lc0 network (.pb.gz) or one of ours, or a run.")],
    *,
    nodes: Annotated[int, typer.Option(min=1, help="Simulations of each position.")] = 10_000,
    positions: Annotated[int, typer.Option(min=1, max=10, help="How many of the ten.")] = 10,
    threads: Annotated[int, typer.Option(min=1, max=MAX_THREADS, help="Threads on one tree.")] = 2,
    leaves: Annotated[int, typer.Option(min=1, help="Leaves in a batch.")] = 8,
    backend: BackendOption = "auto",
    precision: PrecisionOption = "f32",
    as_json: JsonOption = False,
) -> None:
    """Nodes per second on ten chess positions."""
    check_runtime(backend, precision)
    network = load_network(network_path(weights))
    named = network.architecture.game
    if named.partition("?")[0] != "chess":
        raise UserError(f"{network.name} is a network for {named}, not for chess")
    rules = named_game(named)
    evaluator = NetworkEvaluator(network, backend, precision, game=rules)
    tell_choice(evaluator.choice)
    rows = chess_speeds(evaluator, CHESS_POSITIONS[:positions], nodes, threads, leaves)
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


def _network(
    game: str | None, weights: str | None, options: NetworkOptions
) -> tuple[Weights, Game | None]:
    """Also the game, unless only a file names it."""
    if (game is None) == (weights is None):
        raise UserError("give either a game or --weights FILE")
    if weights is not None:
        return load_network(network_path(weights)), None
    assert game is not None
    rules = find_game(game)
    return random_weights(architecture_for(rules, options)), rules


def _numbers(text: str, option: str, most: int) -> list[int]:
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or not all(1 <= n <= most for n in numbers):
        raise UserError(f"{option} '{text}' should be numbers from 1 to {most}, like 1,2,8")
    return numbers


def _show_rates(network: Weights, found: dict[str, Any]) -> None:
    print(network.architecture.summary())
    for kind, peaks in found["peak_gflops"].items():
        for n, peak in peaks.items():
            print(f"practical peak with {n} threads: {peak:,.0f} GFLOP/s ({kind} matrix product)")
    for kind in sorted({row["precision"] for row in found["rows"]} - set(found["peak_gflops"])):
        print(f"no practical peak of {kind} can be measured here")
    print(
        f"{'backend':<9} {'prec.':<5} {'batch':>5} {'threads':>7} {'evals/s':>9} {'GFLOP/s':>8}  "
    )
    for row in found["rows"]:
        bare = f"{row['of_bare_openvino']:>6.0%} of bare" if "of_bare_openvino" in row else ""
        peak_share = f"{row['of_peak']:>5.0%} of peak" if "of_peak" in row else ""
        print(
            f"{row['backend']:<9} {row['precision']:<5} {row['batch']:>5} {row['threads']:>7} "
            f"{row['evaluations_per_second']:>9,} {row['gflops']:>8,.0f} {bare} {peak_share}"
        )
    if "error" in found:
        print(found["error"]["text"])
