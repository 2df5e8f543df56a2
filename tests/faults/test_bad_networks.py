"""Networks that break in the middle: trees stay sound, and it is one player's fault."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_networks import small_weights

import zermelo
from zermelo.cli import main
from zermelo.matches.match import MatchOptions, play_match
from zermelo.network import save_network
from zermelo.search import Search, SearchOptions

Record = Callable[[str, object], None]
GAME: Any = zermelo.game("connect4")
HEADS: dict[str, Callable[[np.ndarray, np.ndarray], Any]] = {
    "policy nan": lambda policy, value: (policy * np.nan, value),
    "policy inf": lambda policy, value: (policy + np.inf, value),
    "policy shape": lambda policy, value: (policy[:, 1:], value),
    "value nan": lambda policy, value: (policy, value * np.nan),
    "value large": lambda policy, value: (policy, value + 3),
    "value shape": lambda policy, value: (policy, np.zeros((len(value), 2))),
}


@pytest.mark.parametrize("head", HEADS)
def test_a_fault_in_any_batch_leaves_a_sound_tree(head: str, record_property: Record) -> None:
    for batch in range(1, 51):
        left = [batch]

        def evaluate(observations: np.ndarray, left: list[int] = left) -> Any:
            left[0] -= 1
            size = len(observations)
            policy, value = np.zeros((size, 7), np.float32), np.zeros(size, np.float32)
            return HEADS[head](policy, value) if left[0] == 0 else (policy, value)

        search = Search(GAME, evaluate, SearchOptions(cache_mib=0))
        with pytest.raises((RuntimeError, ValueError)):
            search.run(GAME.initial(), simulations=60)
        result = search.run(GAME.initial(), simulations=60)
        assert np.isfinite(result.value)
        assert result.visits.sum() == result.root_visits - 1
    record_property("tried", 50)


def overflowing(directory: Path) -> Path:
    """A network of finite numbers whose answers are not."""
    weights = small_weights("tictactoe")
    huge = {
        name: np.full_like(array, 3e38) if array.ndim > 1 else array
        for name, array in weights.arrays.items()
    }
    path = directory / "huge.safetensors"
    save_network(weights.__class__(weights.architecture, huge, "huge"), path)
    return path


def test_a_network_that_overflows_loses_its_games_and_no_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = overflowing(tmp_path)
    played = play_match([f"{path}?simulations=8", "random"], "tictactoe", MatchOptions(games=4))
    assert len(played.records) == 4
    kinds = [record.failure.kind for record in played.records if record.failure is not None]
    assert kinds == ["bad network"] * 4
    code = main(["analyse", "tictactoe", "--weights", str(path), "--simulations", "8"])
    said = capsys.readouterr().err
    assert code == 2
    assert "the network cannot be used" in said and "Traceback" not in said
