"""The core's layers for training against torch's own: the same numbers, the same gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import zermelo
from zermelo.network import NetworkOptions, architecture_for
from zermelo.network.positions import sample_positions

torch = pytest.importorskip("torch", reason="torch is not installed")

from zermelo.network.sparse import layers  # noqa: E402
from zermelo.network.sparse.module import SparseModule  # noqa: E402


@pytest.fixture(params=[1, 2, 3])
def threads(request: pytest.FixtureRequest) -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


def chess_batch() -> tuple[Any, ...]:
    """A module, the features of positions, and rows of their actions, padded."""
    game = zermelo.game("chess")
    options = NetworkOptions(
        kind="sparse", hidden=128, policy_hidden=32, value_hidden=32, inputs="attacks"
    )
    module = SparseModule(architecture_for(game, options))  # type: ignore[arg-type]
    chosen = sample_positions(game, 60)
    planes = np.stack([np.asarray(game.observe(p.state), np.float32) for p in chosen])
    legal = [list(game.legal_actions(p.state)) for p in chosen]
    actions = np.zeros((60, max(map(len, legal))), np.int64)
    for i, of_position in enumerate(legal):
        actions[i, : len(of_position)] = of_position
    packed = module.architecture.features.pack(planes)
    rows = module.architecture.features.read_actions(packed, actions, game.num_actions)
    return module, module.prepare(planes)[:-1], rows


def both_ways(monkeypatch: pytest.MonkeyPatch, made: Any, parameters: list[Any]) -> list[Any]:
    """The result and the gradients of `made()`, by the core and by torch."""
    found = []
    for by_torch in (False, True):
        for parameter in parameters:
            parameter.grad = None
        with monkeypatch.context() as patched:
            if by_torch:
                patched.setattr(layers, "PROCESSOR", "none")
            result = made()
        pull = torch.from_numpy(np.random.default_rng(0).normal(size=result.shape))
        (result * pull.to(result.dtype)).sum().backward()
        found.append([result.detach().numpy(), *(p.grad.clone().numpy() for p in parameters)])
    return found


def test_the_first_layer_and_its_gradient(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    module, features, _ = chess_batch()
    table = torch.nn.Parameter(torch.round(module.table.detach() * 512 * 4))
    core, torchs = both_ways(monkeypatch, lambda: layers.hidden_layer(table, features), [table])
    np.testing.assert_array_equal(core[0], torchs[0])
    assert 0.1 < (core[0] > 0).mean() < 0.9 and (core[0] == 127).any()
    np.testing.assert_allclose(core[1], torchs[1], rtol=1e-4, atol=1e-3)


def test_the_policy_and_its_gradients(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    _, _, rows = chess_batch()
    rng = np.random.default_rng(1)
    inputs, table, bias = (
        torch.nn.Parameter(torch.from_numpy(rng.integers(low, 100, shape).astype(np.float32)))
        for low, shape in ((0, (60, 32)), (-100, (2674, 32)), (-9999, (2674,)))
    )
    parameters = [inputs, table, bias]
    core, torchs = both_ways(
        monkeypatch, lambda: layers.policy_layer(inputs, table, bias, rows), parameters
    )
    np.testing.assert_array_equal(core[0], torchs[0])
    for found, expected in zip(core[1:], torchs[1:], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-1)


def test_rows_that_do_not_exist_are_refused() -> None:
    module, features, rows = chess_batch()
    table = module.table.detach()[:100].contiguous()
    with pytest.raises(ValueError, match="there is no row"):
        layers.hidden_layer(table, features)
    with pytest.raises(ValueError, match="there is no row"):
        layers.policy_layer(torch.zeros(60, 32), torch.zeros(50, 32), torch.zeros(50), rows)
