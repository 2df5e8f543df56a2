"""A player is one text: it says all, it can be read again, and mistakes in it are named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from small_networks import save_small

import zermelo
from zermelo.errors import UserError
from zermelo.games.protocol import Game
from zermelo.matches.contestants import game_of
from zermelo.network import NetworkEvaluator, load_network
from zermelo.network.places import network_path, shipped_network
from zermelo.players import player
from zermelo.players.policy_player import PolicyPlayer
from zermelo.players.protocol import Reseeds, StartsGames
from zermelo.players.registry import settings_known, with_settings
from zermelo.players.search_player import RolloutPlayer, SearchPlayer
from zermelo.search import SearchOptions

CONNECT4 = zermelo.game("connect4")


@pytest.fixture
def network(tmp_path: Path) -> Path:
    return save_small(tmp_path / "connect4.onnx")


@pytest.fixture
def run_directory(tmp_path: Path) -> Path:
    for number in (2, 11, 12):
        place = tmp_path / "run" / "checkpoints" / f"{number:06}"
        save_small(place / "weights.safetensors", seed=number)
    for number in (2, 11):  # the twelfth is being written: its manifest comes last
        (tmp_path / "run" / "checkpoints" / f"{number:06}" / "manifest.json").write_text("{}")
    return tmp_path / "run"


@pytest.mark.parametrize(
    "spec",
    [
        "random?seed=3",
        "minimax?depth=2&seed=4",
        "perfect?seed=1",
        "reference?simulations=7",
        "rollout?simulations=9&solver=off&c_puct=2.5",
        "rollout?seconds=0.25",
        "rollout?nodes=50",
        "search?simulations=30&evaluator=uniform&fpu=parent",
    ],
)
def test_a_players_name_is_a_text_that_gives_it_again(spec: str) -> None:
    made = player(spec, CONNECT4)
    assert made.name == spec
    again = player(made.name, CONNECT4)
    assert type(again) is type(made)
    assert again.name == made.name
    if isinstance(made, SearchPlayer):
        assert isinstance(again, SearchPlayer)
        assert again.options == made.options


def test_a_network_file_is_a_player(network: Path) -> None:
    spec = f"{network}?simulations=20&solver=off"
    made = player(spec, CONNECT4)
    assert isinstance(made, SearchPlayer)
    assert made.name == spec
    assert (made.simulations, made.options.solver) == (20, False)
    assert made.choose(CONNECT4, CONNECT4.initial()) in range(7)
    assert made.result is not None
    assert made.result.counters["evaluations"] > 0


def test_a_network_of_the_package_is_a_player_by_its_name() -> None:
    made = player("connect4?simulations=9", CONNECT4)
    assert isinstance(made, SearchPlayer)
    assert (made.network, made.simulations) == (shipped_network(CONNECT4), 9)
    assert game_of(["chess?simulations=9", "random"], None).name == "chess"
    with pytest.raises(UserError, match="there is no player 'hex'"):
        player("hex", CONNECT4)
    with pytest.raises(UserError, match="no network 'tictacto'; did you mean 'tictactoe'"):
        network_path("tictacto")


def test_a_run_is_played_by_its_newest_whole_checkpoint(run_directory: Path) -> None:
    newest = str(run_directory / "checkpoints" / "000011")
    assert network_path(str(run_directory)) == newest
    assert network_path(str(run_directory / "checkpoints")) == newest
    one = str(run_directory / "checkpoints" / "000002")
    assert network_path(one) == one
    made = player(f"{run_directory}?simulations=5", CONNECT4)
    assert isinstance(made, SearchPlayer)
    made.choose(CONNECT4, CONNECT4.initial())
    named = player(f"{newest}?simulations=5", CONNECT4)
    assert isinstance(named, SearchPlayer)
    named.choose(CONNECT4, CONNECT4.initial())
    assert made.result is not None and named.result is not None
    assert made.result.value == named.result.value


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("rolout?simulations=3", "there is no player 'rolout'; did you mean 'rollout'?"),
        ("rollout?simulation=3", "rollout has no parameter 'simulation'; did you mean 'simul"),
        ("rollout?weights=x", "rollout has no parameter 'weights'"),
        ("rollout?nodes=5&simulations=5", "nodes cannot be given with simulations"),
        ("rollout?nodes=0", "nodes must be 1 or more"),
        ("search?simulations=99999999999999999999", "simulations must be 1 or more, up to 1000"),
        ("rollout?seconds=nan", "seconds must be from 0 to 1e"),
        ("rollout?seconds=-1", "seconds must be from 0 to 1e"),
        ("rollout?seconds=inf", "seconds must be from 0 to 1e"),
        ("policy", r"policy: it needs a network: policy\?weights=FILE"),
        ("{tmp}/conect4.onnx", "there is no network '.*'; did you mean 'connect4.onnx'"),
        ("{tmp}/no/net.onnx", "there is no directory"),
        ("{tmp}", "is a directory without weights.safetensors and without checkpoints"),
        ("{tmp}/connect4.onnx?solvr=on", "has no parameter 'solvr'; did you mean 'solver'"),
        ("{tmp}/connect4.onnx?evaluator=hash", "has no parameter 'evaluator'"),
        ("policy?weights={tmp}/connect4.onnx&temperature=-1", "temperature must be 0 or more"),
    ],
)
def test_a_mistake_is_refused_with_the_nearest_name(
    spec: str, sentence: str, network: Path
) -> None:
    with pytest.raises(ValueError, match=sentence):
        player(spec.format(tmp=network.parent), CONNECT4)


def test_a_network_of_another_game_is_refused(network: Path) -> None:
    game = zermelo.game("tictactoe")
    with pytest.raises(ValueError, match=r"connect4\.onnx: "):
        player(f"{network}?simulations=2", game).choose(game, game.initial())


def test_the_greedy_policy_is_the_largest_legal_logit(network: Path) -> None:
    state = CONNECT4.parse_position("444444")  # type: ignore[attr-defined]
    evaluator = NetworkEvaluator(load_network(network), "openvino", game=CONNECT4)
    logits, _ = evaluator(np.asarray(CONNECT4.observe(state), np.float32)[None])
    legal = list(CONNECT4.legal_actions(state))
    made = player(f"policy?weights={network}", CONNECT4)
    assert made.choose(CONNECT4, state) == max(legal, key=lambda action: logits[0, action])
    assert isinstance(made, PolicyPlayer)
    report = made.report()
    assert report is not None and report.value is not None
    assert -1 <= report.value <= 1


def test_a_sampled_policy_follows_its_probabilities_and_its_seed(network: Path) -> None:
    state = CONNECT4.initial()
    evaluator = NetworkEvaluator(load_network(network), "openvino", game=CONNECT4)
    logits, _ = evaluator(np.asarray(CONNECT4.observe(state), np.float32)[None])
    wanted = np.exp(logits[0] / 0.1)
    wanted /= wanted.sum()

    def draws(seed: int) -> list[int]:
        made = player(f"policy?weights={network}&temperature=0.1&backend=openvino", CONNECT4)
        assert isinstance(made, PolicyPlayer)
        made.reseed(seed)
        return [made.choose(CONNECT4, state) for _ in range(600)]

    found = draws(1)
    shares = np.bincount(found, minlength=7) / 600
    assert np.abs(shares - wanted).max() < 0.1
    assert draws(1) == found != draws(2)


@pytest.mark.parametrize("spec", ["random", "minimax?depth=1&seed=2", "rollout?simulations=30"])
def test_chance_follows_the_seed_and_nothing_else(spec: str) -> None:
    def game_of(seed: int, before: int) -> list[int]:
        made = player(spec, CONNECT4)
        assert isinstance(made, Reseeds)
        for earlier in range(before):  # earlier games leave no trace
            play(made, earlier)
        return play(made, seed)

    def play(made, seed: int) -> list[int]:  # type: ignore[no-untyped-def]
        made.reseed(seed)
        if isinstance(made, StartsGames):
            made.start_game()
        state, actions = CONNECT4.initial(), []
        while CONNECT4.outcome(state) is None:
            actions.append(made.choose(CONNECT4, state))
            state = CONNECT4.play(state, actions[-1])
        return actions

    assert game_of(7, before=0) == game_of(7, before=2)
    assert len({tuple(game_of(seed, before=0)) for seed in range(6)}) > 1


def test_seeds_do_not_change_what_a_hash_thinks() -> None:
    made = player("search?evaluator=hash&simulations=40", CONNECT4)
    assert isinstance(made, SearchPlayer)
    found = set()
    for seed in range(4):
        made.reseed(seed)
        made.choose(CONNECT4, CONNECT4.initial())
        assert made.result is not None
        found.add(made.result.value)
    assert len(found) == 1


def test_nodes_count_what_a_kept_tree_already_has() -> None:
    made = player("rollout?nodes=300&solver=off", CONNECT4)
    assert isinstance(made, RolloutPlayer)
    state = CONNECT4.initial()
    for _ in range(4):
        state = CONNECT4.play(state, made.choose(CONNECT4, state))
        assert made.result is not None
        assert made.result.root_visits == 300
        spent = made.result.counters["simulations"]
    assert spent < 300  # the rest was there


def test_settings_are_added_to_a_text() -> None:
    assert with_settings("random", {}) == "random"
    assert with_settings("a.onnx?solver=on&fpu=zero", {"solver": "off", "seed": "1"}) == (
        "a.onnx?solver=off&fpu=zero&seed=1"
    )
    known = settings_known("a.onnx")
    assert known is not None
    assert {row["name"] for row in SearchOptions.table()} <= known
    assert settings_known("uci:stockfish") is None


def test_a_search_reports_what_it_thought() -> None:
    made = player("rollout?simulations=50", CONNECT4)
    assert isinstance(made, SearchPlayer)
    assert made.report() is None
    game: Game = CONNECT4
    made.choose(game, game.initial())
    report = made.report()
    assert report is not None and report.value is not None
    assert report.simulations == 50
    assert report.text == f"{report.value:+.2f}/50"
    won = CONNECT4.parse_position("4343437")  # type: ignore[attr-defined]
    made.choose(game, won)
    report = made.report()
    assert report is not None
    assert report.value == 1.0
    assert report.text.startswith("win in 1/")
