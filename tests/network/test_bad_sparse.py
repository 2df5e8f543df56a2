"""Descriptions of processor networks by strangers: refused at once, whatever they ask for."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zermelo
from zermelo import _core
from zermelo.errors import UserError
from zermelo.network import NetworkEvaluator, NetworkOptions, architecture_for, random_weights
from zermelo.network.kinds import architecture_from_dict

OPTIONS = NetworkOptions(kind="sparse", value_hidden=32)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rows": 1 << 20, "columns": 1 << 20}, "more than 2,097,152 cells"),
        ({"rows": 1 << 16, "columns": 1 << 16}, "more than 2,097,152 cells"),
        ({"rows": 1 << 13, "columns": 1 << 13}, "more than 2,097,152 cells"),
        ({"rows": 1 << 20, "columns": 2, "planes": 4096}, "more than 2,097,152 cells"),
        ({"rows": 1 << 10, "columns": 1 << 10, "windows": "line3"}, "too many for a board"),
        ({"windows": "1x1 " * 100_000}, "no names of windows"),
        ({"windows": "\x1b[31m"}, "no names of windows"),
        ({"planes": "x" * 100_000}, "planes is 'xxx"),
        ({"planes": None}, "planes is None"),
        ({"planes": 10**4000}, "out of range"),
        ({"scalar_scales": "text"}, "no list of its scalar planes"),
    ],
)
def test_a_description_cannot_ask_for_time_or_memory(change: dict[str, Any], sentence: str) -> None:
    values = architecture_for(zermelo.game("tictactoe"), OPTIONS).to_dict() | change
    tracemalloc.start()
    try:
        with pytest.raises(UserError, match=sentence) as refused:
            architecture_from_dict(values)
        assert tracemalloc.get_traced_memory()[1] < 1 << 22
    finally:
        tracemalloc.stop()
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize(
    "layout",
    [
        (1 << 16, 1 << 16, 1, [], 0),
        (1 << 16, (1 << 16) - 1, 1, [], 0),
        (1 << 20, 2, 4096, [], 0),
        (-1, 3, 1, [], 0),
        (3, 3, -1, [], 2),
    ],
)
def test_the_core_bounds_sizes_before_it_multiplies_them(layout: Any) -> None:
    with pytest.raises(ValueError, match="negative sizes, or more than"):
        _core.SparseFeatures(layout)


@pytest.mark.parametrize(
    "change", [{"binary_planes": 1}, {"binary_planes": 1, "scalar_scales": [1.0]}]
)
def test_a_network_that_packs_positions_in_another_way_is_refused(change: dict[str, Any]) -> None:
    game = zermelo.game("tictactoe")
    other = architecture_from_dict(architecture_for(game, OPTIONS).to_dict() | change)
    with pytest.raises(UserError, match="another form of the positions of tictactoe"):
        NetworkEvaluator(random_weights(other), game=game)


def test_bits_off_the_board_count_for_nothing() -> None:
    features = _core.SparseFeatures((3, 3, 2, [], 0), [0, 1], [[0, 1, 2]])
    board = np.array([[0b1, 0b10]], np.uint64)
    more = board | np.uint64(~0b1_1111_1111 & (1 << 64) - 1)
    for found, expected in zip(features.read(more), features.read(board), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_thread_that_searched_may_end_after_python_does(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        """
import threading
import zermelo
from zermelo.network import NetworkEvaluator, NetworkOptions, architecture_for, random_weights
from zermelo.search import Search

def search():
    game = zermelo.game("tictactoe")
    options = NetworkOptions(kind="sparse", value_hidden=32)
    evaluator = NetworkEvaluator(random_weights(architecture_for(game, options)), game=game)
    Search(game, evaluator).run(game.initial(), simulations=10)

threads = [threading.Thread(target=search, daemon=True) for _ in range(20)]
for thread in threads:
    thread.start()
for thread in threads:
    while thread.is_alive():
        thread.join(0.01)
"""
    )
    ended = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
