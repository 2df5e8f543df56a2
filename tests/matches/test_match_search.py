"""In a match each network is searched as its file says, and the match remembers how."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from small_networks import small_weights

import zermelo
from zermelo.errors import UserError
from zermelo.matches.contestants import can_gather, make_contestants
from zermelo.matches.match import MatchOptions, play_match
from zermelo.network import save_network
from zermelo.players import player
from zermelo.players.search_player import SearchPlayer
from zermelo.search import SearchOptions

OLD = Path(__file__).parents[1] / "data" / "made_by_902049b"
TICTACTOE = zermelo.game("tictactoe")
OWN = {"c_puct": 0.30000000000000004, "fpu": "loss", "gumbel": True}


@pytest.fixture
def network(tmp_path: Path) -> str:
    place = tmp_path / "own.onnx"
    save_network(replace(small_weights("tictactoe"), search=OWN), place)
    return str(place)


def options_in_match(spec: str, own: bool = True) -> SearchOptions:
    made = player(make_contestants([spec, "random"], TICTACTOE, own).specs[0], TICTACTOE)
    assert isinstance(made, SearchPlayer)
    return made.options


def test_a_player_of_a_match_has_the_networks_own_search_and_its_own_settings(network: str) -> None:
    options = options_in_match(f"{network}?simulations=20&fpu=parent")
    assert (options.c_puct, options.fpu, options.gumbel) == (OWN["c_puct"], "parent", True)


def test_by_the_clock_a_gumbel_root_of_the_networks_own_is_off(network: str) -> None:
    options = options_in_match(f"{network}?seconds=0.1")
    assert (options.fpu, options.gumbel) == ("loss", False)
    with pytest.raises(UserError, match="gumbel shares out"):
        player(f"{network}?seconds=0.1&gumbel=on", TICTACTOE)


def test_networks_that_take_several_leaves_at_once_are_not_played_side_by_side(
    tmp_path: Path, network: str
) -> None:
    many = tmp_path / "many.onnx"
    save_network(replace(small_weights("tictactoe"), search={"leaves_per_tree": 4}), many)
    assert can_gather([network, network])
    assert not can_gather([network, str(many)])
    assert can_gather([network, f"{many}?leaves_per_tree=1"])


def test_a_match_remembers_the_searches_and_refuses_to_go_on_with_others(
    tmp_path: Path, network: str
) -> None:
    players, out = [f"{network}?simulations=8", "random"], tmp_path / "match"
    play_match(players, options=MatchOptions(games=2, out=out))
    agreed = json.loads((out / "match.json").read_text())
    first, second = agreed["search"]
    assert second is None
    assert {key: first[key] for key in OWN} == OWN
    agreed["search"][0]["c_puct"] = 7.0
    (out / "match.json").write_text(json.dumps(agreed))
    with pytest.raises(UserError, match="different: search"):
        play_match(players, options=MatchOptions(games=2, out=out))


def test_a_match_that_an_older_version_began_goes_on_with_the_defaults(
    tmp_path: Path, network: str
) -> None:
    """Its players are called as before, and its file says nothing of searches."""
    assert options_in_match(f"{network}?simulations=8", own=False).to_dict() == (
        SearchOptions(cache_symmetry=False).to_dict()
    )
    players = [f"{network}?simulations=8", "search?simulations=8&evaluator=uniform"]
    options = MatchOptions(games=8, out=tmp_path / "match")
    whole = play_match(players, options=options)
    file = tmp_path / "match" / "match.json"
    agreed = json.loads(file.read_text())
    del agreed["search"]
    file.write_text(json.dumps(agreed))
    (tmp_path / "match" / "games.jsonl").unlink()
    old = play_match(players, options=options)
    usual = "&".join(["c_puct=1.5", "fpu=zero", "gumbel=off"])
    defaults = play_match([f"{players[0]}&{usual}", players[1]], options=MatchOptions(games=8))
    played = [record.actions for record in old.records]
    assert played == [record.actions for record in defaults.records]
    assert played != [record.actions for record in whole.records]


def test_the_unfinished_match_of_an_older_version_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(OLD / "unfinished_match", tmp_path / "match")
    shutil.copy(OLD / "old.onnx", tmp_path)
    monkeypatch.chdir(tmp_path)
    before = (tmp_path / "match" / "games.jsonl").read_text().splitlines()
    agreed = json.loads((tmp_path / "match" / "match.json").read_text())
    games = len(before) + 2
    options = MatchOptions(games=games, seed=agreed["seed"], out=Path("match"))
    found = play_match(agreed["players"], "tictactoe", options)
    assert len(found.records) == games
    assert [record.to_json() for record in found.records[: len(before)]] == before
    assert "search" not in json.loads((tmp_path / "match" / "match.json").read_text())
