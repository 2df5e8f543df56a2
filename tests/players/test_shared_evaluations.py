"""Players of one network share its evaluations where that changes no move."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from small_networks import save_small, small_weights

import zermelo
from zermelo.matches.match import MatchOptions, play_match
from zermelo.network import save_network
from zermelo.players.search_player import SearchPlayer

CONNECT4 = zermelo.game("connect4")
EXACT: dict[str, Any] = {"cache_symmetry": False, "backend": "openvino", "gather": 8}


@pytest.fixture
def network(tmp_path: Path) -> str:
    return str(save_small(tmp_path / "connect4.onnx"))


def prepared(network: str, **settings: Any) -> SearchPlayer:
    player = SearchPlayer(simulations=40, weights=network, **(EXACT | settings))
    player.prepare(CONNECT4)
    return player


def cache_of(player: SearchPlayer) -> Any:
    assert player._search is not None
    return player._search.cache


def test_two_players_of_one_network_share_its_evaluations(network: str) -> None:
    one, other = prepared(network), prepared(network, solver=False, c_puct=3.0)
    assert cache_of(one) is cache_of(other)
    one.choose(CONNECT4, CONNECT4.initial())
    asked = cache_of(one).misses
    one.start_game()
    one.choose(CONNECT4, CONNECT4.initial())
    assert cache_of(one).misses == asked  # a new game asks the network nothing that it knows


@pytest.mark.parametrize(
    "settings",
    [
        {"precision": "int8"},
        {"policy_temperature": 2.0},
        {"cache_mib": 1},
        {"gather": 4},
        {"gather": 0},
        {"cache_symmetry": True},
        {"cache_history": False},
        {"cache_clock": False},
    ],
    ids=str,
)
def test_nothing_is_shared_that_could_change_a_move(
    network: str, settings: dict[str, object]
) -> None:
    assert cache_of(prepared(network)) is not cache_of(prepared(network, **settings))


def test_a_file_that_was_replaced_is_another_network(network: str) -> None:
    one = prepared(network)
    save_network(small_weights(seed=1, blocks=2), Path(network))
    other = prepared(network)
    assert cache_of(one) is not cache_of(other)
    assert one._evaluator is not other._evaluator
    assert other._evaluator is prepared(network)._evaluator


def test_the_evaluations_go_with_the_last_player_that_uses_them(network: str) -> None:
    from zermelo.players.search_player import _shared_caches

    before = len(_shared_caches)
    players = [prepared(network), prepared(network)]
    assert len(_shared_caches) == before + 1
    players.clear()
    assert len(_shared_caches) == before


def test_a_match_is_the_same_with_and_without_kept_evaluations(network: str) -> None:
    options = MatchOptions(games=6, seed=3)
    settings = ["c_puct=1.5", "c_puct=2.5"]
    sides = [f"{network}?simulations=30&{text}" for text in settings]
    kept = play_match(sides, "connect4", options)
    fresh = play_match([f"{side}&cache_mib=0" for side in sides], "connect4", options)
    assert [r.actions for r in kept.records] == [r.actions for r in fresh.records]
