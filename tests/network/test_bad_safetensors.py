"""Crafted safetensors files are refused in one sentence, and nothing that they ask for is done."""

from __future__ import annotations

import json
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusals import SMALL, refused, small_network

import zermelo
from zermelo.errors import UserError
from zermelo.network import Weights, architecture_for, load_network
from zermelo.network.architecture import tower_for
from zermelo.network.build_onnx import onnx_bytes
from zermelo.network.safetensors_file import safetensors_bytes
from zermelo.network.weights import fold_norms, state_shapes


def changed_safetensors(path: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    """A file whose header was changed by hand."""
    network = small_network()
    data = safetensors_bytes(network.architecture, network.arrays)
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    change(header)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size :])
    return path


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"dtype": []}, "is not F32"),
        ({"dtype": "I64"}, "is not F32"),
        ({"shape": {}}, "shape"),
        ({"shape": [0, 10**30], "data_offsets": [0, 0]}, "shape"),
        ({"data_offsets": [0.0, 12.0]}, "where its size fits"),
        ({"data_offsets": [0, 10**30]}, "where its size fits"),
        ({"data_offsets": [10**9, 10**9 + 12]}, "within the file"),
        ({"data_offsets": [0, 12]}, "overlaps"),
        ({"data_offsets": 5}, "cannot be read"),
    ],
)
def test_a_crafted_entry_of_a_safetensors_file_is_refused(
    tmp_path: Path, change: dict[str, Any], sentence: str
) -> None:
    path = changed_safetensors(
        tmp_path / "crafted.safetensors", lambda header: header["value_out.bias"].update(change)
    )
    assert sentence in refused(path)


@pytest.mark.parametrize(
    ("search", "sentence"),
    [
        ([], "its search options cannot be read"),
        ({"c_puct": [1]}, "'c_puct' is not a plain value"),
        ({"no_such": 1}, "there is no option 'no_such'"),
        ({"c_puct": 1e9}, "option 'c_puct' cannot be 1e+09"),
        ({"gumbel": 3}, "it takes on or off"),
        ({"leaves_per_tree": 10**30}, "it takes a whole number"),
    ],
)
def test_a_search_that_means_nothing_is_refused_by_the_files_name(
    tmp_path: Path, search: Any, sentence: str
) -> None:
    def change(header: dict[str, Any]) -> None:
        described = json.loads(header["__metadata__"]["zermelo"])
        header["__metadata__"]["zermelo"] = json.dumps(described | {"search": search})

    path = changed_safetensors(tmp_path / "strange.safetensors", change)
    assert sentence in refused(path)
    network = small_network()
    path = tmp_path / "strange.onnx"
    path.write_bytes(onnx_bytes(Weights(network.architecture, network.arrays, search=search)))
    if search:
        assert sentence in refused(path)


def test_a_file_cannot_ask_for_memory_or_threads(tmp_path: Path) -> None:
    network = small_network()
    greedy = {"cache_mib": 1_000_000, "threads": 256, "batch": 65536, "max_nodes": 10**9}
    path = tmp_path / "greedy.onnx"
    wanted = Weights(network.architecture, network.arrays, search={"c_puct": 2.0, **greedy})
    path.write_bytes(onnx_bytes(wanted))
    assert load_network(path).search == {"c_puct": 2.0}


def test_arrays_that_the_network_does_not_have_are_not_read(tmp_path: Path) -> None:
    architecture = architecture_for(zermelo.game("tictactoe"), SMALL)
    body = np.zeros(1 << 18, np.float32)  # 1 MiB
    data = safetensors_bytes(architecture, {"x.norm.weight": body})
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    header |= {f"x{i}.norm.weight": header["x.norm.weight"] for i in range(200)}
    text = json.dumps(header).encode()
    path = tmp_path / "amplify.safetensors"
    path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size :])
    tracemalloc.start()
    assert "missing" in refused(path)
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


def test_a_training_state_with_a_kernel_of_another_shape_is_refused(tmp_path: Path) -> None:
    architecture = tower_for(zermelo.game("tictactoe"), SMALL)
    line = np.ones(3000, np.float32)  # as a column and as a row it would be 9 million numbers
    parts = ("weight", "bias", "running_mean", "running_var")
    state = {"input.conv.weight": line} | {f"input.norm.{part}": line for part in parts}
    path = tmp_path / "outer.safetensors"
    path.write_bytes(safetensors_bytes(architecture, state))
    assert "shape" in refused(path)
    tracemalloc.start()
    with pytest.raises(UserError, match="shape"):
        fold_norms(architecture, dict.fromkeys(state_shapes(architecture), line))
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


def test_a_header_whose_length_looks_like_a_zip_archive_is_read(tmp_path: Path) -> None:
    network = small_network()
    data = safetensors_bytes(network.architecture, network.arrays)
    size = int.from_bytes(data[:8], "little")
    length = int.from_bytes(b"PK", "little")
    text = data[8 : 8 + size].ljust(length)
    path = tmp_path / "padded.safetensors"
    path.write_bytes(struct.pack("<Q", length) + text + data[8 + size :])
    assert load_network(path).architecture == network.architecture


def test_a_safetensors_file_that_goes_on_after_its_last_entry_is_refused(tmp_path: Path) -> None:
    network = small_network()
    path = tmp_path / "longer.safetensors"
    path.write_bytes(safetensors_bytes(network.architecture, network.arrays) + b"more")
    assert "goes on after its last entry" in refused(path)
