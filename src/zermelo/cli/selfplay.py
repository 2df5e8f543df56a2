"""`zermelo selfplay`: makes shards with a network, without training anything."""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zermelo.cli.train import INTERRUPTED, SetOption, tables_for
from zermelo.errors import UserError

if TYPE_CHECKING:
    from zermelo.config import RunConfig

NETWORK_FILE = "network.safetensors"
LINE_EVERY = 10.0  # seconds


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(selfplay)


def selfplay(
    game: Annotated[str, typer.Argument(help="A game, a preset, a run file or a Python file.")],
    *,
    out: Annotated[Path, typer.Option(help="Directory for the shards.")],
    samples: Annotated[int, typer.Option(min=1, help="At least so many, of whole games.")],
    weights: Annotated[
        Path | None, typer.Option(help="A network; without one it knows nothing.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes.")] = None,
    settings: SetOption = None,
    seed: Annotated[int, typer.Option(min=0, help="Of everything random.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Play games and write their samples as shards."""
    from zermelo.config import RunConfig, parse_settings
    from zermelo.loop import Stop

    tables, origin = tables_for(game)
    config = RunConfig.from_tables(tables, origin).changed(parse_settings(settings or []), "--set")
    config = config.changed({"loop": {"seed": seed}}, "--seed")
    with Stop() as stop:
        found = make_shards(config, out, samples, weights, workers or 0, seed, stop)
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        print(summary(found))
    if stop.interrupted:
        raise typer.Exit(INTERRUPTED)


def make_shards(
    config: RunConfig,
    out: Path,
    samples: int,
    weights: Path | None,
    workers: int,
    seed: int,
    stop: Any,
) -> dict[str, Any]:
    """Plays until the samples are there or somebody stops it; the figures."""
    from zermelo.cores import available_cores
    from zermelo.loop.lock import RunLock
    from zermelo.loop.stop import StoppedError
    from zermelo.loop.tally import SelfPlayTally
    from zermelo.loop.workers import WorkerPool
    from zermelo.replay import ReplayStore
    from zermelo.selfplay.worker import Order, Spec

    count = workers or config.workers.workers or available_cores()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"'{out}' cannot be made: {error.strerror}") from None
    lock = RunLock(out / "lock")
    network, backend, precision = ready_network(config, weights, out, seed)
    tally = SelfPlayTally(count)
    shards = ReplayStore(out, config.game())

    def spec(number: int) -> Spec:
        return Spec(
            game=config.game_name,
            search=config.search.to_dict(),
            selfplay=config.selfplay.to_dict(),
            backend=backend,
            precision=precision,
            replay=str(out),
            worker=number,
            seed=worker_seed(seed, number, shards.next_number(number)),
            shard_samples=config.replay.shard_samples,
            exact=False,
        )

    share = -(-samples // count)
    order = Order(
        iteration=0,
        network=str(network),
        network_iteration=0,
        simulations=int(config.selfplay.simulations),
        resign_threshold=float(config.selfplay.resign_threshold),
        share=share,
        quota=share,
    )
    started = time.monotonic()
    progress = _Progress(samples, tally)
    try:
        with WorkerPool(
            count, spec, lock.descriptor, out / "log.txt", on_shard=tally.add, report=progress.note
        ) as pool:
            stop.on_kill = pool.kill
            pool.play(order)
            while not pool.done:
                pool.listen(0.1)
                progress.show()
                stop.check()
    except StoppedError:
        pass
    finally:
        lock.release()
    seconds = time.monotonic() - started
    figures = tally.metrics(0)
    return {
        "game": config.game().name,
        "directory": str(out),
        "network": str(network),
        "backend": backend,
        "precision": precision,
        "workers": count,
        "stopped": stop.asked or "done",
        "wall_seconds": round(seconds, 3),
        **figures,
    }


def worker_seed(seed: int, worker: int, shards: int) -> int:
    """Of a worker that finds so many shards of its own: it must not play their games again."""
    return random.Random(f"selfplay {seed} {worker} {shards}").getrandbits(52)


def ready_network(
    config: RunConfig, weights: Path | None, out: Path, seed: int
) -> tuple[Path, str, str]:
    """The network's file, and the runtime that evaluates it."""
    from zermelo.cli.judge import tell_choice
    from zermelo.network import architecture_for, load_network, random_weights, save_network
    from zermelo.network.measure import fastest

    game = config.game()
    if weights is None:
        path = out / NETWORK_FILE
        save_network(random_weights(architecture_for(game, config.network), seed), path)
    else:
        path = weights
    network = load_network(path, game)
    backend, precision = config.workers.backend, config.workers.precision
    if "auto" in (backend, precision):
        backend, precision, choice = fastest(network, backend, precision, game=game)
        tell_choice(choice)
    return path.resolve(), backend, precision


class _Progress:
    """A line now and then on the error stream."""

    def __init__(self, samples: int, tally: Any) -> None:
        self.samples = samples
        self.tally = tally
        self.shown = time.monotonic()

    def show(self) -> None:
        if time.monotonic() - self.shown >= LINE_EVERY:
            self.shown = time.monotonic()
            self.note(f"{self.tally.count(0):,} of {self.samples:,} samples")

    def note(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


def summary(found: dict[str, Any]) -> str:
    """For people."""
    return (
        f"{found['directory']}: {found['samples']:,} samples of {found['games']:,} games in "
        f"{found['shards']} shards, {found['wall_seconds']:.1f} s with {found['workers']} workers; "
        f"{found.get('simulations_per_second', 0):,.0f} simulations/s, "
        f"{found.get('evaluations_per_second', 0):,.0f} evaluations/s, "
        f"cache {found['cache_hit_share']:.0%}, {found['mean_plies']:.1f} plies a game"
    )
