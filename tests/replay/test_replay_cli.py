"""`zermelo replay`: what it shows, what it refuses, and its exit codes."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from make_samples import put_shard, random_samples

import zermelo
from zermelo.cli import main
from zermelo.replay import ReplayStore, Schema, ShardHeader, shard_path, write_shard

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def run_directory(tmp_path: Path) -> Path:
    for iteration in range(3):
        samples = random_samples(games=4, seed=iteration, iteration=iteration)
        put_shard(tmp_path / "replay", samples, number=iteration)
    return tmp_path


def run_json(capsys: Captured, *arguments: Any, code: int = 0) -> dict[str, Any]:
    assert main(["replay", *map(str, arguments), "--json"]) == code
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def damage(directory: Path) -> Path:
    path = sorted((directory / "replay").iterdir())[1]
    data = bytearray(path.read_bytes())
    data[-50] ^= 1
    path.write_bytes(data)
    return path


def test_inspect_lists_the_shards_of_a_run(run_directory: Path, capsys: Captured) -> None:
    found = run_json(capsys, "inspect", run_directory)
    assert [row["iteration"] for row in found["shards"]] == [0, 1, 2]
    assert found["samples"] == sum(row["samples"] for row in found["shards"])
    assert found["set_aside"] == found["unfinished"] == []
    assert run_json(capsys, "inspect", run_directory / "replay") == found
    assert main(["replay", "inspect", str(run_directory)]) == 0
    assert "3 shards" in capsys.readouterr().out


def test_inspect_names_what_was_set_aside(run_directory: Path, capsys: Captured) -> None:
    path = damage(run_directory)
    store = ReplayStore(run_directory / "replay", zermelo.game("connect4"))
    for shard in store.shards():
        store.read(shard)
    (run_directory / "replay" / ".it000009-w00-000009.zshard.77.tmp").write_bytes(b"")
    found = run_json(capsys, "inspect", run_directory)
    assert [row["name"] for row in found["set_aside"]] == [path.name]
    assert "its checksum is wrong" in found["set_aside"][0]["reason"]
    assert found["unfinished"] == [".it000009-w00-000009.zshard.77.tmp"]


def test_inspect_shows_the_header_and_rows_of_a_shard(
    run_directory: Path, capsys: Captured
) -> None:
    path = run_directory / "replay" / "it000001-w00-000001.zshard"
    found = run_json(capsys, "inspect", path, "--rows", "3")
    assert found["header"]["game"] == "connect4"
    assert found["header"]["layout"]["binary_planes"] == 2
    assert [row["ply"] for row in found["rows"]] == [0, 1, 2]
    assert found["rows"][0]["legal"] == 7
    assert main(["replay", "inspect", str(path), "--rows", "1"]) == 0
    shown = capsys.readouterr().out
    assert "column policy_actions: <u2" in shown
    assert "game 0 ply 0" in shown


def test_verify_finds_sound_shards_sound(run_directory: Path, capsys: Captured) -> None:
    found = run_json(capsys, "verify", run_directory)
    assert found["shards"] == found["sound"] == 3
    assert found["damaged"] == []


def test_verify_names_a_damaged_shard_and_leaves_it(run_directory: Path, capsys: Captured) -> None:
    path = damage(run_directory)
    found = run_json(capsys, "verify", run_directory, code=1)
    assert (found["shards"], found["sound"]) == (3, 2)
    assert [row["path"] for row in found["damaged"]] == [str(path)]
    assert main(["replay", "verify", str(run_directory)]) == 1
    shown = capsys.readouterr().out
    assert f"'{path}' is no sound shard: its checksum is wrong" in shown
    assert "2 of 3 shards are sound" in shown
    assert path.exists()


def test_verify_names_a_shard_of_another_game(run_directory: Path, capsys: Captured) -> None:
    game = zermelo.game("tictactoe")
    put_shard(run_directory / "replay", random_samples(game, games=2), game, worker=1)
    found = run_json(capsys, "verify", run_directory, code=1)
    assert (found["shards"], found["sound"]) == (4, 3)
    assert "is of the game 'tictactoe'" in found["damaged"][0]["reason"]


def test_stats_add_up(run_directory: Path, capsys: Captured) -> None:
    found = run_json(capsys, "stats", run_directory)
    made = [random_samples(games=4, seed=seed) for seed in range(3)]
    assert found["samples"] == sum(len(samples) for samples in made)
    assert found["games"] == 12
    assert found["plies_per_game"] == pytest.approx(found["samples"] / 12)
    assert found["win_share"] + found["draw_share"] + found["loss_share"] == pytest.approx(1)
    assert 0 < found["policy_entropy"] < 1.95  # ln 7
    assert 0 < found["duplicates"] < 1
    assert [row["samples"] for row in found["iterations"]] == [len(samples) for samples in made]
    assert main(["replay", "stats", str(run_directory)]) == 0
    assert "12 games in 3 shards" in capsys.readouterr().out


def test_stats_leave_damaged_shards_out(run_directory: Path, capsys: Captured) -> None:
    path = damage(run_directory)
    found = run_json(capsys, "stats", run_directory)
    assert found["shards"] == 2
    assert [row["path"] for row in found["damaged"]] == [str(path)]


def test_shards_of_a_game_from_a_file_are_verified_by_their_header(
    tmp_path: Path, capsys: Captured
) -> None:
    game = zermelo.game("examples/my_game.py")
    put_shard(tmp_path, random_samples(game, games=1), game)
    assert run_json(capsys, "verify", tmp_path)["sound"] == 1


def test_without_a_command_the_help_is_shown(capsys: Captured) -> None:
    assert main(["replay"]) == 0
    shown = capsys.readouterr()
    assert "verify" in shown.out
    assert shown.err == ""


@pytest.mark.parametrize("command", ["inspect", "verify", "stats"])
def test_wrong_paths_are_refused_in_one_sentence(
    command: str, tmp_path: Path, capsys: Captured
) -> None:
    assert main(["replay", command, str(tmp_path / "none")]) == 2
    assert "there is no run, directory or shard" in capsys.readouterr().err
    assert main(["replay", command, str(tmp_path)]) == 2
    assert "there are no shards in" in capsys.readouterr().err
    other = tmp_path / "notes.txt"
    other.write_text("nothing")
    code = main(["replay", command, str(other)])
    heard = capsys.readouterr()
    assert code == {"inspect": 2, "verify": 1, "stats": 0}[command]
    assert "it has only 7 bytes" in heard.err + heard.out
    assert "Traceback" not in heard.err


@pytest.mark.parametrize(
    "command", [("verify",), ("stats",), ("inspect", "--rows", "1", "--games", "1")]
)
def test_no_command_runs_the_file_that_a_shard_names_as_its_game(
    tmp_path: Path, capsys: Captured, command: tuple[str, ...]
) -> None:
    code = tmp_path / "code.py"
    code.write_text(f"from pathlib import Path\nPath({str(tmp_path / 'ran')!r}).touch()\n")
    samples = random_samples(games=1)
    schema = dataclasses.replace(Schema.of(zermelo.game("connect4")), game=str(code))
    path = shard_path(tmp_path, 0, 0, 0)
    write_shard(path, samples, ShardHeader.of(schema, samples))
    assert main(["replay", command[0], str(path), *command[1:]]) == 0
    capsys.readouterr()
    assert not (tmp_path / "ran").exists()
