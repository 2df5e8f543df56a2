"""Four hundred files in the place of a run's shards that are none of it: training goes on as if
they were not there.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from make_samples import put_shard, random_samples
from tiny_runs import RecordingView, final_files, train

from zermelo.loop import Run, Stop, run_loop
from zermelo.replay.header import FORMAT

Record = Callable[[str, object], None]
EACH = 100


def empty(_: bytes, __: int) -> bytes:
    return b""


def wrong_magic(data: bytes, number: int) -> bytes:
    return bytes([data[0] ^ (1 + number % 255)]) + data[1:]


def other_version(data: bytes, number: int) -> bytes:
    return data[:8] + bytes([FORMAT + 1 + number]) + data[9:]


WAYS = (empty, wrong_magic, other_version)


def spoil(replay: Path) -> tuple[list[str], list[str]]:
    """Puts the files there, under names of the window's iterations: damaged ones, foreign ones."""
    data = min(replay.glob("it000002-*.zshard")).read_bytes()
    damaged = []
    for worker, way in enumerate(WAYS, 10):
        for number in range(EACH):
            damaged.append(f"it{1 + number % 2:06d}-w{worker}-{number:06d}.zshard")
            (replay / damaged[-1]).write_bytes(way(data, number))
    samples = random_samples("connect4", games=1, iteration=2)
    foreign = [
        put_shard(replay, samples, "connect4", iteration=2, worker=13, number=number).name
        for number in range(EACH)
    ]
    return damaged, foreign


@pytest.mark.slow
def test_files_that_are_no_shards_of_the_run_never_reach_the_trainer(
    tmp_path: Path, record_property: Record
) -> None:
    path, clean = tmp_path / "run", tmp_path / "clean"
    train(path)
    shutil.copytree(path, clean)
    damaged, foreign = spoil(path / "replay")
    views: dict[Path, Any] = {}
    for place in (path, clean):
        run = Run.open(place)
        run.change({"loop": {"iterations": 5}})
        views[place] = RecordingView()
        assert run_loop(run, Stop(), views[place])["iteration"] == 5
    assert final_files(path, 5) == final_files(clean, 5)
    said = "\n".join(views[path].notes)
    aside = path / "replay" / "damaged"
    for name in damaged:
        assert name in said
        assert (aside / name).exists()
        assert "is no sound shard" in (aside / f"{name}.reason.txt").read_text()
    for name in foreign:  # sound, of another game: left where it is
        assert name in said
        assert (path / "replay" / name).exists()
    assert said.count("samples of connect4, not of tictactoe") == EACH
    assert not any("damaged" in note for note in views[clean].notes)
    record_property("tried", len(damaged) + len(foreign))
