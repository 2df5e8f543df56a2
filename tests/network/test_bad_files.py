"""Whatever is wrong with a network file is said in one sentence, soon, and nothing is run."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import pickle
import random
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lc0_attention import attention_bytes, encoder
from lc0_files import Source, net_bytes, parse, write_net
from refusals import SMALL, refused, small_network

import zermelo
from zermelo.cli import main
from zermelo.errors import UserError
from zermelo.games.registry import named_game
from zermelo.network import Weights, architecture_for, load_network, random_weights, save_network
from zermelo.network.architecture import Architecture
from zermelo.network.build_onnx import onnx_bytes
from zermelo.network.runtimes import installed_backends, make_runtime
from zermelo.network.wire import bytes_field, fixed32_field, number_field

Record = Callable[[str, object], None]


class Trap:
    """Would leave a file behind if it were unpickled."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> Any:
        return (Path.touch, (self.place,))


def gz(data: bytes) -> bytes:
    return gzip.compress(data, 1)


def nested(depth: int) -> bytes:
    data = b""
    for _ in range(depth):
        data = bytes_field(10, data)
    return fixed32_field(1, 0x1C0) + data


def with_weights(weights: bytes) -> bytes:
    form = number_field(1, 1) + bytes_field(
        2, number_field(1, 1) + number_field(3, 4) + number_field(4, 2) + number_field(5, 2)
    )
    return fixed32_field(1, 0x1C0) + bytes_field(4, form) + bytes_field(10, weights)


def more_weights(fields: bytes, **choices: Any) -> bytes:
    """An attention network with more fields among its weights; the last of a field counts."""
    data = attention_bytes(**choices)
    at = data.index(parse(data)[10][0])
    return data[:at][: data[:at].rindex(b"R")] + bytes_field(10, data[at:] + fields)


LC0_FILES: dict[str, tuple[Callable[[], bytes], str]] = {
    "text": (lambda: b"hello, I am a network", "not an lc0 network"),
    "cut short, not packed": (lambda: net_bytes()[:-2000], "damaged"),
    "junk after the end, not packed": (lambda: net_bytes() + b"junk", "damaged"),
    "damaged gzip": (lambda: gz(net_bytes())[:200] + b"\xff" * 3000, "damaged"),
    "cut short": (lambda: gz(net_bytes())[:-2000], "too early"),
    "cut short inside": (lambda: gz(net_bytes()[:-2000]), "damaged"),
    "wrong magic": (lambda: gz(fixed32_field(1, 0x1C1) + net_bytes()[5:]), "not an lc0 network"),
    "empty inside": (lambda: gz(b""), "not an lc0 network"),
    "noise inside": (lambda: gz(random.Random(1).randbytes(5000)), "not an lc0 network"),
    "no weights": (lambda: gz(with_weights(b"")), "missing"),
    "many blocks of many fields": (
        lambda: gz(with_weights(bytes_field(2, number_field(9, 1) * 10_000) * 500)),
        "missing",
    ),
    "many fields everywhere": (
        lambda: gz(with_weights(bytes_field(1, number_field(1, 1) * 10_000_000))),
        "too many fields",
    ),
    "attention body without attention": (
        lambda: gz(net_bytes(structure=6)),
        "an attention body with a convolutional policy",
    ),
    "several heads without attention": (
        lambda: gz(net_bytes(structure=134, policy=1)),
        "classical",
    ),
    "attention policy without weights": (lambda: gz(net_bytes(policy=3)), "policy_embed"),
    "tower with encoders": (
        lambda: gz(attention_bytes(blocks=1, structure=3)),
        "attention layers but is said to be a tower",
    ),
    "relative positions": (lambda: gz(attention_bytes(rpe=True)), "(RPE) are not supported"),
    "ONNX inside": (lambda: gz(net_bytes() + bytes_field(11, b"")), "ONNX model"),
    "said to be ONNX": (lambda: gz(net_bytes(structure=5)), "ONNX model"),
    "unknown structure": (lambda: gz(net_bytes(structure=9)), "structure 9"),
    "value with parameters": (lambda: gz(net_bytes(value=3)), "value format PARAM"),
    "unknown feed-forward activation": (lambda: gz(attention_bytes(feed=9)), "activation 9"),
    "no encoders": (lambda: gz(attention_bytes(encoders=0)), "no encoders"),
    "many encoders": (lambda: gz(attention_bytes(encoders=101)), "101 encoders"),
    "no attention heads": (lambda: gz(more_weights(number_field(28, 0))), "0 heads"),
    "many attention heads": (lambda: gz(more_weights(number_field(28, 1 << 40))), "heads"),
    "heads that do not share": (lambda: gz(more_weights(number_field(28, 3))), "do not share"),
    "encoders that differ": (
        lambda: gz(more_weights(bytes_field(27, encoder(Source(), 8, 4, False)))),
        "differ in their sizes",
    ),
    "encoders of another width": (
        lambda: gz(more_weights(bytes_field(27, encoder(Source(), 6, 2, False)))),
        "not",
    ),
    "smolgen of another size": (
        lambda: gz(more_weights(bytes_field(35, Source().layer(4096, 1)), smolgen=True)),
        "not 12288",
    ),
    "empty heads": (lambda: gz(more_weights(bytes_field(45, b""))), "no policy head"),
    "a head that is empty": (
        lambda: gz(more_weights(bytes_field(44, bytes_field(1, b"")))),
        "missing",
    ),
    "unknown input": (lambda: gz(net_bytes(inputs=77)), "input format 77 is unknown"),
    "unknown activation": (lambda: gz(net_bytes(activation=2)), "activation"),
    "unknown encoding": (lambda: gz(net_bytes(encoding=5)), "encoding 5"),
    "half a number": (
        lambda: gz(with_weights(bytes_field(1, bytes_field(1, bytes_field(3, b"abc"))))),
        "middle of a number",
    ),
    "no blocks": (lambda: gz(net_bytes(blocks=0)), "0 blocks"),
    "deeply nested": (lambda: gz(nested(3000)), "LINEAR16"),
    "a million fields": (lambda: gz(number_field(3, 1) * 1_000_000), "too many fields"),
    "junk after the end": (lambda: gz(net_bytes()) + b"junk", "goes on after its end"),
    "padding after the end": (lambda: gz(net_bytes()) + bytes(5 << 20), "goes on after its end"),
    "bomb before padding": (lambda: gz(bytes(60 << 20)) + bytes(12 << 20), "unpacks"),
    "bomb": (lambda: gz(bytes(200 << 20)), "unpacks to more than"),
    "bomb in the weights": (lambda: gz(with_weights(bytes_field(1, bytes(120 << 20)))), "unpacks"),
}


@pytest.mark.parametrize("kind", LC0_FILES)
def test_a_bad_lc0_file_is_refused(tmp_path: Path, kind: str) -> None:
    make, reason = LC0_FILES[kind]
    path = tmp_path / "bad.pb.gz"
    path.write_bytes(make())
    sentence = refused(path)
    assert "bad.pb.gz" in sentence
    assert reason in sentence


def test_weights_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    data = net_bytes(norm="folded")
    at = data.index(struct.pack("<B", 0x0D), 20)  # the smallest value of the first layer
    path = tmp_path / "nan.pb.gz"
    path.write_bytes(gz(data[: at + 1] + struct.pack("<f", float("nan")) + data[at + 5 :]))
    assert "not all finite" in refused(path)


@pytest.mark.parametrize("suffix", [".pb.gz", ".onnx", ".safetensors", ".pt"])
def test_a_pickle_in_disguise_is_not_opened(tmp_path: Path, suffix: str) -> None:
    place = tmp_path / "trap was sprung"
    data = pickle.dumps(Trap(place))
    for number, content in enumerate((data, gz(data))):
        path = tmp_path / f"network{number}{suffix}"
        path.write_bytes(content)
        refused(path)
    path = tmp_path / f"archive{suffix}"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", data)
    assert "pickle" in refused(path)
    assert not place.exists()


def test_a_file_that_is_missing_empty_or_a_directory_is_refused(tmp_path: Path) -> None:
    assert "no network file" in refused(tmp_path / "none.onnx")
    (tmp_path / "empty.onnx").touch()
    assert "empty" in refused(tmp_path / "empty.onnx")
    assert "directory" in refused(tmp_path)
    (tmp_path / "text.txt").write_text("a network, honestly")
    assert "networks are" in refused(tmp_path / "text.txt")


def test_a_network_of_another_game_is_refused(tmp_path: Path) -> None:
    path = write_net(tmp_path / "small.pb.gz")
    assert "not for connect4" in refused(path, zermelo.game("connect4"))
    assert "17 x 8 x 8" in refused(path, zermelo.game("chess"))
    assert load_network(path, zermelo.game("chess?encoder=lc0"))
    save_network(small_network(), tmp_path / "t.onnx")
    assert "not for othello" in refused(tmp_path / "t.onnx", zermelo.game("othello"))


@pytest.mark.parametrize("suffix", [".onnx", ".safetensors"])
def test_our_own_files_cut_short_are_refused(tmp_path: Path, suffix: str) -> None:
    whole = tmp_path / f"whole{suffix}"
    save_network(small_network(), whole)
    data = whole.read_bytes()
    for size in (1, 7, 9, 100, len(data) // 2, len(data) - 1):
        path = tmp_path / f"cut{suffix}"
        path.write_bytes(data[:size])
        refused(path)


@pytest.mark.parametrize("suffix", [".onnx", ".safetensors"])
def test_damaged_files_are_refused_or_still_a_sound_network(
    tmp_path: Path, suffix: str, record_property: Record
) -> None:
    whole = tmp_path / f"whole{suffix}"
    save_network(small_network(), whole)
    data = whole.read_bytes()
    rng = random.Random(7)
    for _ in range(150):
        damaged = bytearray(data)
        for _ in range(rng.randrange(1, 4)):
            damaged[rng.randrange(min(len(data), 6000))] = rng.randrange(256)
        path = tmp_path / f"damaged{suffix}"
        path.write_bytes(damaged)
        with contextlib.suppress(UserError):
            load_network(path).check()
    record_property("tried", 150)


def test_files_of_other_programs_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.onnx"
    path.write_bytes(number_field(1, 8) + bytes_field(2, "pytorch"))
    assert "zermelo export" in refused(path)
    header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    path = tmp_path / "other.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(4))
    assert "zermelo network" in refused(path)


def test_wrong_shapes_and_types_are_refused(tmp_path: Path) -> None:
    network = small_network()
    for name, change in (
        ("shape", {"value_out.weight": np.zeros((3, 9), np.float32)}),
        ("finite", {"value_out.bias": np.array([0, np.nan, 0], np.float32)}),
    ):
        path = tmp_path / "changed.onnx"
        changed = Weights(network.architecture, {**network.arrays, **change})
        path.write_bytes(onnx_bytes(changed))
        assert name in refused(path)
    arrays = dict(network.arrays)
    del arrays["value_out.bias"]
    with pytest.raises(UserError, match="missing"):
        Weights(network.architecture, arrays).check()


@pytest.mark.parametrize("dims", [[0, 2**64 - 1], [2**63, 2, 0], [2], [1, 3], []])
def test_crafted_sizes_in_an_onnx_file_are_refused(tmp_path: Path, dims: list[int]) -> None:
    described = {"format": 1, "architecture": small_network().architecture.to_dict()}
    tensor = b"".join(number_field(1, n) for n in dims) + number_field(2, 1)
    tensor += bytes_field(8, "value_out.bias")
    metadata = bytes_field(1, "zermelo") + bytes_field(2, json.dumps(described))
    path = tmp_path / "crafted.onnx"
    path.write_bytes(bytes_field(7, bytes_field(5, tensor)) + bytes_field(14, metadata))
    assert "shape (3,)" in refused(path)


@pytest.mark.parametrize("head", [b"", number_field(1, 8) + bytes_field(2, "zermelo")])
def test_a_huge_file_is_not_read_before_it_is_looked_at(tmp_path: Path, head: bytes) -> None:
    for suffix in (".onnx", ".safetensors"):
        path = tmp_path / f"sparse{suffix}"
        path.write_bytes(head)
        os.truncate(path, 1 << 30)
        tracemalloc.start()
        refused(path)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
        tracemalloc.stop()


def test_a_text_of_an_onnx_file_is_not_copied_without_bound(tmp_path: Path) -> None:
    path = tmp_path / "long.onnx"
    path.write_bytes(bytes_field(14, bytes_field(1, bytes(2 << 20))))
    assert "too long" in refused(path)


def test_a_file_is_named_once_in_the_sentence(tmp_path: Path) -> None:
    network = small_network()
    path = tmp_path / "other.onnx"
    path.write_bytes(onnx_bytes(network).replace(b'"format": 1', b'"format": 7'))
    assert refused(path).count("other.onnx") == 1


@pytest.mark.parametrize(
    ("game", "sentence"),
    [
        ("evil.py", "Python file"),
        ("evil.py:Game?size=3", "Python file"),
        ("chess\x1b]0;title\x07", "no name of a game"),
        ("", "no name of a game"),
        ("x" * 1000, "no name of a game"),
    ],
)
def test_what_is_no_name_of_a_game_is_refused(game: str, sentence: str) -> None:
    values = small_network().architecture.to_dict() | {"game": game}
    with pytest.raises(UserError, match=sentence) as caught:
        Architecture.from_dict(values)
    assert str(caught.value).isprintable()


def test_a_network_file_cannot_name_a_python_file_to_be_run(tmp_path: Path) -> None:
    place, code = tmp_path / "trap was sprung", tmp_path / "evil.py"
    code.write_text(f"import pathlib\npathlib.Path({str(place)!r}).touch()\n")
    with pytest.raises(UserError, match="no game"):
        named_game(str(code))
    network = random_weights(architecture_for(zermelo.game("chess"), SMALL))
    path = tmp_path / "evil.onnx"
    object.__setattr__(network.architecture, "game", str(code))  # past all checks
    path.write_bytes(onnx_bytes(network))
    for arguments in (
        ["bench", "chess", "--weights", str(path)],
        ["analyse", "chess", "--weights", str(path), "--simulations", "5"],
        ["match", str(path), "random", "--games", "2"],
    ):
        assert main(arguments) == 2
    if "openvino" in installed_backends():
        with pytest.raises(UserError, match="no game"):
            make_runtime(network, "openvino", "int8")
    assert not place.exists()


@pytest.mark.parametrize(
    "change",
    [
        {"policy_filters": 0},
        {"value_filters": 0},
        {"moves_filters": 1, "moves_hidden": 0},
        {"blocks": -1},
        {"blocks": 10**9},
        {"filters": 0},
        {"filters": "64"},
        {"activation": "exec"},
        {"policy": "conv"},
        {"game": 3},
        {"unheard_of": 1},
    ],
)
def test_a_description_that_makes_no_sense_is_refused(change: dict[str, Any]) -> None:
    values = small_network().architecture.to_dict() | change
    with pytest.raises(UserError):
        Architecture.from_dict(values)
    with pytest.raises(UserError):
        Architecture.from_dict([values])
    del values["planes"]
    with pytest.raises(UserError):
        Architecture.from_dict(values)
