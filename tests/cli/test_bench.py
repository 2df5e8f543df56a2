"""`zermelo bench`: the signature is what it was, and every figure is there."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from zermelo.cli import main
from zermelo.cli.bench import meant_for_search
from zermelo.cli.bench_all import by_reference
from zermelo.cli.bench_search import (
    network_signature,
    position_after,
    signature,
    signature_lines,
)
from zermelo.games import game, game_names
from zermelo.search import UniformEvaluator

GOLDEN = Path(__file__).parents[1] / "golden" / "bench_signature.json"
HOW = "the search or a game changed; if that is meant, see CONTRIBUTING on the golden signature"
Captured = pytest.CaptureFixture[str]


def run(capsys: Captured, *arguments: str) -> str:
    assert main(["bench", *arguments]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", game_names())
def test_the_signature_of_each_game_is_the_golden_one(name: str) -> None:
    rules = game(name)
    golden = json.loads(GOLDEN.read_text())["games"][rules.name]
    assert signature(rules) == golden["signature"], HOW
    assert network_signature(rules) == golden["network_signature"], HOW


def test_the_golden_file_is_what_the_command_prints(capsys: Captured) -> None:
    assert json.loads(run(capsys, "--seconds", "0", "--json")) == json.loads(GOLDEN.read_text())


def test_the_signature_covers_many_searches() -> None:
    lines = list(signature_lines(game("connect4")))
    assert len(set(lines)) == len(lines)
    assert len(lines) > 20


def test_positions_of_the_signature_are_not_over() -> None:
    for name in game_names():
        rules = game(name)
        for plies in (0, 5, 12, 23, 60):
            assert rules.outcome(position_after(rules, plies, seed=plies)) is None


def test_speeds_are_given_for_one_and_many_boards(capsys: Captured) -> None:
    found = json.loads(run(capsys, "tictactoe", "hex?size=3", "--seconds", "0.02", "--json"))
    assert list(found["games"]) == ["tictactoe", "hex?size=3"]
    for row in found["games"].values():
        for boards in ("one_board", "many_boards"):
            for threads in (1, 2):
                assert row[f"{boards}_{threads}_threads"] > 0
        assert 16 < row["bytes_per_node"] < 1000


def test_the_table_is_for_people(capsys: Captured) -> None:
    shown = run(capsys, "tictactoe", "--seconds", "0.02")
    assert "bytes/node" in shown
    assert "signature" in shown.splitlines()[-1]


def test_an_unknown_game_is_one_sentence(capsys: Captured) -> None:
    assert main(["bench", "ches"]) == 2
    assert "did you mean 'chess'?" in capsys.readouterr().err


def test_plain_bench_is_bench_search(capsys: Captured) -> None:
    plain = run(capsys, "tictactoe", "--seconds", "0")
    assert run(capsys, "search", "tictactoe", "--seconds", "0") == plain
    assert plain.splitlines()[-1].startswith("signature ")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("", True),
        ("--seconds 0", True),
        ("connect4 hex", True),
        ("chess", True),
        ("chess --seconds 0", True),
        ("search", False),
        ("network tictactoe", False),
        ("chess --weights FILE", False),
        ("chess --weights=FILE", False),
        ("chess --help", False),
        ("--help", False),
    ],
)
def test_what_names_no_part_of_bench_is_meant_for_the_search(words: str, meant: bool) -> None:
    assert meant_for_search(words.split()) is meant


@pytest.mark.parametrize("part", ["network", "chess"])
def test_the_old_names_of_benches_still_work_but_are_not_shown(capsys: Captured, part: str) -> None:
    assert main([f"bench-{part}", "--help"]) == 0
    old = capsys.readouterr().out
    assert old.replace(f"bench-{part}", f"bench {part}").split() == (
        run(capsys, part, "--help").split()
    )
    assert main(["--help"]) == 0
    assert f"bench-{part}" not in capsys.readouterr().out


def test_bench_all_has_every_way_network_and_number_of_boards(
    capsys: Captured, tmp_path: Path
) -> None:
    brief = ("--seconds", "0", "--rounds", "1", "--simulations", "2")
    out = tmp_path / "speeds"
    found = json.loads(
        run(capsys, "all", "--games", "connect4", *brief, "--out", str(out), "--json")
    )
    rows = found["rows"]
    assert [json.loads(line) for line in (out / "speeds.jsonl").read_text().splitlines()] == rows
    for network in ("none", "processor network", "tower"):
        own = [row for row in rows if row["network"] == network]
        assert {row["way"] for row in own} == {"reference", "one board", "many boards"}
        assert {row["boards"] for row in own if row["way"] == "many boards"} == {1, 8, 64, 256}
        assert all(row["seconds_per_board"] > 0 for row in own)
        assert all(row["evaluations_per_second"] > 0 for row in own)
    image = (out / "speeds.svg").read_text()
    ElementTree.fromstring(image)
    assert image.count("<rect") == 1 + len(rows)  # a background and a bar each


def test_the_reference_asks_the_network_once_for_each_new_position() -> None:
    rules = game("tictactoe")
    boards, evaluations = by_reference(rules, UniformEvaluator(), 5)()
    assert (boards, evaluations) == (1, 6)


@pytest.mark.parametrize(
    ("words", "named"), [("--games go", "'go'"), ("--out /dev/null/x", "'/dev/null/x'")]
)
def test_bench_all_refuses_in_one_sentence(capsys: Captured, words: str, named: str) -> None:
    assert main(["bench", "all", *words.split()]) == 2
    assert named in capsys.readouterr().err
