"""Every way to compute the processor network gives the same bits; what its rounding changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scripts import load_script
from test_sparse import GAMES, game_of, loud_weights

from zermelo.network import NetworkEvaluator
from zermelo.network.accuracy import difference
from zermelo.network.positions import SampledPosition, sample_positions
from zermelo.network.sparse.architecture import SparseArchitecture
from zermelo.network.sparse.runtime import CoreRuntime

torch: Any = pytest.importorskip("torch", reason="torch is not installed")
MANY = {"chess with attacks": 100_000, "connect4": 100_000}
FAST = ("avx2", "avx512")


def module_of(weights: Any) -> Any:
    from zermelo.network.sparse.module import SparseModule

    assert isinstance(weights.architecture, SparseArchitecture)
    module = SparseModule(weights.architecture)
    module.adopt(weights)
    return module


def packed_of(game: Any, positions: list[SampledPosition]) -> tuple[Any, Any, Any]:
    """Packed observations, legal actions one position after the other, where each begins."""
    packed = np.stack([game.observe_packed(position.state) for position in positions])
    actions = np.array([a for position in positions for a in position.actions], np.int64)
    counts = [len(position.actions) for position in positions]
    return packed, actions, np.cumsum([0, *counts], dtype=np.int64)


def trained_answers(module: Any, game: Any, positions: list[SampledPosition]) -> tuple[Any, Any]:
    """Logits of the legal actions, one position after the other, and value logits, of torch."""
    logits, values = [], []
    for start in range(0, len(positions), 2048):
        part = positions[start : start + 2048]
        packed, _, offsets = packed_of(game, part)
        wide = np.zeros((len(part), int(np.diff(offsets).max())), np.int64)
        for row, position in enumerate(part):
            wide[row, : len(position.actions)] = position.actions
        with torch.no_grad():
            heads = module.legal_heads(module.prepare(packed), torch.from_numpy(wide))
        found = heads.policy.numpy()
        logits += [found[row, : len(position.actions)] for row, position in enumerate(part)]
        values.append(heads.value.double().softmax(1).numpy())
    return np.concatenate(logits), np.concatenate(values)


@pytest.mark.slow
@pytest.mark.technique("T17")
@pytest.mark.parametrize("name", MANY)
def test_a_hundred_thousand_positions_get_the_same_bits_from_every_arithmetic(name: str) -> None:
    game = game_of(name)
    weights = loud_weights(game, GAMES[name])
    positions = sample_positions(game, MANY[name])
    packed, actions, offsets = packed_of(game, positions)
    answers = CoreRuntime(weights, "portable").network.evaluate_legal(packed, actions, offsets)
    compared = 0
    for kernels in FAST:
        try:
            network = CoreRuntime(weights, kernels).network
        except ValueError:  # this machine has them not
            continue
        compared += 1
        for found, wanted in zip(
            network.evaluate_legal(packed, actions, offsets), answers, strict=True
        ):
            np.testing.assert_array_equal(found, wanted)
    logits, values = trained_answers(module_of(weights), game, positions)
    np.testing.assert_array_equal(logits, answers[0])
    np.testing.assert_allclose(values, answers[1], atol=1e-6)
    assert compared or pytest.skip("this machine has no other kernels than the portable ones")


@pytest.mark.parametrize("name", GAMES)
def test_legal_actions_alone_have_the_logits_that_all_actions_have(name: str) -> None:
    game = game_of(name)
    network = CoreRuntime(loud_weights(game, GAMES[name])).network
    positions = sample_positions(game, 50)
    packed, actions, offsets = packed_of(game, positions)
    logits, wdl = network.evaluate_legal(packed, actions, offsets)
    of_all, wdl_of_all = network.evaluate(packed)
    np.testing.assert_array_equal(wdl, wdl_of_all)
    wanted = [of_all[i][position.actions] for i, position in enumerate(positions)]
    np.testing.assert_array_equal(logits, np.concatenate(wanted))


def test_actions_and_offsets_that_do_not_fit_are_refused() -> None:
    game = game_of("connect4")
    network = CoreRuntime(loud_weights(game, GAMES["connect4"])).network
    packed, actions, offsets = packed_of(game, sample_positions(game, 3))
    for bad_actions, bad_offsets in (
        (np.full_like(actions, 7), offsets),
        (np.full_like(actions, -1), offsets),
        (actions, offsets[:-1]),
        (actions, offsets[::-1].copy()),
        (actions, offsets + 1),
        (actions, offsets - 1),
    ):
        with pytest.raises((ValueError, TypeError)):
            network.evaluate_legal(packed, bad_actions, bad_offsets)


@pytest.mark.parametrize("name", ["connect4", "chess with attacks"])
def test_without_rounding_the_network_says_nearly_the_same(name: str) -> None:
    from zermelo.network.sparse.unrounded import Unrounded
    from zermelo.network.trained import new_network

    game = game_of(name)
    network: Any = new_network(game, GAMES[name])
    with torch.no_grad():  # opinions, but far from the ends of the ranges
        network.get_parameter("actions").mul_(20)
        network.get_parameter("value2").mul_(10)
    evaluator = NetworkEvaluator(network.weights(), game=game)
    found = difference(Unrounded(network), evaluator, game, sample_positions(game, 100))
    assert 0 < found.policy_kl < 0.01
    assert 0 < found.value_mean < 0.03
    assert found.top_changed < 0.3
    coarse = {key: p.clone() for key, p in network.named_parameters()}
    with torch.no_grad():
        network.get_parameter("actions").add_(0.2 * torch.randn(coarse["actions"].shape))
    worse = difference(Unrounded(network), evaluator, game, sample_positions(game, 100))
    assert worse.policy_kl > 3 * found.policy_kl  # another network is seen to be one


def test_the_command_compares_a_checkpoint_with_its_own_integers(tmp_path: Any) -> None:
    from zermelo.checkpoint import CheckpointStore
    from zermelo.network.trained import new_network
    from zermelo.train import Trainer

    trainer = Trainer(new_network(game_of("connect4"), GAMES["connect4"]), seed=1)
    store = CheckpointStore(tmp_path / "checkpoints")
    store.save(0, trainer.weights(), trainer.state())
    found = load_script("benchmarks/rounding.py").measure(str(tmp_path), 40)
    assert found["positions"] == 40 and "policy KL" in found["text"]
    assert found["value_max"] < 0.2
