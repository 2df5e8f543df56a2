"""Canonical planes: what networks see that lc0 shows turned boards, and what they answer."""

from __future__ import annotations

import pickle
from functools import cache
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest
from lc0_files import write_net
from lc0_turned_oracle import FORMATS, KEPT, games
from native_games import native

from zermelo.errors import UserError
from zermelo.network import NetworkEvaluator, load_network
from zermelo.network.accuracy import scalar_value
from zermelo.network.build_onnx import onnx_bytes, read_onnx
from zermelo.network.runtimes import BACKENDS, installed_backends

TURNS = slice(112, 115)


def rules(kind: int) -> Any:
    return native(f"chess?encoder=lc0_{kind}")


@cache
def kept() -> dict[str, Any]:
    with np.load(KEPT) as file:
        return dict(file)


def states(kind: int) -> list[Any]:
    game = rules(kind)
    return [game.parse_position(" ".join([fen, "moves", *moves])) for fen, moves in games(kind)]


def observations(kind: int) -> Any:
    return np.stack([np.asarray(rules(kind).observe(s), np.float32) for s in states(kind)])


@pytest.mark.technique("E5")
@pytest.mark.parametrize("kind", FORMATS)
def test_planes_equal_those_of_lc0(kind: int) -> None:
    masks, values = kept()[f"masks{kind}"], kept()[f"values{kind}"]
    bits = np.unpackbits(masks.view(np.uint8), axis=-1, bitorder="little")
    expected = bits.reshape(len(masks), 112, 8, 8).astype(np.float32)
    expected[:, 104:] *= values[:, :, None, None]
    found = observations(kind)
    assert found.shape == (len(expected), 115, 8, 8)
    np.testing.assert_allclose(found[:, :112], expected, rtol=1e-6)
    assert expected[:, 13:104].any(), "some earlier board is shown"
    assert expected[:, 108].any(), "somewhere a pawn can be taken en passant"
    assert expected[:, 12:104:13].any(), "something was repeated"


def test_every_way_to_turn_a_board_is_among_the_positions() -> None:
    turns = np.concatenate([observations(kind)[:, TURNS, 0, 0] for kind in FORMATS])
    assert len(np.unique(turns, axis=0)) == 8


@pytest.mark.technique("E5")
@pytest.mark.parametrize("kind", FORMATS)
def test_answers_equal_those_of_lc0(tmp_path: Path, kind: int) -> None:
    weights = load_network(write_net(tmp_path / "net.pb", inputs=kind))
    assert weights.architecture.game == f"chess?encoder=lc0_{kind}"
    shown = observations(kind)
    policy, value = NetworkEvaluator(weights, installed_backends()[0])(shown)
    answers, raw = kept()[f"answers{kind}"], kept()[f"policy{kind}"]
    np.testing.assert_allclose(scalar_value(value), answers[:, 0], atol=1e-4)
    np.testing.assert_allclose(value[:, 1], answers[:, 1], atol=1e-4)
    start = compared = 0
    for row, state in enumerate(states(kind)):
        actions = sorted(rules(kind).legal_moves(state))
        logits = raw[start : start + len(actions)]
        start += len(actions)
        if not shown[row, TURNS].any():
            np.testing.assert_allclose(policy[row][actions], logits, atol=1e-3)
            compared += 1
    assert start == len(raw)
    assert compared > 10


REFLECTIONS = (
    chess.flip_horizontal,
    chess.flip_vertical,
    chess.flip_diagonal,
    chess.flip_anti_diagonal,
)
WITHOUT_PAWNS = (
    "8/8/8/8/1k6/8/3R4/5K2 w - - 0 1",
    "8/1n6/8/2K5/8/5k2/3Q4/7b w - - 3 9",
    "8/8/3k4/8/4K3/8/2N5/1B6 w - - 0 1",
    "8/8/3k4/8/4K3/6r1/2N5/8 b - - 0 1",
)
MIRRORED = str.maketrans("abcdefgh", "hgfedcba")


def reflected(text: str, reflect: Any) -> str:
    """A move without promotion on the reflected board."""
    squares = (chess.BB_SQUARES[chess.parse_square(end)] for end in (text[:2], text[2:]))
    return "".join(chess.square_name(chess.lsb(reflect(square))) for square in squares)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", [3, 133])
def test_a_reflected_position_has_the_reflected_policy(
    tmp_path: Path, kind: int, backend: str
) -> None:
    pytest.importorskip({"onnx": "onnxruntime"}.get(backend, backend), reason="not installed")
    evaluator = NetworkEvaluator(load_network(write_net(tmp_path / "n.pb", inputs=kind)), backend)
    game = rules(kind)

    def priors(board: chess.Board) -> dict[str, float]:
        state = game.parse_position(board.fen())
        (logits,), _ = evaluator(np.asarray(game.observe(state), np.float32)[None])
        return {game.action_text(state, a): float(logits[a]) for a in game.legal_actions(state)}

    for fen in WITHOUT_PAWNS:
        board = chess.Board(fen)
        expected = priors(board)
        for reflect in REFLECTIONS:
            found = priors(board.transform(reflect))
            assert len(found) == len(expected)
            for text, logit in expected.items():
                assert found[reflected(text, reflect)] == pytest.approx(logit, abs=1e-5)
    pawns = chess.Board("8/1P3k2/8/3Pp3/2K5/8/8/8 w - e6 0 9")
    mirror = priors(pawns.transform(chess.flip_horizontal))
    for text, logit in priors(pawns).items():
        moved = text[:4].translate(MIRRORED) + text[4:]
        assert mirror[moved] == pytest.approx(logit, abs=1e-5)


def test_a_network_of_turned_boards_is_for_its_own_planes(tmp_path: Path) -> None:
    path = write_net(tmp_path / "net.pb", inputs=4)
    weights = load_network(path, rules(4))
    assert read_onnx(memoryview(onnx_bytes(weights)), "copy").architecture == weights.architecture
    with pytest.raises(
        UserError, match=r"is for chess\?encoder=lc0_4 .*, not for chess\?encoder=lc0_3"
    ):
        load_network(path, rules(3))


def test_a_turned_board_is_kept_by_pickling_and_found_anew_by_its_key() -> None:
    game = rules(5)
    state = game.parse_position("8/2k5/8/3R4/8/2K5/8/7r b - - 0 70 moves h1h3 c3c2 h3h1 c2c3 h1h2")
    again = game.parse_position("8/2k5/8/3R4/8/2K5/8/7r b - - 0 70 moves h1h2")
    assert game.observe(state)[13:26].any(), "a repeated board is shown"
    assert not game.observe(again)[13:26].any()
    copied = pickle.loads(pickle.dumps(state))
    np.testing.assert_array_equal(game.observe(copied), game.observe(state))
