"""OpenSpiel's games among ours, our players among OpenSpiel's bots, our games in PettingZoo."""

from __future__ import annotations

import pickle
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zermelo
from zermelo.cli import main
from zermelo.games.open_spiel import missing_property, planes_of

pyspiel = pytest.importorskip("pyspiel")

ROOT = Path(__file__).parents[2]
SMALL = "open_spiel:breakthrough(rows=6,columns=6)"


def random_state(game: Any, plies: int, seed: int) -> Any:
    chance, state = random.Random(seed), game.initial()
    for _ in range(plies):
        if game.outcome(state) is None:
            state = game.play(state, chance.choice(game.legal_actions(state)))
    return state


@pytest.mark.parametrize(
    "spec",
    [
        SMALL, "open_spiel:connect_four", "open_spiel:tic_tac_toe",
        "open_spiel:nim(pile_sizes=2;3)", "open_spiel:dots_and_boxes", "open_spiel:mancala",
        "open_spiel:gomoku(size=6)", "open_spiel:hex(board_size=5)",
        "open_spiel:misere(game=tic_tac_toe())",
    ],
)  # fmt: skip
def test_games_of_open_spiel_are_sound(spec: str) -> None:
    game = zermelo.game(spec)
    assert str(zermelo.check_game(game, games=2)).count("FAILED") == 0
    assert zermelo.game(game.name).name == game.name, "the name that files keep finds it again"


@pytest.mark.parametrize("name", ["connect4", "othello", "tictactoe"])
def test_two_implementations_of_one_game_agree(name: str) -> None:
    from zermelo.adapters.open_spiel import SAME

    ours: Any = zermelo.game(name)
    theirs: Any = zermelo.game(f"open_spiel:{SAME[name]}")
    chance = random.Random(3)
    for _ in range(20):
        a, b = ours.initial(), theirs.initial()
        while ours.outcome(a) is None:
            assert ours.player(a) == theirs.player(b)
            assert sorted(ours.legal_actions(a)) == sorted(theirs.legal_actions(b))
            action = chance.choice(theirs.legal_actions(b))
            a, b = ours.play(a, action), theirs.play(b, action)
            assert ours.outcome(a) == theirs.outcome(b)


def test_the_last_plane_tells_who_moves_and_the_others_are_open_spiels() -> None:
    game: Any = zermelo.game(SMALL)
    state = random_state(game, 5, 1)
    planes = game.observe(state)
    assert planes.shape == game.observation_shape == (4, 6, 6)
    tensor = np.array(state.native.observation_tensor(1), np.float32)
    assert np.array_equal(planes[:3].ravel(), tensor)
    assert (planes[3] == 1).all() and (game.observe(game.initial())[3] == 0).all()


def test_states_are_pickled_by_their_actions_and_stay_as_they_are() -> None:
    game: Any = zermelo.game(SMALL)
    state = random_state(game, 9, 2)
    text = game.position_text(state)
    game.play(state, state.legal[0])
    again = pickle.loads(pickle.dumps(state))
    assert again == state == game.parse_position(text)
    assert hash(again) == hash(state) and game.hash(again) == game.hash(state)
    assert state != game.initial()


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("open_spiel:brekthrough", "no game 'brekthrough'; did you mean 'breakthrough'"),
        ("open_spiel:breakthrough(rows=a)", "Wrong type for parameter rows"),
        ("open_spiel:breakthrough(rows=", "Missing closing bracket"),
        ("open_spiel:kuhn_poker", "because it has chance"),
        ("open_spiel:phantom_ttt", "because it hides information from a player"),
        ("open_spiel:2048", "because it is not for two players"),
        ("open_spiel:chinese_checkers(players=3)", "because it is not for two players"),
        ("open_spiel:matrix_rps", "because players do not move in turns"),
        ("open_spiel:efg_game(filename=/etc/passwd)", "is read from a file"),
        ("open_spiel:misere(game=kuhn_poker())", "because it has chance"),
    ],
)
def test_what_is_not_supported_is_refused_in_one_sentence(
    spec: str, sentence: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", spec]) == 2
    shown = capfd.readouterr()
    assert sentence in shown.err
    assert shown.err.count("\n") == 1, "OpenSpiel's own complaint is not printed too"


def test_without_open_spiel_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(zermelo.UserError, match=r"zermelo\[open_spiel\]"):
        zermelo.game("open_spiel:y(board_size=5)")


def test_shapes_become_planes_rows_and_columns() -> None:
    assert planes_of([3, 6, 7]) == (3, 6, 7)
    assert planes_of([3, 225]) == (3, 15, 15)
    assert planes_of([2, 7]) == (2, 1, 7)
    assert planes_of([16]) == (16, 1, 1)
    assert planes_of([2, 3, 4, 5]) == (6, 4, 5)


def test_the_page_tells_of_every_game_and_of_the_right_property() -> None:
    page = (ROOT / "docs" / "games" / "open_spiel.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]*) \|", page, re.MULTILINE))
    kinds = {kind.short_name: kind for kind in pyspiel.registered_games()}
    assert set(rows) == set(kinds)
    for name, kind in kinds.items():
        lacks = missing_property(pyspiel, kind)
        if "game" not in kind.parameter_specification:
            assert (rows[name] == lacks) if lacks else (rows[name] != ""), name


def test_a_match_is_played_in_an_open_spiel_game(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["match", "rollout?simulations=30", "random", "--game", SMALL, "--games", "2"]
    assert main([*words, "--json"]) == 0
    assert '"games": 2' in capsys.readouterr().out


def test_a_player_of_ours_is_an_open_spiel_bot() -> None:
    from open_spiel.python.bots import uniform_random

    from zermelo.adapters.open_spiel import bot

    player = zermelo.load(SMALL, simulations=60)
    ours, game = bot(player), pyspiel.load_game("breakthrough(rows=6,columns=6)")
    theirs = uniform_random.UniformRandomBot(1, np.random.RandomState(4))
    won = 0
    for _ in range(2):
        state = game.new_initial_state()
        ours.restart()
        while not state.is_terminal():
            state.apply_action((ours, theirs)[state.current_player()].step(state))
        won += state.player_return(0) > 0
    assert won == 2
    policy, action = ours.step_with_policy(game.new_initial_state())
    assert sum(share for _, share in policy) == pytest.approx(1)
    assert action in game.new_initial_state().legal_actions()
    with pytest.raises(zermelo.UserError, match="needs a player of an OpenSpiel game"):
        bot(zermelo.load("hex", simulations=1))


@pytest.mark.parametrize("name", ["connect4", "othello", "tictactoe"])
def test_a_network_of_ours_is_a_bot_where_open_spiel_has_the_same_game(name: str) -> None:
    from zermelo.adapters.open_spiel import SAME, bot

    game: Any = pyspiel.load_game(SAME[name])
    network = bot(zermelo.load(name, simulations=30))
    chance, state = random.Random(3), game.new_initial_state()
    network.restart()
    while not state.is_terminal():
        legal = state.legal_actions()
        if len(state.history()) % 2:
            action = chance.choice(legal)
        else:
            policy, action = network.step_with_policy(state)
            assert {each for each, _ in policy} == set(legal)
        state.apply_action(action)
    if name == "connect4":
        assert state.player_return(0) == 1
    other = pyspiel.load_game("breakthrough").new_initial_state()
    with pytest.raises(zermelo.UserError, match=f"this bot plays {SAME[name]}, not breakthrough"):
        network.step(other)
    if name == "connect4":
        wide = pyspiel.load_game("connect_four(columns=8)").new_initial_state()
        with pytest.raises(zermelo.UserError, match="this bot plays connect_four"):
            network.step(wide)


@pytest.mark.filterwarnings("ignore")  # PettingZoo's tests have opinions on names and values
@pytest.mark.parametrize("name", ["tictactoe", "connect4", "othello?size=6"])
def test_games_of_ours_pass_pettingzoos_own_tests(name: str) -> None:
    pytest.importorskip("pettingzoo")
    from pettingzoo.test import api_test, seed_test

    from zermelo.adapters.pettingzoo import env

    api_test(env(name), num_cycles=60)
    seed_test(lambda: env(name), num_cycles=30)


def test_an_environment_rewards_the_winner_and_ends_at_an_illegal_action() -> None:
    pytest.importorskip("pettingzoo")
    from zermelo.adapters.pettingzoo import env

    board = env("tictactoe", render_mode="ansi")
    board.reset()
    for action in (0, 3, 1, 4, 2):  # the first player fills a row
        assert board.observe(board.agent_selection)["action_mask"][action] == 1
        board.step(action)
    assert board.rewards == {"player_0": 1.0, "player_1": -1.0}
    assert all(board.terminations.values())
    assert "X" in board.render()
    board.reset()
    board.step(0)
    board.step(0)
    assert board.terminations["player_1"] and board.rewards["player_1"] == -1
    with pytest.raises(zermelo.UserError, match="render mode"):
        env("tictactoe", render_mode="human")
