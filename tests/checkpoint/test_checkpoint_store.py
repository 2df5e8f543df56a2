"""Checkpoints: whole or not there, verified before use, the newest few kept."""

from __future__ import annotations

import json
import os
import resource
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_checkpoints import is_whole, save, small_training, small_weights

import zermelo
from zermelo.checkpoint import CheckpointError, CheckpointStore, Manifest
from zermelo.network import load_network

Record = Callable[[str, object], None]

pytest.importorskip("safetensors", reason="safetensors is not installed")


def visible(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir() if not path.name.startswith("."))


def hidden(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir() if path.name.startswith("."))


@pytest.mark.technique("T14")
def test_a_checkpoint_comes_back_as_it_was_written(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path / "run" / "checkpoints")
    assert store.newest() is None
    saved = save(store, 12)
    assert saved.directory == tmp_path / "run" / "checkpoints" / "000012"
    assert visible(saved.directory) == [
        "games.bin",
        "manifest.json",
        "training.safetensors",
        "weights.safetensors",
    ]
    found = CheckpointStore(store.directory, read_only=True).newest()
    assert found == saved
    assert is_whole(found)
    assert found.manifest.metrics == {"loss": 1 / 13}
    assert found.manifest.network() == small_weights(12).architecture
    network = load_network(saved.directory, zermelo.game("tictactoe"))
    np.testing.assert_array_equal(
        network.arrays["value_out.weight"], small_weights(12).arrays["value_out.weight"]
    )


def test_a_checkpoint_keeps_how_its_network_is_searched(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path)
    weights = replace(small_weights(1), search={"c_puct": 2.0})
    saved = store.save(1, weights, small_training(1), extra={"seconds": 1.0})
    assert saved.manifest.extra == {"seconds": 1.0, "search": {"c_puct": 2.0}}
    assert saved.weights().search == {"c_puct": 2.0}
    assert "search" not in store.save(2, small_weights(2), small_training(2)).manifest.extra


def test_the_manifest_is_json_with_the_size_and_sha256_of_every_file(tmp_path: Path) -> None:
    import hashlib

    directory = save(CheckpointStore(tmp_path), 3).directory
    manifest = json.loads((directory / "manifest.json").read_text())
    assert manifest["iteration"] == 3
    assert manifest["game"] == "tictactoe"
    assert manifest["training"] == {"iterations": 4, "steps": 30, "samples": 7}
    for name, entry in manifest["files"].items():
        data = (directory / name).read_bytes()
        assert entry == {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    assert set(manifest["files"]) == {p.name for p in directory.iterdir()} - {"manifest.json"}


def test_no_file_of_a_checkpoint_holds_a_pickle(tmp_path: Path) -> None:
    directory = save(CheckpointStore(tmp_path), 0).directory
    for name in ("training.safetensors", "weights.safetensors"):
        data = (directory / name).read_bytes()
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + size])
        ends = [entry["data_offsets"][1] for key, entry in header.items() if key[:2] != "__"]
        assert max(ends) == len(data) - 8 - size  # a JSON header and numbers, nothing else


def test_the_newest_few_are_kept_and_every_so_manieth(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path, keep=4, keep_every=5)
    for iteration in range(13):
        save(store, iteration)
    assert store.list() == [0, 5, 9, 10, 11, 12]
    store = CheckpointStore(tmp_path)
    save(store, 13)
    assert store.list() == [11, 12, 13]
    assert hidden(tmp_path) == []


def test_those_that_somebody_needs_are_kept_as_long_as_that(tmp_path: Path) -> None:
    needed = [1, 2]
    store = CheckpointStore(tmp_path, needed=lambda: needed)
    for iteration in range(7):
        save(store, iteration)
    assert store.list() == [1, 2, 4, 5, 6]
    needed.remove(1)
    save(store, 7)
    assert store.list() == [2, 5, 6, 7]


def test_fewer_than_three_cannot_be_kept(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="at least 3"):
        CheckpointStore(tmp_path, keep=2)


def test_a_damaged_checkpoint_falls_back_to_the_previous_and_both_are_named(tmp_path: Path) -> None:
    said: list[str] = []
    store = CheckpointStore(tmp_path, keep=5, report=said.append)
    for iteration in range(4):
        save(store, iteration)
    (tmp_path / "000003" / "training.safetensors").write_bytes(b"")
    (tmp_path / "000002" / "manifest.json").unlink()
    found = store.newest()
    assert found is not None and found.iteration == 1 and is_whole(found)
    assert len(said) == 2
    assert "000003" in said[0] and "training.safetensors has 0 bytes" in said[0]
    assert "000002" in said[1] and "manifest.json is missing" in said[1]
    assert all("going back to checkpoint 000001" in line for line in said)
    assert "training.safetensors" in store.verify(3)
    assert store.verify(0) == ""
    # The run comes by again and replaces what was damaged.
    save(store, 2)
    save(store, 3)
    found = store.newest()
    assert found is not None and found.iteration == 3 and is_whole(found)
    assert hidden(tmp_path) == []


def test_when_all_are_damaged_it_is_said_and_nothing_is_removed(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path)
    for iteration in range(2):
        save(store, iteration)
        (tmp_path / f"00000{iteration}" / "weights.safetensors").write_bytes(b"PK")
    with pytest.raises(CheckpointError, match=r"none of the checkpoints.*000001.*000000"):
        store.newest()
    assert visible(tmp_path) == ["000000", "000001"]


def test_a_checkpoint_under_another_number_or_of_another_format_is_refused(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path)
    saved = save(store, 1)
    os.rename(tmp_path / "000001", tmp_path / "000002")
    with pytest.raises(CheckpointError, match="is of iteration 1"):
        store.load(2)
    with pytest.raises(CheckpointError, match="there is no checkpoint 000007"):
        store.load(7)
    fields = {name: getattr(saved.manifest, name) for name in saved.manifest.__dataclass_fields__}
    newer = Manifest(**fields | {"format": 9})
    with pytest.raises(CheckpointError, match="format 9"):
        Manifest.from_bytes(newer.to_bytes())


def test_a_manifest_cannot_point_outside_its_directory(tmp_path: Path) -> None:
    saved = save(CheckpointStore(tmp_path), 1)
    fields = {name: getattr(saved.manifest, name) for name in saved.manifest.__dataclass_fields__}
    for name in ("../secret", "/etc/passwd", ".hidden", ""):
        files = {**saved.manifest.files, name: saved.manifest.files["games.bin"]}
        with pytest.raises(CheckpointError, match="list of files"):
            Manifest.from_bytes(Manifest(**fields | {"files": files}).to_bytes())
    for name in ("../secret", "manifest.json"):
        with pytest.raises(ValueError, match="cannot be a file"):
            CheckpointStore(tmp_path).save(
                2, small_weights(2), small_training(2), files={name: b"x"}
            )
    assert CheckpointStore(tmp_path).list() == [1]


def test_opening_to_write_removes_leftovers_and_opening_to_read_does_not(tmp_path: Path) -> None:
    save(CheckpointStore(tmp_path), 1)
    left = tmp_path / ".tmp-new-000002-99"
    left.mkdir()
    (left / "weights.safetensors").write_bytes(b"half")
    CheckpointStore(tmp_path, read_only=True)
    assert hidden(tmp_path) == [left.name]
    assert CheckpointStore(tmp_path).list() == [1]
    assert hidden(tmp_path) == []


def test_a_read_only_store_of_a_run_without_checkpoints_is_empty(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path / "none", read_only=True)
    assert store.list() == [] and store.newest() is None
    assert not (tmp_path / "none").exists()


# ---- the order of writing, crashes, disks that are full ------------------------------------------


def test_files_are_on_the_disk_before_the_name_and_the_manifest_is_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = CheckpointStore(tmp_path)
    done: list[tuple[str, str]] = []
    fsync, rename = os.fsync, os.rename

    def recorded_fsync(handle: int) -> None:
        done.append(("fsync", Path(os.readlink(f"/proc/self/fd/{handle}")).name))
        fsync(handle)

    def recorded_rename(source: Path, target: Path) -> None:
        done.append(("rename", Path(target).name))
        rename(source, target)

    if not Path("/proc/self/fd").exists():
        pytest.skip("open files have no names on this system")
    monkeypatch.setattr(os, "fsync", recorded_fsync)
    monkeypatch.setattr(os, "rename", recorded_rename)
    save(store, 1)
    assert done == [
        ("fsync", "games.bin"),
        ("fsync", "training.safetensors"),
        ("fsync", "weights.safetensors"),
        ("fsync", "manifest.json"),
        ("fsync", f".tmp-new-000001-{os.getpid()}"),
        ("rename", "000001"),
        ("fsync", tmp_path.name),
    ]


class Dead(BaseException):
    """The process was killed: from now on it does nothing."""


def kill_at(call: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every system call that changes something fails from that one on, clean-up included."""
    count = 0

    def guarded(name: str, real: Any) -> Any:
        def run(*arguments: Any, **named: Any) -> Any:
            nonlocal count
            if name == "open" and arguments[1] == os.O_RDONLY:
                return real(*arguments, **named)
            count += 1
            if count > call:
                raise Dead
            return real(*arguments, **named)

        return run

    for name in ("open", "write", "fsync", "rename", "mkdir", "unlink", "rmdir"):
        monkeypatch.setattr(os, name, guarded(name, getattr(os, name)))
    monkeypatch.setattr(shutil, "rmtree", guarded("rmtree", shutil.rmtree))


@pytest.mark.technique("T14")
def test_a_kill_at_any_point_of_a_save_leaves_whole_checkpoints_only(
    tmp_path: Path, record_property: Record
) -> None:
    finished = False
    for call in range(100):
        directory = tmp_path / str(call)
        store = CheckpointStore(directory)
        for iteration in range(4):
            save(store, iteration)
        assert store.list() == [1, 2, 3]
        with pytest.MonkeyPatch.context() as patch:
            kill_at(call, patch)
            try:
                save(store, 4)
                finished = True
            except Dead:
                pass
        reopened = CheckpointStore(directory)
        assert hidden(directory) == []
        assert reopened.list() in ([1, 2, 3], [1, 2, 3, 4], [2, 3, 4])
        assert all(is_whole(reopened.load(iteration)) for iteration in reopened.list())
        if finished:
            break
    assert finished and call > 12
    record_property("tried", call + 1)


def test_a_full_disk_is_one_sentence_and_loses_nothing(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path)
    for iteration in range(3):
        save(store, iteration)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    for size in (0, 10, 500):  # no room for a file, then for a part of one
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
        try:
            with pytest.raises(
                CheckpointError, match=r"checkpoint 000003 cannot be written to '.*"
            ):
                save(store, 3)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert hidden(tmp_path) == []
        assert [is_whole(store.load(i)) for i in store.list()] == [True] * 3
    save(store, 3)
    assert store.list() == [1, 2, 3]


def test_a_replacement_that_cannot_be_named_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = CheckpointStore(tmp_path)
    save(store, 1)
    rename = os.rename

    def no_new_names(source: Path, target: Path) -> None:
        if Path(source).name.startswith(".tmp-new"):
            raise OSError(28, "No space left on device")
        rename(source, target)

    monkeypatch.setattr(os, "rename", no_new_names)
    with pytest.raises(CheckpointError, match="No space left on device"):
        save(store, 1)
    assert visible(tmp_path) == ["000001"] and hidden(tmp_path) == []
    assert is_whole(store.load(1))


def test_a_place_that_cannot_hold_checkpoints_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match="cannot hold checkpoints"):
        CheckpointStore(tmp_path / "file")


def test_a_save_without_permission_loses_nothing(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path / "run")
    save(store, 0)
    (tmp_path / "run").chmod(0o500)
    try:
        if os.access(tmp_path / "run", os.W_OK):
            pytest.skip("this user may write everywhere")
        with pytest.raises(CheckpointError, match="Permission denied"):
            save(store, 1)
    finally:
        (tmp_path / "run").chmod(0o700)
    assert is_whole(store.load(0))


def test_an_old_checkpoint_that_cannot_be_removed_is_reported_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    store = CheckpointStore(tmp_path, report=said.append)
    for iteration in range(3):
        save(store, iteration)

    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(store, "_remove", refuse)
    save(store, 3)
    assert store.list() == [0, 1, 2, 3]
    assert said == ["checkpoint 000000 cannot be removed: Permission denied"]
