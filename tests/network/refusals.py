"""A bad file's one sentence, and a small network to spoil."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import zermelo
from zermelo.errors import UserError
from zermelo.network import Weights, architecture_for, load_network, random_weights
from zermelo.network.architecture import NetworkOptions

SMALL = NetworkOptions(blocks=1, filters=4, value_hidden=8, value_filters=2, policy_filters=2)


def refused(path: Path, game: Any = None) -> str:
    started = time.process_time()
    with pytest.raises(UserError) as caught:
        load_network(path, game)
    assert time.process_time() - started < 2
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert len(sentence) < 300
    return sentence


def small_network() -> Weights:
    return random_weights(architecture_for(zermelo.game("tictactoe"), SMALL))
