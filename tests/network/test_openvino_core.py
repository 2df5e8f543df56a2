"""Ctrl-C is heard after OpenVINO has compiled and freed networks."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("openvino", reason="not installed")

# Measures with two compiled models, quantises with a third, and frees them all.
SCRIPT = """
import gc, signal
import zermelo
from zermelo.network import NetworkEvaluator, NetworkOptions, architecture_for, random_weights
from zermelo.network.measure import peak_gflops
game = zermelo.game("tictactoe")
peak_gflops(2, 0.01, size=16)
weights = random_weights(architecture_for(game, NetworkOptions(blocks=1, filters=4)), seed=1)
NetworkEvaluator(weights, "openvino", "int8", game=game).warm_up(1, 1)
gc.collect()
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print("heard")
"""


def test_ctrl_c_is_heard_after_networks_have_been_compiled_and_freed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "heard\n", "")
