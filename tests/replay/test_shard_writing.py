"""How a shard gets to the disk: in an order that a loss of power cannot turn round, and killed at
every system call on the way.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from make_samples import put_shard, random_samples

import zermelo
from zermelo import files
from zermelo.replay import ReplayStore, Samples, ShardHeader, shard_path, write_shard

Record = Callable[[str, object], None]
GAME = zermelo.game("connect4")
CALLS = ("open", "fsync", "replace", "close", "unlink")


def counted(left: int) -> None:
    """From now on this process is killed before its call number `left` that touches files."""

    def step() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    class Raw(io.FileIO):
        def write(self, data: Any) -> int:
            step()
            return super().write(bytes(data)[:4096])  # a disk may take less than it is given

    def guarded(real: Any) -> Any:
        def run(*arguments: Any, **named: Any) -> Any:
            step()
            return real(*arguments, **named)

        return run

    def opened(path: Path, mode: str) -> Any:
        step()
        return io.BufferedWriter(Raw(path, mode.replace("b", "")), 1024)

    Path.open = opened  # type: ignore[method-assign, assignment]
    for name in CALLS:
        setattr(os, name, guarded(getattr(os, name)))


def killed(directory: Path, samples: Samples, call: int) -> bool:
    """Writes a shard in a process that is killed at that call; False if it has fewer."""
    child = os.fork()
    if child == 0:
        try:
            counted(call)
            put_shard(directory, samples, "connect4", number=1)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def test_a_kill_at_any_call_leaves_the_shard_whole_or_not_there(
    tmp_path: Path, record_property: Record
) -> None:
    samples = random_samples("connect4", games=20)
    whole = put_shard(tmp_path / "whole", samples, "connect4", number=1)
    there = []
    for call in range(1000):
        directory = tmp_path / str(call)
        earlier = put_shard(directory, random_samples("connect4", games=1), "connect4")
        more = killed(directory, samples, call)
        store = ReplayStore(directory, GAME)
        found = [shard.path.name for shard in store.shards()]
        assert found in ([earlier.name], [earlier.name, whole.name])
        assert all(store.read(shard) is not None for shard in store.shards())
        store.remove_temporary()
        assert sorted(path.name for path in directory.iterdir()) == found
        there.append(len(found) == 2)
        shutil.rmtree(directory)
        if not more:
            break
    assert there[0] is False and there[-1] is True
    assert there == sorted(there) and len(there) > whole.stat().st_size // 4096 + 4
    record_property("tried", len(there))


WRITER = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from make_samples import put_shard, random_samples
put_shard(Path(sys.argv[2]), random_samples("connect4", games=2), "connect4")
"""


def test_the_system_sees_write_fsync_rename_fsync_in_this_order(tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("there is no strace")
    place, heard = tmp_path / "shards", tmp_path / "calls.txt"
    place.mkdir()
    command = ["strace", "-f", "-y", "-o", str(heard), "-e"]
    command += ["trace=write,writev,pwrite64,fsync,fdatasync,rename,renameat,renameat2"]
    command += [sys.executable, "-c", WRITER, str(Path(__file__).parent), str(place)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    if "ptrace" in done.stderr:
        pytest.skip("no right to trace processes")
    assert done.returncode == 0, done.stderr
    calls = []
    for line in heard.read_text().splitlines():
        if str(place) in line and (call := re.match(r"\d+ +(\w+)\((.*)", line)):
            what = "directory" if f"<{place}>" in call[2] else "file"
            calls.append(f"{call[1].rstrip('v')} {what}")
    in_order = [call for at, call in enumerate(calls) if calls[at - 1 : at] != [call]]
    assert in_order == ["write file", "fsync file", "rename file", "fsync directory"]


def test_what_it_costs_that_a_shard_lasts_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Record
) -> None:
    samples = random_samples("connect4", games=100)
    while len(samples) < 20_000:
        samples = Samples.concat([samples, samples])
    header = ShardHeader.of(GAME, samples)
    whole = files.write_whole

    def timed(lasting: bool) -> float:
        taken = []
        for number in range(9):
            path = shard_path(tmp_path / str(lasting), 0, 0, number)

            def write(path: Path, *blocks: bytes) -> None:
                began = time.perf_counter()
                whole(path, *blocks, lasting=lasting)
                taken.append(time.perf_counter() - began)

            monkeypatch.setattr("zermelo.replay.shard.write_whole", write)
            size = write_shard(path, samples, header)
        assert size > 1 << 20
        record_property("megabytes of a shard", f"{size / 1e6:.1f}")
        return 1000 * statistics.median(taken)

    quick, lasting = timed(False), timed(True)
    assert lasting < 5000  # a disk that takes seconds is ill
    record_property("milliseconds to write it", f"{quick:.1f}")
    record_property("milliseconds with both fsync", f"{lasting:.1f}")
