"""A thousand bit flips and a thousand truncations: each is detected, none is fatal."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from small_checkpoints import is_whole, save

import zermelo
from zermelo.checkpoint import CheckpointError, CheckpointStore
from zermelo.network import NetworkOptions, architecture_for, random_weights, save_network

Record = Callable[[str, object], None]

pytest.importorskip("safetensors", reason="safetensors is not installed")

TRIES = 1000


def flipped(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def truncated(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data))]


@pytest.mark.parametrize("damage", [flipped, truncated])
def test_any_damage_to_any_file_is_detected_and_the_previous_is_used(
    tmp_path: Path, damage: object, record_property: Record
) -> None:
    said: list[str] = []
    store = CheckpointStore(tmp_path, report=said.append)
    save(store, 1)
    directory = save(store, 2).directory
    originals = {path: path.read_bytes() for path in sorted(directory.iterdir())}
    rng = random.Random(1)
    assert callable(damage)
    for _ in range(TRIES):
        path = rng.choice(list(originals))
        path.write_bytes(damage(originals[path], rng))
        found = store.newest()
        assert found is not None and found.iteration == 1, path.name
        assert path.name in said[-1] and "000002" in said[-1] and "000001" in said[-1]
        path.write_bytes(originals[path])
    assert len(said) == TRIES
    found = store.newest()
    assert found is not None and found.iteration == 2 and is_whole(found)
    record_property("tried", TRIES)


def test_weights_of_another_network_are_detected(tmp_path: Path, record_property: Record) -> None:
    said: list[str] = []
    store = CheckpointStore(tmp_path / "store", report=said.append)
    save(store, 1)
    directory = save(store, 2).directory
    game = zermelo.game("tictactoe")
    for options in (
        NetworkOptions(blocks=2, filters=2, policy_filters=1, value_filters=1, value_hidden=4),
        NetworkOptions(blocks=1, filters=4, policy_filters=1, value_filters=1, value_hidden=4),
    ):
        other = random_weights(architecture_for(game, options), 1)
        save_network(other, directory / "weights.safetensors")
        found = store.newest()
        assert found is not None and found.iteration == 1
        assert "weights.safetensors" in said[-1] and "000002" in said[-1] and "000001" in said[-1]
        with pytest.raises(CheckpointError, match=r"weights\.safetensors"):
            store.load(2).weights()
    record_property("tried", 2)


def test_every_prefix_and_every_bit_of_a_manifest_counts(
    tmp_path: Path, record_property: Record
) -> None:
    store = CheckpointStore(tmp_path)
    path = save(store, 2).directory / "manifest.json"
    data = path.read_bytes()
    for size in range(len(data)):
        path.write_bytes(data[:size])
        assert "manifest.json" in store.verify(2)
    for index in range(len(data)):
        changed = bytearray(data)
        changed[index] ^= 1 << index % 8
        path.write_bytes(changed)
        assert "manifest.json" in store.verify(2), index
    path.write_bytes(data + b"\n")
    assert "manifest.json" in store.verify(2)
    path.write_bytes(data)
    assert store.verify(2) == ""
    record_property("tried", 2 * len(data) + 1)
