"""What goes along to another machine, where nothing of this one's disk is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from zermelo.cluster.luggage import Luggage


def test_luggage_brings_a_game_file_to_a_node(tmp_path: Path) -> None:
    game = tmp_path / "my_game.py"
    game.write_text("SIZE = 3\n")
    unpacked = Luggage.of(f"{game}:Mine?size=3").unpack()
    there = unpacked.game(f"{game}:Mine?size=3")
    assert there.endswith("my_game.py:Mine?size=3") and not there.startswith(str(tmp_path))
    place = Path(there.partition(":Mine")[0])
    assert place.read_text() == "SIZE = 3\n"
    del unpacked
    assert not place.exists()


@pytest.mark.parametrize("spec", ["{}?simulations=8", "search?weights={}&simulations=8"])
def test_luggage_brings_a_runs_newest_network_to_a_node(tmp_path: Path, spec: str) -> None:
    """A run is a directory, which stands for a checkpoint in it."""
    run = tmp_path / "run"
    checkpoint = run / "checkpoints" / "000003"
    checkpoint.mkdir(parents=True)
    (checkpoint / "manifest.json").write_text("{}")
    (checkpoint / "weights.safetensors").write_bytes(b"numbers")
    luggage = Luggage.of("tictactoe", [spec.format(run)])
    shutil.rmtree(run)  # there is none there
    unpacked = luggage.unpack()
    there = unpacked.player(spec.format(run))
    assert str(tmp_path) not in there and there.endswith("simulations=8")
    before, _, after = spec.partition("{}")
    place = there.removeprefix(before).removesuffix(after)
    assert Path(place).read_bytes() == b"numbers"
