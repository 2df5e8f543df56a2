"""What torch keeps for batches of many sizes is bounded in a process that trains."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

BOUND = "ONEDNN_PRIMITIVE_CACHE_CAPACITY"
PROGRAM = """
import zermelo.train.trainer
import torch

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096

def step(samples):
    network(torch.ones(samples, 8, 6, 7)).sum().backward()

torch.set_num_threads(1)
layer = lambda: torch.nn.Conv2d(8, 8, 3, padding=1)
network = torch.nn.Sequential(layer(), torch.nn.ReLU(), layer())
step(400)
before = resident()
for samples in range(1, 400):
    step(samples)
print(resident() - before)
"""


def growth(**environment: str) -> int:
    """Bytes by which a process grows that trains on batches of 400 sizes."""
    inherited = {name: value for name, value in os.environ.items() if name != BOUND}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_batches_of_many_sizes_do_not_fill_the_memory() -> None:
    assert growth() < 0.75 * growth(**{BOUND: "1024"})
