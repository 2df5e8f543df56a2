"""Games side by side in one process share the network's batches and are the games they were."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_networks import save_small

import zermelo
from zermelo import _core
from zermelo.matches.contestants import BOARDS, GATHER, can_gather, make_contestants
from zermelo.matches.match import MatchOptions, play_match
from zermelo.network import NetworkEvaluator, load_network
from zermelo.search import Search, SearchOptions

CONNECT4 = zermelo.game("connect4")


@pytest.fixture
def network(tmp_path: Path) -> str:
    return str(save_small(tmp_path / "connect4.onnx"))


def test_searches_in_threads_share_batches_and_find_the_same() -> None:
    sizes: list[int] = []

    def counting(observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sizes.append(len(observations))
        cells = observations.reshape(len(observations), -1)  # some policy and value of each
        weights = np.linspace(-1, 1, cells.shape[1] * 8, dtype=np.float32).reshape(8, -1)
        answers = np.sin(100 * (cells[:, None, :] * weights).sum(-1))
        return answers[:, :7], answers[:, 7]

    gathering = _core.GatheringEvaluator(counting, 4)
    options = SearchOptions(cache_mib=0)
    states = [CONNECT4.play(CONNECT4.initial(), action) for action in range(7)]
    found: dict[int, list[int]] = {}

    def search(index: int) -> None:
        result = Search(CONNECT4, gathering, options).run(states[index], simulations=150)
        found[index] = list(result.visits)

    threads = [threading.Thread(target=search, args=(i,)) for i in range(7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 2 <= max(sizes) <= 4
    for index, state in enumerate(states):
        alone = Search(CONNECT4, counting, options).run(state, simulations=150)
        assert found[index] == list(alone.visits)


def test_an_error_of_the_network_ends_every_search_that_waits_for_it() -> None:
    def failing(observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        raise ZeroDivisionError("the network is away")

    gathering = _core.GatheringEvaluator(failing, 4)
    errors: list[Exception] = []

    def search() -> None:
        try:
            Search(CONNECT4, gathering).run(CONNECT4.initial(), simulations=50)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=search) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) == 6
    assert any(isinstance(error, ZeroDivisionError) for error in errors)
    assert all("the network is away" in str(error) for error in errors)


def test_a_gathering_evaluator_serves_one_game_only() -> None:
    for game, other in (("connect4", "othello"), ("hex?size=11", "hex?size=5")):
        gathering = _core.GatheringEvaluator(_core.UniformEvaluator(), 4)
        Search(game, gathering)
        Search(game, gathering)
        with pytest.raises(ValueError, match="one game only"):
            Search(other, gathering)


@pytest.mark.parametrize("precision", ["f32", "int8"])
def test_with_a_fixed_batch_neighbours_do_not_matter(network: str, precision: str) -> None:
    evaluator = NetworkEvaluator(
        load_network(network), "openvino", precision, game=CONNECT4, fixed_batch=GATHER
    )
    rng = np.random.default_rng(0)
    batch = (rng.random((GATHER, *CONNECT4.observation_shape)) < 0.3).astype(np.float32)
    alone = [evaluator(batch[i : i + 1]) for i in range(GATHER)]
    for count in (2, 5, GATHER):
        order = rng.permutation(GATHER)[:count]
        policy, value = evaluator(batch[order])
        assert len(policy) == len(value) == count
        for row, index in enumerate(order):
            assert policy[row].tobytes() == alone[index][0][0].tobytes()
            assert value[row].tobytes() == alone[index][1][0].tobytes()


def test_a_match_is_the_same_with_any_number_of_boards_and_processes(
    network: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides = [f"{network}?simulations=30", f"{network}?simulations=30&c_puct=3"]
    options = MatchOptions(games=20, seed=5)
    side_by_side = play_match(sides, "connect4", options)
    processes = play_match(sides, "connect4", replace(options, concurrency=2))
    monkeypatch.setattr("zermelo.matches.contestants.BOARDS", 2)
    few = play_match(sides, "connect4", options)
    assert side_by_side.records == processes.records == few.records
    assert all(speed > 0 for speed in side_by_side.speeds)


def test_an_error_in_a_game_names_it(network: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("zermelo.players.search_player.SearchPlayer.choose", fail)
    with pytest.raises(RuntimeError, match=r"game \d+: ZeroDivisionError: oh"):
        play_match([network, f"{network}?c_puct=3"], "connect4", MatchOptions(games=4))


@pytest.mark.parametrize(
    ("other", "may"),
    [
        ("{network}?simulations=10", True),
        ("rollout?simulations=10", True),
        ("random", True),
        ("{network}?seconds=0.1", False),
        ("{network}?simulations=10&threads=2", False),
        ("{network}?simulations=10&leaves_per_tree=8", False),
        ("policy?weights={network}", False),
        ("perfect", False),
        ("uci:stockfish", False),
    ],
)
def test_only_players_that_lose_nothing_by_it_sit_side_by_side(
    network: str, other: str, may: bool
) -> None:
    specs = [f"{network}?simulations=10", other.format(network=network)]
    assert can_gather(specs) is may
    assert not can_gather(["rollout", "random"])  # no network: no batches to share
    if may:
        assert make_contestants(specs, CONNECT4).boards == BOARDS
