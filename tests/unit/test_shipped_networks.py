"""The networks that come with the package: small, sound, and what `zermelo play` uses."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from native_games import native

import zermelo
from zermelo.cli import main
from zermelo.config import find_preset, read_run_file
from zermelo.network import load_network
from zermelo.network.open import open_network, own_search
from zermelo.network.places import shipped_network
from zermelo.players.at_hand import adviser, default_opponent, usable_network
from zermelo.search import SearchOptions

FILES = sorted((Path(zermelo.__file__).parent / "data" / "networks").iterdir())
MOST_BYTES = 4_000_000
# The presets that made them.
MADE_BY = {
    "tictactoe": "tictactoe",
    "connect4": "connect4",
    "othello_size6": "othello6",
    "chess": "chess",
}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_shipped_network_is_small_and_is_found_by_its_game(file: Path) -> None:
    assert file.stat().st_size <= MOST_BYTES
    game = native(load_network(file).architecture.game)
    assert shipped_network(game) == str(file)
    load_network(file, game)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_shipped_network_is_searched_as_the_preset_that_made_it(file: Path) -> None:
    preset = find_preset(MADE_BY[file.stem])
    assert preset is not None
    tables = read_run_file(preset)[1]
    assert tables["game"]["name"] == load_network(file).architecture.game
    wanted = SearchOptions(**tables.get("search", {}))
    if file.stem == "chess":  # Gumbel's root is for learning: in play it lost 111 Elo (evidence.md)
        wanted = wanted.replace(gumbel=False)
    assert SearchOptions(**own_search(file.stem)) == wanted


def test_chess_connect_four_othello_on_6x6_and_tic_tac_toe_have_one() -> None:
    assert {"chess", "connect4", "othello_size6", "tictactoe"} == {file.stem for file in FILES}


def test_the_chess_network_needs_no_runtime_and_takes_what_is_offered(
    capsys: pytest.CaptureFixture[str],
) -> None:
    chess = native("chess")
    assert usable_network(chess) == shipped_network(chess)
    assert open_network("chess", "chess").evaluator.backend == "core"
    queen = "rnb1kbnr/pppp1ppp/8/4p1q1/4P3/3P4/PPP2PPP/RNBQKBNR w KQkq - 1 3"
    analysed = ["analyse", "chess", "--position", queen, "--simulations", "300", "--json"]
    assert main(analysed) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["actions"][0]["text"] == "c1g5"


def test_the_engine_takes_the_chess_network_unless_told_otherwise() -> None:
    said = []
    for commands in ("isready\n", "setoption name WeightsFile value none\nisready\n"):
        ended = subprocess.run(
            [sys.executable, "-P", "-m", "zermelo.uci"],
            input=f"uci\n{commands}quit\n",
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        said.append(ended.stdout)
    assert "info string network chess" in said[0] and "no network" not in said[0]
    assert "info string no network is loaded" in said[1]


def test_a_game_without_one_is_played_by_a_search_that_judges_by_random_games() -> None:
    hex5 = native("hex?size=5")
    assert shipped_network(hex5) is None
    assert default_opponent(hex5).name == "search?simulations=400&evaluator=rollout"


def test_hints_are_by_the_network_or_by_many_random_games() -> None:
    assert adviser(native("hex")).name == "search?simulations=2000&evaluator=rollout"
    assert "connect4.onnx?simulations=800&" in adviser(native("connect4")).name


def test_play_takes_the_network_and_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("d1\nquit\n"))
    assert main(["play", "connect4"]) == 0
    assert "connect4.onnx" in capsys.readouterr().out


def test_the_network_of_connect_four_opens_in_the_centre_and_ends_the_game() -> None:
    game = native("connect4")
    opponent = default_opponent(game)
    opponent.prepare(game)
    assert game.action_text(game.initial(), opponent.choose(game, game.initial())) == "4"
    state = game.initial()
    for column in "343536":  # three above each other: the fourth wins
        state = game.play(state, game.parse_action(state, column))
    assert game.action_text(state, opponent.choose(game, state)) == "3"
