"""`zermelo bench network`: how many positions a network evaluates in a second, on each runtime.

Knows no search.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from zermelo.cli.evaluators import tell_choice
from zermelo.cli.options import JsonOption, finite
from zermelo.errors import UserError
from zermelo.games import game as find_game
from zermelo.games.protocol import Game
from zermelo.games.registry import named_game
from zermelo.network import (
    NetworkEvaluator,
    NetworkOptions,
    Weights,
    architecture_for,
    random_weights,
)
from zermelo.network.accuracy import difference
from zermelo.network.measure import bare_openvino_rate, evaluation_rates, fastest, peak_gflops
from zermelo.network.open import open_weights
from zermelo.network.positions import sample_positions
from zermelo.network.runtimes import (
    BACKENDS,
    COMPUTES,
    PRECISIONS,
    capable_backends,
    check_runtime,
    installed_backends,
)
from zermelo.network.sparse.architecture import SparseArchitecture
from zermelo.network.sparse.runtime import CoreRuntime

PrecisionOption = Annotated[str, typer.Option(help="Precision: auto, f32, bf16 or int8.")]
PRECISION_POSITIONS = 200
MAX_THREADS, MAX_BATCH = 256, 4096
ROUGH = ("bf16", "int8")  # precisions whose error is measured
WITH_PEAK = ("f32", "bf16")  # precisions in which OpenVINO multiplies matrices as it is told


def bench_network(
    game: Annotated[str | None, typer.Argument(help="Measure a new network for this game.")] = None,
    *,
    weights: Annotated[
        str | None, typer.Option(help="Measure this network: a file, a checkpoint or a run.")
    ] = None,
    blocks: Annotated[int, typer.Option(min=0, help="Blocks of a new network.")] = 5,
    filters: Annotated[int, typer.Option(min=1, help="Filters of a new network.")] = 64,
    backend: Annotated[
        str, typer.Option(help=f"all (that have the precision), auto, {', '.join(BACKENDS)}.")
    ] = "all",
    precision: PrecisionOption = "f32",
    batches: Annotated[str, typer.Option(help="Batch sizes, such as 1,8,64.")] = "1,8,64",
    threads: Annotated[str, typer.Option(help="Numbers of threads, such as 1,2.")] = "1,2",
    seconds: Annotated[
        float, typer.Option(min=0.01, callback=finite, help="Seconds for each figure.")
    ] = 1.0,
    as_json: JsonOption = False,
) -> None:
    """Measure a network's evaluations per second.

    Compares them with the bare runtime and with the machine's peak.
    """
    counts = _numbers(threads, "--threads", MAX_THREADS)
    sizes = _numbers(batches, "--batches", MAX_BATCH)
    network, rules = _network(game, weights, NetworkOptions(blocks=blocks, filters=filters))
    runtimes = _runtimes(network, backend, precision, rules)
    rough = next((runtime for runtime in runtimes if runtime[1] in ROUGH), None)
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
    if isinstance(network.architecture, SparseArchitecture):
        return [(CoreRuntime.backend, CoreRuntime.precision)]
    check_runtime("auto" if backend == "all" else backend, precision)
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

    able = {kind for kind in COMPUTES["openvino"] if kind != "bf16" or supports_bf16()}
    return sorted(kinds & able)


def precision_error(weights: Weights, backend: str, precision: str, rules: Game) -> dict[str, Any]:
    """What a lower precision changes, on positions of random games."""
    exact = NetworkEvaluator(weights, backend, "f32", game=rules)
    other = NetworkEvaluator(weights, backend, precision, game=rules)
    positions = sample_positions(rules, PRECISION_POSITIONS, seed=1)
    found = difference(exact, other, rules, positions)
    return found.to_dict() | {"text": f"{precision} against f32: {found}"}


def _network(
    game: str | None, weights: str | None, options: NetworkOptions
) -> tuple[Weights, Game | None]:
    """Also the game, unless only a file names it."""
    if (game is None) == (weights is None):
        raise UserError("give either a game or --weights FILE")
    if weights is not None:
        return open_weights(weights), None
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
    measured = {row["precision"] for row in found["rows"]} & set(PRECISIONS)
    for kind in sorted(measured - set(found["peak_gflops"])):
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
