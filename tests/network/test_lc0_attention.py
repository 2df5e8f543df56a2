"""lc0's attention networks, of every family, compute what lc0 computes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lc0_attention import (
    POLICY_HEADS,
    VALUE_HEADS,
    crossed,
    position_table,
    slow_attention,
    write_attention,
)
from lc0_families import FAMILIES, TOWERS
from lc0_oracle import ANSWERS, POSITIONS, networks
from native_games import native

from zermelo.errors import UserError
from zermelo.network import NetworkEvaluator, Weights, load_network, save_network
from zermelo.network.accuracy import scalar_value
from zermelo.network.architecture import Architecture
from zermelo.network.chess_policy import reachable
from zermelo.network.lc0 import read_lc0
from zermelo.network.open import open_weights
from zermelo.network.places import looks_like_network, weights_file
from zermelo.network.positions import observations_of, sample_positions
from zermelo.network.runtimes import BACKENDS, installed_backends

ALL = FAMILIES | crossed()


def quick() -> str:
    """The backend that is ready soonest."""
    return min(installed_backends(), key=["onnx", "torch", "openvino"].index)


def observed(count: int) -> Any:
    game = native("chess?encoder=lc0")
    return observations_of(game, sample_positions(game, count, 5))


def check(weights: Weights, backend: str, observations: Any, expected: Any) -> None:
    policy, value = NetworkEvaluator(weights, backend)(observations)
    np.testing.assert_allclose(policy, expected[0], atol=1e-4)
    np.testing.assert_allclose(value, expected[1], atol=1e-5)


@pytest.mark.technique("E5")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_computes_what_the_format_means(
    tmp_path: Path, family: str, backend: str
) -> None:
    if backend not in (*installed_backends(), "numpy"):
        pytest.skip(f"{backend} is not installed")
    path = write_attention(tmp_path / "net.pb.gz", **FAMILIES[family])
    observations = observed(4)
    check(load_network(path), backend, observations, slow_attention(path, observations))


@pytest.mark.parametrize("family", crossed())
def test_options_in_any_company_compute_what_the_format_means(tmp_path: Path, family: str) -> None:
    path = write_attention(tmp_path / "net.pb", **ALL[family])
    observations = observed(2)
    check(load_network(path), quick(), observations, slow_attention(path, observations))


@pytest.mark.parametrize("policy", POLICY_HEADS)
@pytest.mark.parametrize("value", VALUE_HEADS)
def test_each_of_several_heads_can_be_chosen(tmp_path: Path, policy: str, value: str) -> None:
    path = write_attention(tmp_path / "net.pb", several=True, policy_encoders=1)
    observations = observed(2)
    expected = slow_attention(path, observations, policy, value)
    check(read_lc0(path, policy, value), quick(), observations, expected)


def test_heads_are_named_after_the_file(tmp_path: Path) -> None:
    path = write_attention(tmp_path / "net.pb", several=True)
    for text, heads in (
        ("soft", ("soft", "winner")),
        ("q", ("vanilla", "q")),
        ("st,opponent", ("opponent", "st")),
    ):
        reference = f"{path}#{text}"
        found, expected = open_weights(reference), read_lc0(path, *heads)
        for name in ("policy_key.weight", "value_out.weight"):
            np.testing.assert_array_equal(found.arrays[name], expected.arrays[name])
        assert looks_like_network(reference)
        assert weights_file(reference) == path
    marked = tmp_path / "net#soft"  # a file with a mark in its name is meant itself
    marked.write_bytes(path.read_bytes())
    assert load_network(marked).arrays.keys() == expected.arrays.keys()


def test_heads_that_nobody_has_are_refused_in_one_sentence(tmp_path: Path) -> None:
    path = write_attention(tmp_path / "net.pb", several=True)
    with pytest.raises(UserError, match="no head 'sharp'"):
        load_network(f"{path}#sharp")
    save_network(load_network(path), tmp_path / "own.onnx")
    with pytest.raises(UserError, match="only networks of lc0 have heads"):
        load_network(f"{tmp_path / 'own.onnx'}#soft")


def test_a_head_that_the_file_has_not_is_refused_by_name(tmp_path: Path) -> None:
    several = write_attention(tmp_path / "several.pb", several=True)
    one = write_attention(tmp_path / "one.pb")
    with pytest.raises(UserError, match="no policy head 'sof'; did you mean 'soft'"):
        read_lc0(several, policy="sof")
    with pytest.raises(UserError, match="no policy head 'soft', only vanilla"):
        read_lc0(one, policy="soft")
    with pytest.raises(UserError, match="no value head 'q', only winner"):
        read_lc0(one, value="q")


def test_int8_is_refused_where_there_is_no_convolution(tmp_path: Path) -> None:
    if "openvino" not in installed_backends():
        pytest.skip("openvino is not installed")
    weights = load_network(write_attention(tmp_path / "net.pb"))
    with pytest.raises(UserError, match="its body is attention"):
        NetworkEvaluator(weights, "openvino", "int8")


@cache
def answers() -> tuple[dict[str, int], Any, Any]:
    """What lc0 said: rows by name, logits of the legal actions [row, N], (q, d, m) [row, P, 3]."""
    with np.load(ANSWERS) as kept:
        rows = {str(name): row for row, name in enumerate(kept["names"])}
        return rows, kept["policy"], kept["values"]


@pytest.mark.technique("E5")
@pytest.mark.parametrize("name", networks())
def test_every_family_says_what_lc0_said(tmp_path: Path, name: str) -> None:
    write, choices, policy_head, value_head = networks()[name]
    weights = read_lc0(write(tmp_path / "net.pb", **choices), policy_head, value_head)
    game = native(weights.architecture.game)
    states = [game.parse_position(" ".join([fen, "moves", *moves])) for fen, moves in POSITIONS]
    policy, value = NetworkEvaluator(weights, quick())(
        np.stack([np.asarray(game.observe(state), np.float32) for state in states])
    )
    legal = [sorted(game.legal_actions(state)) for state in states]
    rows, logits, values = answers()
    found = np.concatenate([row[actions] for row, actions in zip(policy, legal, strict=True)])
    np.testing.assert_allclose(found, logits[rows[name]], atol=1e-4)
    expected = values[rows[name]]
    np.testing.assert_allclose(scalar_value(value), expected[:, 0], atol=1e-4)
    if weights.architecture.value == "wdl":
        np.testing.assert_allclose(value[:, 1], expected[:, 1], atol=1e-4)


def test_lc0_was_asked_about_every_family() -> None:
    rows, _, values = answers()
    assert set(rows) == set(networks())
    asked = set(rows) | {name for name in FAMILIES if name.startswith("a tower before it")}
    assert asked >= set(TOWERS) | set(FAMILIES)
    assert np.unique(values[:, 0, 0]).size > 40, "the networks differ"
    assert ANSWERS.stat().st_size < 200_000


@pytest.mark.parametrize("suffix", [".onnx", ".safetensors"])
def test_our_own_files_keep_an_attention_network(tmp_path: Path, suffix: str) -> None:
    choices = {"embedding": "dense", "smolgen": True, "gates": True, "policy_encoders": 1}
    weights = load_network(write_attention(tmp_path / "net.pb", **choices))
    save_network(weights, tmp_path / f"kept{suffix}")
    kept = load_network(tmp_path / f"kept{suffix}")
    assert kept.architecture == weights.architecture
    assert kept.search == weights.search
    for name, values in weights.arrays.items():
        np.testing.assert_array_equal(kept.arrays[name], values)


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("body", 3),
        ("attention", None),
        ("attention", {"keys": 0}),
        ("attention", {"activation": "exec"}),
        ("attention", {"encoders": [1]}),
        ("body", {"width": 0}),
        ("body", {"width": 10**9}),
        ("body", {"position": "here"}),
        ("body", {"position_channels": 0}),
        ("body", {"encoders": None}),
        ("body", {"unheard_of": 1}),
        ("encoders", {"count": 10**6}),
        ("encoders", {"heads": 3}),
        ("encoders", {"heads": 0}),
        ("encoders", {"heads": "2"}),
        ("encoders", {"epsilon": "0"}),
        ("encoders", {"smolgen_size": 0}),
        ("encoders", {"hidden": -1}),
    ],
)
def test_a_description_of_attention_that_makes_no_sense_is_refused(
    tmp_path: Path, part: str, change: Any
) -> None:
    choices = {"embedding": "dense", "smolgen": True}
    values = load_network(write_attention(tmp_path / "net.pb", **choices)).architecture.to_dict()
    assert Architecture.from_dict(values).to_dict() == values
    place = values["body"] if part == "encoders" else values
    place[part] = {**place[part], **change} if isinstance(change, dict) else change
    with pytest.raises(UserError) as caught:
        Architecture.from_dict(values)
    assert "\n" not in str(caught.value)


def test_the_position_table_is_where_a_queen_or_a_knight_goes() -> None:
    np.testing.assert_array_equal(reachable(), position_table())
