"""The processor network: what is trained is what the core computes, and searches use it at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from native_games import native

import zermelo
from zermelo import _core
from zermelo.errors import UserError
from zermelo.network import (
    NetworkEvaluator,
    NetworkOptions,
    Weights,
    architecture_for,
    load_network,
    random_weights,
    save_network,
)
from zermelo.network.build_onnx import onnx_bytes
from zermelo.network.positions import sample_observations, sample_positions
from zermelo.network.sparse.architecture import SparseArchitecture
from zermelo.network.sparse.fixed_point import UNITS
from zermelo.network.sparse.runtime import CoreRuntime
from zermelo.network.sparse.windows import windows_of
from zermelo.search import Search, SearchOptions

GAMES = {
    "connect4": NetworkOptions(kind="sparse", value_hidden=32, windows="line4"),
    "chess": NetworkOptions(kind="sparse", hidden=512, value_hidden=32),
    "chess with attacks": NetworkOptions(
        kind="sparse", hidden=128, value_hidden=32, inputs="attacks"
    ),
    "hex?size=7": NetworkOptions(kind="sparse", hidden=64, policy_hidden=0, value_hidden=64),
    "othello": NetworkOptions(kind="sparse", hidden=128, value_hidden=32, windows="line3 2x2"),
}


def game_of(name: str) -> Any:
    return zermelo.game(name.split(" with ", maxsplit=1)[0])


def loud_weights(game: Any, options: NetworkOptions, seed: int = 0) -> Weights:
    """A network that has opinions: its numbers fill their ranges."""
    architecture = architecture_for(game, options)
    rng = np.random.default_rng(seed)
    arrays = {}
    for name, kind in architecture.dtypes().items():
        most = UNITS[name][1] if name in ("actions", "value2") else UNITS[name][0] // 3
        drawn = rng.integers(-most, most + 1, architecture.shapes()[name])
        arrays[name] = drawn.astype(kind)
    return Weights(architecture, arrays, "a loud network").check()


@pytest.mark.technique("T17")
@pytest.mark.parametrize("name", GAMES)
def test_training_computes_exactly_what_the_core_computes(name: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from zermelo.network.sparse.module import SparseModule

    game, options = game_of(name), GAMES[name]
    weights = loud_weights(game, options)
    assert isinstance(weights.architecture, SparseArchitecture)
    module = SparseModule(weights.architecture)
    with torch.no_grad():
        for key, parameter in module.named_parameters():
            parameter.copy_(torch.from_numpy(weights.arrays[key].astype(np.float32)))
            parameter.div_(UNITS[key][0])
    for key, array in module.weights().arrays.items():
        np.testing.assert_array_equal(array, weights.arrays[key], key)
    observations = sample_observations(game, 300)
    actions = torch.arange(game.num_actions).expand(300, -1)
    with torch.no_grad():
        heads = module.legal_heads(module.prepare(observations), actions)
    policy, wdl = NetworkEvaluator(weights, game=game)(observations)
    np.testing.assert_array_equal(policy, heads.policy.numpy())
    np.testing.assert_allclose(wdl, heads.value.softmax(1).numpy(), atol=1e-6)
    assert policy.std() > 1
    assert wdl.std(0).min() > 0.01


@pytest.mark.technique("T17")
@pytest.mark.parametrize("name", GAMES)
def test_all_kinds_of_arithmetic_of_this_machine_give_the_same_bits(name: str) -> None:
    game = game_of(name)
    weights = loud_weights(game, GAMES[name])
    planes = sample_observations(game, 500)
    wanted = CoreRuntime(weights, "portable").run(planes)
    for kernels in ("avx2", "avx512"):
        try:
            runtime = CoreRuntime(weights, kernels)
        except ValueError:
            continue
        for found, expected in zip(runtime.run(planes), wanted, strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.technique("T17")
def test_a_search_with_it_is_the_search_with_the_same_answers_from_python() -> None:
    game = zermelo.game("connect4")
    weights = loud_weights(game, GAMES["connect4"])
    evaluator = NetworkEvaluator(weights, game=game)
    runtime = CoreRuntime(weights)
    results = [
        Search(game, asked, SearchOptions()).run(game.initial(), simulations=2000)
        for asked in (evaluator, runtime.run)
    ]
    assert results[0].visits.tolist() == results[1].visits.tolist()
    assert results[0].q.tolist() == results[1].q.tolist()


def test_searches_take_an_exchanged_network_at_once() -> None:
    game = zermelo.game("connect4")
    first, second = (loud_weights(game, GAMES["connect4"], seed) for seed in (1, 2))
    evaluator = NetworkEvaluator(first, game=game)
    search = Search(game, evaluator, SearchOptions(cache_mib=0, tree_reuse=False))
    before = search.run(game.initial(), simulations=300)
    evaluator.swap(second)
    after = search.run(game.initial(), simulations=300)
    fresh = Search(game, NetworkEvaluator(second, game=game), SearchOptions(cache_mib=0)).run(
        game.initial(), simulations=300
    )
    assert after.visits.tolist() == fresh.visits.tolist() != before.visits.tolist()


def test_a_tower_does_not_take_its_place() -> None:
    game = zermelo.game("connect4")
    evaluator = NetworkEvaluator(loud_weights(game, GAMES["connect4"]), game=game)
    tower = random_weights(architecture_for(game, NetworkOptions(blocks=1, filters=4)))
    with pytest.raises(ValueError, match="another kind"):
        evaluator.swap(tower)


def test_a_game_in_python_has_such_a_network_too() -> None:
    game = zermelo.game("examples/my_game.py")
    weights = random_weights(architecture_for(game, NetworkOptions(kind="sparse", value_hidden=32)))
    evaluator = NetworkEvaluator(weights, game=game)
    result = Search(game, evaluator).run(game.initial(), simulations=100)
    assert result.visits.sum() == 99 or result.visits.sum() == 100


@pytest.mark.parametrize("name", GAMES)
def test_a_new_network_begins_close_to_uniform_and_even(name: str) -> None:
    game = game_of(name)
    weights = random_weights(architecture_for(game, GAMES[name]))
    policy, wdl = NetworkEvaluator(weights, game=game)(sample_observations(game, 100))
    assert 0 < policy.std(1).max() < 0.5
    assert np.abs(wdl[:, 0] - wdl[:, 2]).max() < 0.3


def test_files_keep_the_integers(tmp_path: Path) -> None:
    game = zermelo.game("connect4")
    weights = loud_weights(game, GAMES["connect4"])
    save_network(weights, tmp_path / "network.safetensors")
    found = load_network(tmp_path / "network.safetensors", game)
    assert found.architecture == weights.architecture
    for name, array in weights.arrays.items():
        assert found.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(found.arrays[name], array)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"hidden": 100}, "hidden is 100, not a multiple of 64"),
        ({"hidden": 2048}, "hidden is 2048, not a multiple"),
        ({"hidden": 1 << 20}, "hidden is 1048576, which is out of range"),
        ({"policy_hidden": 5}, "policy_hidden is 5"),
        ({"value_hidden": 0}, "value_hidden is 0"),
        ({"windows": "circle"}, "'circle' is no window"),
        ({"windows": "4x4"}, "'4x4' has not 1 to 12 cells"),
        ({"windows": "3x4"}, "contents"),
        ({"binary_planes": 3}, "more binary and scalar planes than planes"),
        ({"scalar_scales": [float("nan")]}, "not all finite"),
        ({"unheard_of": 1}, "unknown size"),
        ({"game": "x.py"}, "Python file"),
    ],
)
def test_a_description_that_makes_no_sense_is_refused(
    change: dict[str, Any], sentence: str
) -> None:
    game = zermelo.game("connect4")
    values = architecture_for(game, GAMES["connect4"]).to_dict() | change
    with pytest.raises(UserError, match=sentence):
        SparseArchitecture.from_dict(values)


def test_a_file_with_weights_out_of_range_is_refused(tmp_path: Path) -> None:
    game = zermelo.game("connect4")
    weights = loud_weights(game, GAMES["connect4"])
    arrays = dict(weights.arrays)
    arrays["table"] = np.full_like(arrays["table"], 2000)
    save_network(Weights(weights.architecture, arrays), tmp_path / "network.safetensors")
    with pytest.raises(UserError, match=r"network.safetensors: the weights 'table' .* 1023"):
        load_network(tmp_path / "network.safetensors", game)


def test_windows_are_every_place_of_their_shape() -> None:
    assert len(windows_of(6, 7, "line4")) == 69  # the lines of Connect Four
    assert windows_of(2, 3, "2x2") == [[0, 1, 3, 4], [1, 2, 4, 5]]
    assert windows_of(3, 3, "") == []


@pytest.mark.parametrize("name", ["connect4", "chess", "checkers"])
def test_packing_planes_gives_the_packed_observation(name: str) -> None:
    game = native(name)
    features = _core.SparseFeatures(game.observation_layout)
    for position in sample_positions(game, 50):
        planes = np.asarray(game.observe(position.state), np.float32)[None]
        packed = features.pack(planes)
        np.testing.assert_array_equal(game.expand_observations(packed), planes)


ONNX = [name for name, options in GAMES.items() if not options.inputs]


@pytest.mark.parametrize("name", [*ONNX, "examples/my_game.py"])
def test_the_graph_for_other_programs_computes_the_same(name: str, tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    game = game_of(name)
    weights = loud_weights(game, GAMES.get(name, NetworkOptions(kind="sparse", value_hidden=32)))
    if not name.endswith(".py"):
        save_network(weights, tmp_path / "network.onnx")
        found = load_network(tmp_path / "network.onnx", game)
        assert found.architecture == weights.architecture
        for key, array in weights.arrays.items():
            np.testing.assert_array_equal(found.arrays[key], array, key)
    session = onnxruntime.InferenceSession(onnx_bytes(weights))
    planes = sample_observations(game, 200)
    policy, wdl = CoreRuntime(weights).run(planes)
    answers = session.run(["policy", "value"], {"observations": planes})
    np.testing.assert_array_equal(answers[0], policy)
    np.testing.assert_allclose(answers[1], wdl, atol=1e-6)
