"""One network, one search: with as many simulations it plays the same move wherever it plays.

The commands are run as people run them. What a yardstick chooses is overheard, since it prints
figures only.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import chess.engine
import pytest
from outside_data import outside_data
from small_networks import small_weights

from zermelo.cli import main
from zermelo.games.notation import action_text, parse_position, position_text
from zermelo.games.protocol import Game, State
from zermelo.matches.openings import canonical_hash
from zermelo.network import Weights, save_network
from zermelo.network.open import open_network
from zermelo.network.places import network_path
from zermelo.yardsticks.choosers import Choice, SearchChooser

OLD = Path(__file__).parents[1] / "data" / "made_by_902049b"
SIMULATIONS = 50
BACKEND = "openvino"
SIDES = ("first", "second")

Captured = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


def analysed(capsys: Captured, game: Game, weights: str, position: str) -> str:
    """The best move of `zermelo analyse`."""
    words = ["--weights", weights, "--position", position, "--simulations", str(SIMULATIONS)]
    assert main(["analyse", game.name, *words, "--backend", BACKEND, "--json"]) == 0
    return str(json.loads(capsys.readouterr().out)["best"])


def played(capsys: Captured, patch: Patch, game: Game, weights: str, position: str) -> str:
    """The first move of `zermelo play`, where the network begins."""
    person = SIDES[1 - game.player(parse_position(game, position))]
    opponent = f"{weights}?simulations={SIMULATIONS}&backend={BACKEND}"
    patch.setattr("sys.stdin", io.StringIO("quit\n"))
    words = ["--against", opponent, "--position", position, "--side", person]
    assert main(["play", game.name.partition("?")[0], *words]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if " plays " in line)
    move = line.split(" plays ")[1].partition(" (")[0]
    return chess.Board(position).parse_san(move).uci() if game.name.startswith("chess") else move


def matched(
    capsys: Captured, place: Path, game: Game, weights: str, positions: Sequence[str]
) -> list[str]:
    """The first moves of the games of a `zermelo match` of the network with itself."""
    book = place / "book.epd"
    book.write_text("".join(f"{position}\n" for position in positions))
    words = ["--game", game.name, "--games", str(2 * len(positions)), "--simulations"]
    words += [str(SIMULATIONS), "--openings", f"{book}?order=given", "--out", str(place / "match")]
    assert main(["match", weights, weights, *words, "--max-plies", "2", "--json"]) == 0
    capsys.readouterr()
    games = map(json.loads, (place / "match" / "games.jsonl").read_text().splitlines())
    found = {one["opening"]["position"]: one["actions"][0] for one in games}
    return [found[position] for position in positions]


def overheard(patch: Patch) -> list[tuple[State, Choice]]:
    """Every choice that a yardstick's search makes from now on."""
    heard: list[tuple[State, Choice]] = []
    choose = SearchChooser.choose

    def listen(chooser: SearchChooser, states: Sequence[State]) -> list[Choice]:
        choices = choose(chooser, states)
        heard.extend(zip(states, choices, strict=True))
        return choices

    patch.setattr(SearchChooser, "choose", listen)
    return heard


def measured(patch: Patch, game: Game, weights: str, *words: str) -> Iterator[tuple[str, str]]:
    """Positions of `zermelo yardstick` and the network's moves there."""
    heard = overheard(patch)
    common = ["--weights", weights, "--simulations", str(SIMULATIONS), "--backend", BACKEND]
    assert main(["yardstick", game.name, *common, *words, "--json"]) == 0
    for state, choice in heard:
        yield position_text(game, state), action_text(game, state, choice.action)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ("connect4", ("--positions", "generated", "--limit", "12")),
        (str(OLD / "run"), ("--opponents", "random", "--games", "2")),
    ],
    ids=["shipped", "run of an older version"],
)
def test_play_analyse_match_and_yardstick_choose_alike(
    weights: str, words: tuple[str, ...], tmp_path: Path, capsys: Captured, monkeypatch: Patch
) -> None:
    path = network_path(weights)
    game = open_network(path, backend=BACKEND).game
    asked = dict(measured(monkeypatch, game, path, *words))
    capsys.readouterr()
    # A book of openings drops mirror images.
    different = {canonical_hash(game, parse_position(game, text)): text for text in asked}
    positions = list(different.values())[:12]
    assert len(positions) >= 8
    chosen = [asked[position] for position in positions]
    assert [analysed(capsys, game, path, position) for position in positions] == chosen
    assert [played(capsys, monkeypatch, game, path, one) for one in positions] == chosen
    assert matched(capsys, tmp_path, game, path, positions) == chosen


FENS = (
    chess.STARTING_FEN,
    "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
    "r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N2N2/PP2BPPP/R1BQ1RK1 w - - 0 9",
    "2rq1rk1/pb1n1ppN/4p3/1pb5/3P1Pn1/P1N5/1PQ1B1PP/R1B2RK1 b - - 0 16",
    "3r2k1/5ppp/1p6/p1p5/P1P1R3/1P4P1/5PKP/8 b - - 2 28",
    "8/8/1p2k1p1/3p3p/1p1P1P1P/1P2PK2/8/8 w - - 3 54",
)


def decided(weights: Weights) -> Weights:
    """With opinions: what a new network says is nearly even everywhere."""
    arrays = {
        name: array * 20 if name.endswith("_out.weight") else array
        for name, array in weights.arrays.items()
    }
    return replace(weights, arrays=arrays)


@pytest.mark.parametrize(
    "search",
    [{}, {"fpu": "loss", "c_puct": 2.5}, {"gumbel": True, "gumbel_scale": 0.3}],
    ids=["defaults", "other values", "gumbel"],
)
def test_over_uci_it_chooses_as_everywhere_else(
    search: dict[str, Any], tmp_path: Path, capsys: Captured, monkeypatch: Patch
) -> None:
    path = str(tmp_path / "net.onnx")
    save_network(replace(decided(small_weights("chess", seed=3)), search=search), path)
    require_one_choice(path, tmp_path, capsys, monkeypatch)


def test_a_network_of_lc0_chooses_alike_everywhere(
    tmp_path: Path, capsys: Captured, monkeypatch: Patch
) -> None:
    path = outside_data("nets/maia-1500.pb.gz")
    require_one_choice(str(path), tmp_path, capsys, monkeypatch)


def require_one_choice(path: str, place: Path, capsys: Captured, patch: Patch) -> None:
    """In each of the positions, of all commands and over UCI."""
    opened = open_network(path, "chess", BACKEND)
    game = opened.game
    chosen = [analysed(capsys, game, path, fen) for fen in FENS]
    command = [sys.executable, "-m", "zermelo.uci", "--weights", path]
    with chess.engine.SimpleEngine.popen_uci(command) as engine:
        limit = chess.engine.Limit(nodes=SIMULATIONS + 1)  # the root's own visit is one
        answers = [engine.play(chess.Board(fen), limit, game=fen).move for fen in FENS]
    assert [move.uci() for move in answers if move] == chosen
    assert [played(capsys, patch, game, path, fen) for fen in FENS] == chosen
    assert matched(capsys, place, game, path, FENS) == chosen
    chooser = SearchChooser(game, opened.evaluator, SIMULATIONS, opened.searched({"threads": 2}))
    states = [parse_position(game, fen) for fen in FENS]
    choices = [choice.action for choice in chooser.choose(states)]
    assert [action_text(game, s, a) for s, a in zip(states, choices, strict=True)] == chosen
