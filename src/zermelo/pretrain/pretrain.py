"""Begins a run with what is known already: games, labelled positions, another run, a teacher.

The samples become shards of iteration 0 and the usual trainer learns them; the result is checkpoint
1, from which `zermelo train` goes on with self-play. The shards stay in the window as long as any
others of iteration 0 would.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from zermelo.checkpoint import CheckpointStore
from zermelo.errors import UserError
from zermelo.files import patiently
from zermelo.pretrain.files import labelled_file
from zermelo.pretrain.samples import chunks, is_inside_label, samples_of
from zermelo.pretrain.teachers import teacher_labels
from zermelo.replay import (
    ReplayStore,
    Samples,
    Schema,
    ShardError,
    ShardHeader,
    read_header,
    read_shard,
    shard_path,
    write_shard,
)
from zermelo.replay.shard import parse_name
from zermelo.runs.directory import Run, is_run
from zermelo.runs.learning import open_learner
from zermelo.selfplay.resign import first_threshold

TEACHER = "teacher:"
TEACHER_SAMPLES = 10_000  # of a teacher, if no number is asked for
SOURCE = "source"  # in a shard's statistics: where its samples are from

Progress = Callable[[str, int, int], None]  # what is done, how much, of how much (0: not known)
Report = Callable[[str], None]  # takes a sentence


@dataclass(frozen=True)
class Pretraining:
    """What was asked for."""

    source: str  # a file, a run's directory, or teacher:PLAYER
    samples: int | None = None  # at most; None is all, or TEACHER_SAMPLES
    epochs: int = 1  # times over all samples
    seed: int = 0


def pretrain(run: Run, asked: Pretraining, progress: Progress | None = None) -> dict[str, Any]:
    """Fills a locked run's shards and trains on them; returns figures for people and programs."""
    tell: Progress = progress or (lambda *_: None)
    started = time.monotonic()
    damaged: list[str] = []
    refuse_trained(run)
    for path in pretrained_shards(run):  # of one that was stopped; they are made again
        path.unlink(missing_ok=True)
    samples, shards = fill(run, asked, tell, damaged.append)
    for sentence in damaged:
        run.log(sentence)
    metrics = learn(run, asked, started, samples, tell)
    run.log(f"pretrained on {samples} samples from {asked.source}")
    return {
        "run": str(run.path),
        "game": run.config.game().name,
        "source": asked.source,
        "samples": samples,
        "shards": shards,
        "damaged": damaged,
        "positions": metrics["window"]["merged"],
        "checkpoint": str(CheckpointStore(run.checkpoints, read_only=True).path(1)),
        "seconds": round(time.monotonic() - started, 3),
        "train": metrics["train"],
    }


def refuse_trained(run: Run) -> None:
    """Pretraining is where a run begins."""
    done = CheckpointStore(run.checkpoints, read_only=True).list()
    if done and done[-1] > 0:
        raise UserError(
            f"'{run.path}' has trained already (checkpoint {done[-1]:06d}): "
            "pretraining begins a run, so name a new directory with --run"
        )


def pretrained_shards(run: Run) -> Iterator[Path]:
    """Those that a pretraining wrote; in a run without checkpoint 1 it was stopped."""
    for path in run.replay.glob("it000000-*.zshard"):
        try:
            if SOURCE in read_header(path).statistics:
                yield path
        except (UserError, FileNotFoundError):
            continue


def refuse_half_pretrained(run: Run) -> None:
    """Self-play would learn from a part of the samples, from a network that never saw them."""
    if any(pretrained_shards(run)):
        raise UserError(
            f"the pretraining of '{run.path}' was stopped before it was done: give that command "
            f"again, or remove '{run.replay}' to begin from nothing"
        )


# --- 1. samples -----------------------------------------------------------------------------------


def fill(run: Run, asked: Pretraining, tell: Progress, report: Report) -> tuple[int, int]:
    """Writes the shards, oldest first; how many samples and shards there are then."""
    game: Any = run.config.game()
    schema = Schema.of(game)
    wanted = asked.samples
    if wanted is None and asked.source.startswith(TEACHER):
        wanted = TEACHER_SAMPLES
    number = ReplayStore(run.replay, schema).next_number(0)
    total = shards = 0
    tell("reading", 0, wanted or 0)
    for found in source_samples(game, asked, run.config.replay.shard_samples, report):
        samples, last = found, False
        if wanted is not None and total + len(found) >= wanted:
            rows, last = wanted - total, True
            while is_inside_label(found, rows):
                rows -= 1
            samples = found.take(np.arange(rows))
        if len(samples):
            header = ShardHeader.of(
                schema, samples, iteration=0, number=number, statistics={SOURCE: asked.source}
            )
            path = shard_path(run.replay, 0, 0, number)
            patiently(
                partial(write_shard, path, samples, header), lambda: wait_for_space(run, tell)
            )
            total, shards, number = total + len(samples), shards + 1, number + 1
        tell("reading", total, wanted or 0)
        if last:
            break
    if not total:
        raise UserError(f"'{asked.source}' has nothing to learn {game.name} from")
    return total, shards


def source_samples(game: Any, asked: Pretraining, size: int, report: Report) -> Iterator[Samples]:
    """The source's samples in pieces of about `size`; `report` hears what is damaged."""
    wanted = asked.samples
    if not asked.source.startswith(TEACHER):
        path = Path(asked.source).expanduser()
        if path.is_dir():
            return samples_of_run(game, path, wanted, report)
        games = labelled_file(game, path)
    else:
        games = teacher_labels(game, asked.source.removeprefix(TEACHER), asked.seed)
        size = min(size, wanted or TEACHER_SAMPLES, 500)  # so that progress shows
    return (samples_of(game, some) for some in chunks(games, size))


def samples_of_run(game: Any, path: Path, wanted: int | None, report: Report) -> Iterator[Samples]:
    """The newest samples of another run of the same game, as if of iteration 0.

    The oldest come first, so that the new run's window, too, counts them as the oldest.
    """
    if not is_run(path):
        raise UserError(f"'{path}' is a directory, but no run")
    Run.open(path).check_game(game)
    chosen, total = newest_shards(game, path / "replay", wanted, report)
    surplus = 0 if wanted is None else max(0, total - wanted)  # of the oldest shard
    for place in reversed(chosen):
        samples = read_shard(place, game).samples
        while is_inside_label(samples, surplus):
            surplus += 1
        samples = samples.take(np.arange(surplus, len(samples)))
        surplus = 0
        columns = samples.columns() | {"iterations": np.zeros(len(samples), np.uint32)}
        yield Samples(**columns)


def newest_shards(
    game: Any, directory: Path, wanted: int | None, report: Report
) -> tuple[list[Path], int]:
    """Sound shards, newest first, until there are the samples wanted; how many there are.

    Nothing of the other run is moved, even if it is damaged.
    """
    places = [(parse_name(place.name), place) for place in directory.glob("*.zshard")]
    aged = [((name[0], name[2], name[1]), place) for name, place in places if name]
    chosen: list[Path] = []
    total = 0
    for _, place in sorted(aged, reverse=True):
        if wanted is not None and total >= wanted:
            break
        try:
            total += len(read_shard(place, game).samples)
        except ShardError as error:
            report(f"{error}; it is left out")
        except FileNotFoundError:
            continue
        else:
            chosen.append(place)
    return chosen, total


# --- 2. training ----------------------------------------------------------------------------------


def learn(
    run: Run, asked: Pretraining, started: float, samples: int, tell: Progress
) -> dict[str, Any]:
    """Trains a new network on the shards and saves it as checkpoint 1.

    The samples' values count at once: `value_blend_ramp` is for networks that know nothing yet.
    """
    config = run.config
    learner = open_learner(
        run,
        ReplayStore(run.replay, config.game()),
        wait=lambda: wait_for_space(run, tell),
        note=run.log,
        train=replace(config.train, value_blend_ramp=0.0),
    )
    try:
        learner.begin(config.network)
        learner.window.update(0)
        trained = learner.train(
            0, lambda state: tell("training", state.step, state.steps), epochs=asked.epochs
        )
        seconds = time.monotonic() - started
        metrics = {
            "train": trained,
            "window": learner.window.report(),
            "pretrain": {SOURCE: asked.source, "samples": samples, "epochs": asked.epochs},
            "seconds": seconds,
        }
        threshold = first_threshold(config.pool, config.selfplay)
        learner.save(1, metrics, {"resign_threshold": threshold, "seconds": seconds})
        learner.record(1, metrics)
    finally:
        learner.close()
    return metrics


def wait_for_space(run: Run, tell: Progress) -> bool:
    """Says what is waited for; pretraining waits until somebody makes room or ends it."""
    tell(f"waiting for space on the disk of '{run.path}'", 0, 0)
    return True
