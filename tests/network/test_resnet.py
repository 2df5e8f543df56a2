"""The network that is trained, and what becomes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zermelo
from zermelo.errors import UserError
from zermelo.network import NetworkEvaluator, NetworkOptions, architecture_for, load_network
from zermelo.network.positions import sample_observations
from zermelo.network.runtimes import installed_backends
from zermelo.network.safetensors_file import safetensors_bytes

torch: Any = pytest.importorskip("torch", reason="torch is not installed")

from zermelo.network import resnet  # noqa: E402
from zermelo.network.architecture import tower_for  # noqa: E402
from zermelo.network.resnet import ResidualNetwork  # noqa: E402
from zermelo.network.trained import logit_spread, new_network  # noqa: E402

SMALL = NetworkOptions(blocks=2, filters=8, value_hidden=16, moves_left=True)
GAMES = ["tictactoe", "connect4", "othello", "hex", "checkers", "chess", "chess?encoder=lc0"]


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)  # these networks are too small to share out


def trained(game: Any, steps: int = 8) -> ResidualNetwork:
    """A few steps on a made-up target, so that the norms have seen data."""
    network = new_network(game, SMALL)
    observations = torch.from_numpy(sample_observations(game, 32))
    optimiser = torch.optim.SGD(network.parameters(), lr=0.05)
    wanted = torch.arange(32) % game.num_actions
    for _ in range(steps):
        heads = network(observations)
        loss = torch.nn.functional.cross_entropy(heads.policy, wanted)
        loss = loss + torch.nn.functional.cross_entropy(heads.value, wanted % 3)
        loss = loss + (heads.moves_left - 3).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert isinstance(network, ResidualNetwork)
    return network.eval()


@pytest.mark.technique("T13")
@pytest.mark.parametrize("game", GAMES)
def test_a_new_network_fits_its_game_and_begins_with_a_nearly_uniform_policy(game: str) -> None:
    rules = zermelo.game(game)
    network = new_network(rules)
    assert logit_spread(network, rules) < 0.5
    heads = network(torch.from_numpy(sample_observations(rules, 3)))
    assert heads.policy.shape == (3, rules.num_actions)
    assert heads.value.shape == (3, 3)
    assert heads.moves_left is None
    value = heads.value.detach().softmax(1)
    assert float((value[:, 0] - value[:, 2]).abs().max()) < 0.5


def test_deep_networks_begin_no_louder_than_shallow_ones() -> None:
    game = zermelo.game("connect4")
    deep = new_network(game, NetworkOptions(blocks=20, filters=16))
    assert logit_spread(deep, game) < 0.5


def test_a_network_with_a_wild_first_policy_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resnet, "initial_gain", lambda *_: 30.0)
    with pytest.raises(UserError, match="spread"):
        new_network(zermelo.game("connect4"), SMALL)


def test_the_same_seed_gives_the_same_network_and_leaves_torch_as_it_was() -> None:
    game = zermelo.game("connect4")
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    first, second, other = (new_network(game, SMALL, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(torch.random.get_rng_state(), before)
    a, b, c = (next(iter(n.parameters())).detach() for n in (first, second, other))
    assert torch.equal(a, b)
    assert not torch.equal(a, c)


@pytest.mark.technique("T13")
@pytest.mark.parametrize("game", ["connect4", "chess"])
def test_the_folded_network_equals_the_trained_one_in_every_runtime(game: str) -> None:
    rules = zermelo.game(game)
    network = trained(rules)
    observations = sample_observations(rules, 10, seed=4)
    with torch.no_grad():
        heads = network(torch.from_numpy(observations))
    expected_policy = heads.policy.numpy()
    expected_value = heads.value.softmax(1).numpy()
    assert expected_policy.std() > 0.02
    for backend in installed_backends():
        policy, value = NetworkEvaluator(network.weights(), backend, game=rules)(observations)
        np.testing.assert_allclose(policy, expected_policy, atol=1e-4)
        np.testing.assert_allclose(value, expected_value, atol=1e-4)


@pytest.mark.technique("T13")
def test_every_parameter_learns() -> None:
    game = zermelo.game("connect4")
    network = new_network(game, SMALL)
    heads = network(torch.from_numpy(sample_observations(game, 16)))
    (heads.policy.square().sum() + heads.value.square().sum() + heads.moves_left.sum()).backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None, name
        assert bool(torch.isfinite(parameter.grad).all()), name


def test_a_saved_training_state_plays_without_torch(tmp_path: Path) -> None:
    game = zermelo.game("connect4")
    network = trained(game)
    state = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    path = tmp_path / "weights.safetensors"
    path.write_bytes(safetensors_bytes(network.architecture, state))
    found = load_network(tmp_path, game)
    for name, values in network.weights().arrays.items():
        np.testing.assert_array_equal(found.arrays[name], values)


def test_the_cost_that_is_shown_is_the_cost() -> None:
    architecture = tower_for(zermelo.game("connect4"), SMALL)
    network = ResidualNetwork(architecture)
    # The norms add a scale and a shift per channel and take the place of the bias.
    channels = sum(layer.outputs for layer in architecture.layers().values() if layer.norm)
    in_torch = sum(parameter.numel() for parameter in network.parameters())
    assert architecture.parameters() == in_torch - channels
    assert f"{architecture.parameters():,} parameters" in architecture.summary()
    dense = 8 * 4 * 2  # one squeeze-and-excitation: 8 -> 2 -> 16
    assert architecture.layers()["block0_squeeze"].outputs == 2
    assert architecture.multiply_adds() > 42 * 9 * (2 * 8 + 4 * 8 * 8) + dense


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (NetworkOptions(filters=0), "filters"),
        (NetworkOptions(blocks=-1), "blocks"),
        (NetworkOptions(policy="attention"), "policy"),
        (NetworkOptions(policy="conv"), "1858"),
        (NetworkOptions(blocks=101), "out of range"),
    ],
)
def test_sizes_that_make_no_network_are_refused(options: NetworkOptions, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        architecture_for(zermelo.game("connect4"), options)
