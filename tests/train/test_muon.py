"""Muon's steps: evened singular values, the size of AdamW's, and only for the tower."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import zermelo
from zermelo.network import NetworkOptions

torch: Any = pytest.importorskip("torch", reason="torch is not installed")

from zermelo.network.trained import new_network  # noqa: E402
from zermelo.train import TrainOptions  # noqa: E402
from zermelo.train.muon import Muon, orthogonal  # noqa: E402
from zermelo.train.optimiser import NetworkOptimiser  # noqa: E402


@pytest.mark.parametrize("shape", [(2, 8, 72), (1, 72, 8), (3, 16, 16)])
def test_singular_vectors_stay_and_values_become_about_one(shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(5)
    values = np.linspace(0.1, 3.0, min(shape[1:]))
    matrices = []
    for _ in range(shape[0]):
        u, _, v = np.linalg.svd(rng.normal(size=shape[1:]), full_matrices=False)
        matrices.append((u * values) @ v)
    evened = orthogonal(torch.tensor(np.array(matrices))).numpy()
    for matrix, result in zip(matrices, evened, strict=True):
        u, _, v = np.linalg.svd(matrix, full_matrices=False)
        core = u.T @ result @ v.T  # the result in the matrix's own singular vectors
        np.testing.assert_allclose(core - np.diag(np.diag(core)), 0, atol=1e-6)
        assert (np.diag(core) > 0.6).all() and (np.diag(core) < 1.3).all()


def test_a_step_has_the_size_of_one_of_adamw() -> None:
    torch.manual_seed(0)
    sizes = []
    for kind in (Muon, torch.optim.AdamW):
        kernel = torch.nn.Parameter(torch.zeros(64, 64, 3, 3))
        optimiser = kind([kernel], lr=0.01, weight_decay=0.0)
        for _ in range(20):
            kernel.grad = torch.randn_like(kernel)
            before = kernel.detach().clone()
            optimiser.step()
        sizes.append(float((kernel.detach() - before).square().mean().sqrt()))
    assert 0.5 < sizes[0] / sizes[1] < 2.0


def test_kernels_of_one_shape_do_not_mix() -> None:
    torch.manual_seed(1)
    gradients = [torch.randn(8, 8, 3, 3) for _ in range(2)]

    def after(chosen: list[int]) -> list[Any]:
        kernels = [torch.nn.Parameter(torch.zeros(8, 8, 3, 3)) for _ in chosen]
        for kernel, index in zip(kernels, chosen, strict=True):
            kernel.grad = gradients[index]
        Muon(kernels, lr=0.1, weight_decay=0.0).step()
        return [kernel.detach() for kernel in kernels]

    together, alone = after([0, 1]), [after([0])[0], after([1])[0]]
    for one, other in zip(together, alone, strict=True):
        torch.testing.assert_close(one, other)


def test_muon_has_the_kernels_of_the_blocks_and_adamw_the_rest() -> None:
    network = new_network(zermelo.game("connect4"), NetworkOptions(blocks=2, filters=8))
    optimiser = NetworkOptimiser(network, TrainOptions(optimiser="muon"))
    names = {id(p): name for name, p in network.named_parameters()}
    adamw, muon = (
        {names[id(p)] for group in part.param_groups for p in group["params"]}
        for part in optimiser.parts
    )
    assert muon == {f"block{i}_conv{j}.conv.weight" for i in (0, 1) for j in (1, 2)}
    assert adamw == set(names.values()) - muon
