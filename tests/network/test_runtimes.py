"""All runtimes compute the same, for any batch, from many threads, while they are swapped."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import deque
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from native_games import native
from some_networks import Nim, need, network

import zermelo
from zermelo.errors import UserError
from zermelo.network import NetworkEvaluator, NetworkOptions, architecture_for
from zermelo.network.graph import evaluate
from zermelo.network.measure import parallel_calls_per_second
from zermelo.network.positions import observations_of, sample_positions
from zermelo.network.runtime_numpy import NumpyOps
from zermelo.network.runtimes import BACKENDS, installed_backends
from zermelo.network.sparse.runtime import CoreRuntime
from zermelo.network.weights import random_weights
from zermelo.search import Search, SearchOptions

GAMES = ["tictactoe", "connect4", "othello?size=6", "hex?size=5", "checkers", "chess"]


@pytest.mark.parametrize("game", [*GAMES, "nim"])
def test_every_runtime_gives_the_same_answers(game: str) -> None:
    rules = Nim() if game == "nim" else zermelo.game(game)
    weights = network(rules)
    observations = observations_of(rules, sample_positions(rules, 9))
    answers = {
        backend: NetworkEvaluator(weights, backend, game=rules)(observations)
        for backend in installed_backends()
    }
    assert answers, "no runtime is installed"
    policy, value = next(iter(answers.values()))
    assert policy.shape == (9, rules.num_actions)
    assert value.shape == (9, 3)
    assert policy.std() > 0.1
    np.testing.assert_allclose(value.sum(axis=1), 1, atol=1e-5)
    for other_policy, other_value in answers.values():
        np.testing.assert_allclose(other_policy, policy, atol=1e-4)
        np.testing.assert_allclose(other_value, value, atol=1e-4)


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_runtime_tells_the_plies_left_of_a_network_with_that_head(backend: str) -> None:
    game = zermelo.game("connect4")
    observations = observations_of(game, sample_positions(game, 70))
    without = NetworkEvaluator(network(game, options=NetworkOptions(blocks=1, filters=8)), "numpy")
    assert without.with_plies_left is None
    weights = network(game)
    evaluator = NetworkEvaluator(weights, need(backend), game=game)
    assert evaluator.with_plies_left is not None
    policy, value, plies = evaluator.with_plies_left(observations)
    expected = evaluate(weights.tower, NumpyOps(weights), observations).moves_left
    assert expected is not None
    assert plies.shape == (70, 1) and plies.std() > 0
    np.testing.assert_allclose(plies, expected, atol=1e-3)
    for found, same in zip((policy, value), evaluator(observations), strict=True):
        np.testing.assert_array_equal(found, same)


@pytest.mark.technique("S10")
def test_a_search_asks_a_network_for_the_plies_left() -> None:
    game = zermelo.game("connect4")
    evaluator = NetworkEvaluator(network(game), "numpy", game=game)
    found = []
    for slope in (0.0, 0.5):
        options = SearchOptions(
            moves_left_slope=slope, moves_left_cap=1.0, moves_left_threshold=0.0
        )
        found.append(Search(game, evaluator, options).run(game.initial(), simulations=100))
    assert found[0].value != found[1].value


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_batch_of_any_size_is_the_same_as_one_by_one(backend: str) -> None:
    game = zermelo.game("connect4")
    evaluator = NetworkEvaluator(network(game), need(backend), game=game)
    observations = observations_of(game, sample_positions(game, 150))
    alone = [evaluator(observations[i : i + 1]) for i in range(len(observations))]
    policies, values = (np.concatenate(parts) for parts in zip(*alone, strict=True))
    for size in (2, 3, 5, 7, 11, 31, 64, 65, 150):
        policy, value = evaluator(observations[:size])
        np.testing.assert_allclose(policy, policies[:size], atol=1e-4)
        np.testing.assert_allclose(value, values[:size], atol=1e-4)


def test_batches_are_cut_into_few_pieces_with_little_padding() -> None:
    need("openvino")
    from zermelo.network.runtime_openvino import SIZES, pieces

    for count in range(1, 400):
        cut = pieces(count)
        assert set(cut) <= set(SIZES)
        assert sum(cut[:-1]) < count <= sum(cut)
        assert sum(cut) <= count * 8 / 7
        assert len(cut) <= 5 + count // 64


def test_a_large_network_is_compiled_once_for_any_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    need("openvino")
    from zermelo.network import runtime_openvino

    game = zermelo.game("tictactoe")
    weights = network(game)
    observations = observations_of(game, sample_positions(game, 13))
    expected = NetworkEvaluator(weights, "openvino")(observations)
    monkeypatch.setattr(runtime_openvino, "LARGE", 10)
    evaluator = NetworkEvaluator(weights, "openvino")
    for size in (13, 1, 7):
        policy, value = evaluator(observations[:size])
        np.testing.assert_allclose(policy, expected[0][:size], atol=1e-4)
        np.testing.assert_allclose(value, expected[1][:size], atol=1e-4)


@pytest.mark.parametrize("backend", BACKENDS)
def test_many_threads_may_ask_while_the_network_is_swapped(backend: str) -> None:
    game = zermelo.game("tictactoe")
    networks = [network(game, seed) for seed in (1, 2)]
    observations = observations_of(game, sample_positions(game, 4))
    allowed = [NetworkEvaluator(weights, need(backend))(observations)[0] for weights in networks]
    assert np.abs(allowed[0] - allowed[1]).max() > 0.1
    evaluator = NetworkEvaluator(networks[0], backend)
    wrong: list[Any] = []
    asked = [0] * 2
    stop = threading.Event()

    def ask(index: int) -> None:
        while not stop.is_set():
            policy, _ = evaluator(observations)
            if not any(np.allclose(policy, right, atol=1e-4) for right in allowed):
                wrong.append(policy)
            asked[index] += 1

    threads = [threading.Thread(target=ask, args=(index,)) for index in range(len(asked))]
    for thread in threads:
        thread.start()
    for turn in range(4):
        before = list(asked)
        evaluator.swap(networks[(turn + 1) % 2])
        while any(now <= then for now, then in zip(asked, before, strict=True)):
            stop.wait(0.001)
    evaluator.swap(networks[1])
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
    np.testing.assert_allclose(evaluator(observations)[0], allowed[1], atol=1e-4)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="Linux only")
def test_searching_threads_are_not_tied_to_a_core() -> None:
    game = zermelo.game("connect4")
    evaluator = NetworkEvaluator(network(game), need("openvino"))
    observations = observations_of(game, sample_positions(game, 16))
    allowed = os.sched_getaffinity(0)
    seen: list[set[int]] = []
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            evaluator(observations)
            seen.append(os.sched_getaffinity(0))

    thread = threading.Thread(target=ask)
    thread.start()
    while len(seen) < 5:
        identity = thread.native_id
        assert identity is not None
        seen.append(os.sched_getaffinity(identity))
        stop.wait(0.002)
    stop.set()
    thread.join()
    assert all(cores == allowed for cores in seen)


def test_only_a_network_of_the_same_game_and_shape_can_be_swapped_in() -> None:
    evaluator = NetworkEvaluator(network(zermelo.game("tictactoe")), installed_backends()[0])
    with pytest.raises(ValueError, match="connect4"):
        evaluator.swap(network(zermelo.game("connect4")))
    small = zermelo.game("hex?size=3")
    assert tuple(small.observation_shape) == evaluator.architecture.observation_shape
    assert small.num_actions == evaluator.architecture.num_actions
    with pytest.raises(ValueError, match="hex"):
        evaluator.swap(network(small))


def test_a_large_network_is_compiled_before_it_is_swapped_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    need("openvino")
    from zermelo.network import runtime_openvino

    monkeypatch.setattr(runtime_openvino, "LARGE", 10)
    game = zermelo.game("tictactoe")
    evaluator = NetworkEvaluator(network(game), "openvino", game=game)
    observations = observations_of(game, sample_positions(game, 3))
    evaluator(observations)
    evaluator.swap(network(game, 1))

    def compiled(self: Any, batch: int) -> Any:
        raise AssertionError("compiled in use")

    monkeypatch.setattr(runtime_openvino.OpenVinoRuntime, "compiled", compiled)
    evaluator(observations)


class _Watched:
    """A session that notes how many others are idle while it computes."""

    def __init__(self, evaluator: NetworkEvaluator, idle: list[int]) -> None:
        self.evaluator, self.idle = evaluator, idle

    def run(self, *_: Any) -> Any:
        self.idle.append(len(self.evaluator._ready.idle))


def test_warming_up_leaves_other_sessions_to_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = NetworkEvaluator(network(zermelo.game("tictactoe")), installed_backends()[0])
    idle: list[int] = []
    monkeypatch.setattr(
        evaluator._ready, "runtime", SimpleNamespace(session=lambda: _Watched(evaluator, idle))
    )
    evaluator.warm_up(3, 1)
    assert set(idle) == {2}
    assert len(evaluator._ready.idle) == 3


def test_warming_up_for_fewer_threads_leaves_the_others_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evaluator = NetworkEvaluator(network(zermelo.game("tictactoe")), installed_backends()[0])
    idle: list[int] = []
    monkeypatch.setattr(
        evaluator._ready, "runtime", SimpleNamespace(session=lambda: _Watched(evaluator, idle))
    )
    evaluator.warm_up(8, 1)
    idle.clear()
    evaluator.warm_up(2, 16)
    assert len(idle) == 2 * 6  # sizes 1 to 16, and 16


def test_a_network_of_the_core_needs_no_warming(monkeypatch: pytest.MonkeyPatch) -> None:
    game = native("tictactoe")
    options = NetworkOptions(kind="sparse", hidden=64, value_hidden=32)
    evaluator = NetworkEvaluator(random_weights(architecture_for(game, options)), game=game)
    monkeypatch.setattr(CoreRuntime, "run", pytest.fail)
    evaluator.warm_up(256, 1024)


def test_warming_up_does_not_mind_that_every_session_is_in_use() -> None:
    evaluator = NetworkEvaluator(network(zermelo.game("tictactoe")), installed_backends()[0])
    evaluator.warm_up(2, 1)

    class Stolen(deque[Any]):
        """Seems to have a session until somebody asks for it."""

        def __len__(self) -> int:
            return 1

    evaluator._ready.idle = Stolen()
    evaluator.warm_up(2, 1)


@pytest.mark.timeout(20)
def test_a_call_that_fails_ends_the_measurement_with_its_error() -> None:
    def fail() -> None:
        raise RuntimeError("the device is gone")

    for calls in ([fail], [fail, lambda: None], [lambda: None, lambda: None, fail]):
        with pytest.raises(RuntimeError, match="the device is gone"):
            parallel_calls_per_second(calls, 0.01)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_search_with_a_network_solves_what_it_should(threads: int) -> None:
    game = native("tictactoe")
    evaluator = NetworkEvaluator(network(game), installed_backends()[0], game=game)
    evaluator.warm_up(threads, 8)
    options = SearchOptions(threads=threads, leaves_per_tree=4)
    search = Search(game, evaluator, options)
    result = search.run(game.parse_position("XX./OO./..."), simulations=200)
    assert result.best.text == "c3"
    assert result.proven is not None


def test_one_thread_searches_the_same_tree_whatever_the_batch_was_padded_to() -> None:
    game = zermelo.game("connect4")
    evaluator = NetworkEvaluator(network(game), installed_backends()[0], game=game)
    visits = []
    for _ in range(2):
        search = Search(game, evaluator, SearchOptions(leaves_per_tree=5))
        visits.append(search.run(game.initial(), simulations=300).visits.tolist())
    assert visits[0] == visits[1]


def test_observations_of_the_wrong_shape_are_refused() -> None:
    evaluator = NetworkEvaluator(network(zermelo.game("tictactoe")), installed_backends()[0])
    for shape in ((2, 3, 3), (1, 9, 3, 3), (0, 2, 3, 3)):
        with pytest.raises(ValueError, match="observations of shape"):
            evaluator(np.zeros(shape, np.float32))
    with pytest.raises(UserError, match="not for connect4"):
        NetworkEvaluator(network(zermelo.game("tictactoe")), "onnx", game=zermelo.game("connect4"))


@pytest.mark.parametrize("backend", ["openvino", "onnx"])
def test_playing_needs_no_torch(backend: str) -> None:
    code = f"""
import sys
sys.modules["torch"] = None
sys.modules["onnx"] = None
sys.modules["safetensors"] = None
import zermelo
from zermelo.network import NetworkEvaluator, NetworkOptions, architecture_for, random_weights
from zermelo.search import Search
game = zermelo.game("tictactoe")
weights = random_weights(architecture_for(game, NetworkOptions(blocks=1, filters=4)))
evaluator = NetworkEvaluator(weights, "{need(backend)}", game=game)
print(Search(game, evaluator).run(game.initial(), 20).root_visits)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "21", done.stderr


def test_importing_zermelo_imports_no_runtime() -> None:
    code = (
        "import sys, zermelo, zermelo.network, zermelo.cli.bench; "
        "print([m for m in ('torch', 'openvino', 'onnxruntime', 'onnx') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stderr
