"""How fast a network is evaluated here: by backend, batch and threads, against what is possible."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from zermelo.errors import UserError
from zermelo.games.protocol import Game
from zermelo.network.form import NetworkForm
from zermelo.network.runtimes import COMPUTES, check_runtime, installed_backends, make_runtime
from zermelo.network.sparse.architecture import SparseArchitecture
from zermelo.network.weights import Array, Weights

AUTO_SECONDS = 1.0  # for all candidates together
AUTO_BATCH = 16
LOADS_LONG = {"torch": 1.25}  # so many times as quick it must be: each process imports it for 1.5 s


def example_batch(architecture: NetworkForm, batch: int) -> Array:
    """Observations with about as many ones as positions have; what they mean does not matter."""
    rng = np.random.default_rng(batch)
    ones = rng.random((batch, *architecture.observation_shape)) < 0.2
    return ones.astype(np.float32)


def calls_per_second(call: Callable[[], object], seconds: float) -> float:
    """Of one thread; the first call is not counted."""
    call()
    count, started = 0, time.perf_counter()
    while (spent := time.perf_counter() - started) < seconds:
        call()
        count += 1
    return count / spent


def parallel_calls_per_second(calls: Sequence[Callable[[], object]], seconds: float) -> float:
    """Of several threads together, each with its own call; raises what the first to fail raised."""
    counts = [0] * len(calls)
    errors: list[Exception] = []
    start = threading.Barrier(len(calls) + 1)
    spent = [1.0] * len(calls)

    def work(index: int) -> None:
        try:
            count(index)
        except threading.BrokenBarrierError:  # another thread failed
            pass
        except Exception as error:
            errors.append(error)
            start.abort()

    def count(index: int) -> None:
        for _ in range(3):  # side by side, so that each thread has a session of its own
            calls[index]()
        start.wait()
        started = time.perf_counter()
        while (now := time.perf_counter() - started) < seconds:
            calls[index]()
            counts[index] += 1
        spent[index] = now

    threads = [threading.Thread(target=work, args=(index,)) for index in range(len(calls))]
    for thread in threads:
        thread.start()
    with suppress(threading.BrokenBarrierError):
        start.wait()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return sum(done / time_ for done, time_ in zip(counts, spent, strict=True))


def fastest(
    weights: Weights,
    backend: str,
    precision: str,
    calibration: Array | None = None,
    game: Game | None = None,
) -> tuple[str, str, list[dict[str, Any]]]:
    """The quickest backend and precision among those that the arguments leave open.

    Also every candidate with its evaluations per second, the best first, if there are several;
    one that cannot be used stands last, with the reason. Measured in one thread: that is how each
    searching thread evaluates.
    """
    if isinstance(weights.architecture, SparseArchitecture):
        return "core", "integer", []
    check_runtime(backend, precision)
    candidates = [
        (name, kind)
        for name in (installed_backends() if backend == "auto" else [backend])
        for kind in (("f32", "bf16") if precision == "auto" else (precision,))
        if kind in COMPUTES[name]
    ]
    if len(candidates) == 1 and (backend != "auto" or candidates[0][0] != "numpy"):
        return (*candidates[0], [])
    batch = example_batch(weights.architecture, AUTO_BATCH)
    found: list[dict[str, Any]] = []
    for name, kind in candidates:
        rate, reason = 0.0, {}
        try:
            session = make_runtime(weights, name, kind, calibration, game).session()
            rate = calls_per_second(partial(session.run, batch), AUTO_SECONDS / len(candidates))
        except Exception as error:  # a broken package fails in any way; others may do
            known = isinstance(error, UserError)
            said = str(error) if known else f"{type(error).__name__}: {error}"
            reason = {"reason": " ".join(said.split())}
        row = {"backend": name, "precision": kind}
        found.append(row | {"evaluations_per_second": round(rate * AUTO_BATCH)} | reason)
    found = best_first(found)
    if "reason" in found[0]:
        raise UserError(found[0]["reason"])
    return found[0]["backend"], found[0]["precision"], found


def best_first(choice: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """By speed; what loads long stands back if it is only a little quicker."""

    def worth(row: Mapping[str, Any]) -> float:
        return int(row["evaluations_per_second"]) / LOADS_LONG.get(str(row["backend"]), 1.0)

    return sorted(choice, key=lambda row: ("reason" in row, -worth(row)))


def choice_text(choice: Sequence[Mapping[str, Any]]) -> str:
    """What `auto` took and what it took it from, in a line; empty if there was no choice."""
    if not choice:
        return ""
    parts = [
        f"{row['backend']} {row['precision']}: {row['reason']}"
        if "reason" in row
        else f"{row['backend']} {row['precision']} {row['evaluations_per_second']:,}"
        for row in choice[1:]
    ]
    best = choice[0]
    taken = f"{best['backend']} {best['precision']}, {best['evaluations_per_second']:,}"
    if best["backend"] == "numpy":
        parts.append("zermelo[network] installs a runtime that is many times as fast")
    return "; ".join([f"auto: {taken} evaluations/s", *parts])


def evaluation_rates(
    weights: Weights,
    backend: str,
    precision: str,
    *,
    batch: int,
    threads: int,
    seconds: float,
    game: Game | None = None,
) -> dict[str, Any]:
    """Evaluations per second of an evaluator, called as the search calls it."""
    from zermelo.network.evaluator import NetworkEvaluator

    evaluator = NetworkEvaluator(weights, backend, precision, game=game)
    evaluator.warm_up(threads, batch)
    inputs = [example_batch(weights.architecture, batch) for _ in range(threads)]
    calls = [partial(evaluator, x) for x in inputs]
    rate = parallel_calls_per_second(calls, seconds) * batch
    return {
        "backend": evaluator.backend,
        "precision": evaluator.precision,
        "batch": batch,
        "threads": threads,
        "evaluations_per_second": round(rate),
        "gflops": round(2e-9 * rate * weights.architecture.multiply_adds(), 1),
    }


def bare_openvino_rate(
    weights: Weights,
    precision: str,
    *,
    batch: int,
    threads: int,
    seconds: float,
    game: Game | None = None,
) -> float:
    """Evaluations per second of OpenVINO alone: one compiled model and one request per thread."""
    import openvino as ov

    from zermelo.network.runtime_openvino import OpenVinoRuntime

    runtime = OpenVinoRuntime(weights, precision, game=game)
    calls: list[Callable[[], object]] = []
    kept = []  # the requests only borrow their inputs
    for _ in range(threads):
        request = runtime.compiled(batch).create_infer_request()
        planes = example_batch(weights.architecture, batch)
        request.set_input_tensor(ov.Tensor(planes, shared_memory=True))
        kept.append(planes)
        calls.append(partial(request.infer, share_outputs=True))
    return parallel_calls_per_second(calls, seconds) * batch


def peak_gflops(threads: int, seconds: float, precision: str = "f32", size: int = 1024) -> float:
    """What a large matrix product in f32 or bf16 reaches here: the practical peak."""
    import openvino as ov
    from openvino import opset13 as op

    from zermelo.network.openvino_core import openvino_core

    calls: list[Callable[[], object]] = []
    matrix = np.random.default_rng(0).random((size, size), np.float32)
    for _ in range(threads):
        left = op.parameter([size, size], np.float32)
        model = ov.Model([op.matmul(left, op.constant(matrix), False, False)], [left], "peak")
        settings = {
            "INFERENCE_PRECISION_HINT": precision,
            "ENABLE_CPU_PINNING": False,
            "INFERENCE_NUM_THREADS": 1,
            "NUM_STREAMS": 1,
        }
        request = openvino_core().compile_model(model, "CPU", settings).create_infer_request()
        request.set_input_tensor(ov.Tensor(matrix, shared_memory=True))
        calls.append(partial(request.infer, share_outputs=True))
    return parallel_calls_per_second(calls, seconds) * 2e-9 * size**3
