"""`zermelo train`, `runs` and `selfplay` as a person meets them."""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_runs import TABLES

from zermelo.cli import main
from zermelo.cli.telling import tell
from zermelo.config import RunConfig
from zermelo.config.options import HIGHEST_SEED
from zermelo.config.run_config import new_head
from zermelo.errors import UserError
from zermelo.loop import Run, is_run
from zermelo.loop.shards import worker_seed
from zermelo.replay import Samples, read_shard
from zermelo.runs.opening import open_run
from zermelo.runs.target import existing_run

Captured = pytest.CaptureFixture[str]
MY_GAME = Path(__file__).resolve().parents[2] / "examples" / "my_game.py"


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    """A run of one iteration as a user writes it."""
    path = tmp_path / "tiny.toml"
    config = RunConfig.from_tables(TABLES).changed(
        {"loop": {"iterations": 1}, "evaluate": {"every": 0}}
    )
    path.write_text(config.to_toml({}))
    return path


@pytest.fixture
def existing(tmp_path: Path) -> Path:
    """A run that was made and nothing more."""
    run = Run.create(tmp_path / "made", RunConfig.from_tables(TABLES))
    run.unlock()
    return run.path


def test_a_run_is_made_goes_on_and_is_listed(
    run_file: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["train", str(run_file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    run = Path(found["run"])
    assert run.parent == Path("runs")
    assert run.name.startswith("tiny-20")
    assert (found["iteration"], found["stopped"]) == (1, "done")
    assert found["metrics"]["train"]["training"]["loss"] > 0

    assert main(["train", str(run)]) == 0
    assert "all 1 iterations are done" in capsys.readouterr().out
    assert main(["train", str(run), "--iterations", "2", "--set", "learning_rate=0.001"]) == 0
    shown = capsys.readouterr().out
    assert "going on after iteration 1" in shown
    assert "iteration 2/2: loss" in shown
    content = tomllib.loads((run / "run.toml").read_text())
    assert (content["loop"]["iterations"], content["train"]["learning_rate"]) == (2, 0.001)
    assert "option train.learning_rate: 0.002 -> 0.001" in (run / "log.txt").read_text()

    assert main(["runs", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)["runs"][0]
    assert (row["game"], row["iteration"], row["iterations"]) == ("tictactoe", 2, 2)
    assert row["samples"] >= 300
    assert (row["process"], row["error"]) == (0, None)
    assert main(["runs"]) == 0
    assert "2/2" in capsys.readouterr().out


def test_an_existing_run_keeps_its_settings_unless_others_are_given(
    run_file: Path, tmp_path: Path, capsys: Captured
) -> None:
    run = tmp_path / "mine"
    text = run_file.read_text()
    assert main(["train", str(run_file), "--run", str(run), "--json"]) == 0
    assert main(["train", "tictactoe", "--run", str(run), "--json"]) == 0
    assert Run.open(run).config.network.filters == 8
    run_file.write_text(text.replace("filters = 8", "filters = 9"))
    capsys.readouterr()
    assert main(["train", str(run_file), "--run", str(run)]) == 2
    assert "network.filters is 8 and cannot become 9" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["{run}", "--set", "blocks=9"], "network.blocks is 1 and cannot become 9"),
        (["{run}", "--seed", "9"], "loop.seed is 5 and cannot become 9"),
        (["{run}", "--set", "optimiser=muon"], "train.optimiser is 'adamw' and cannot become"),
        (["{run}", "--set", "game.name=connect4"], "game.name is 'tictactoe' and cannot become"),
        (["connect4", "--run", "{run}"], "is a run of tictactoe, not of connect4"),
        (["{run}", "--set", "lerning_rate=1"], "did you mean 'learning_rate'?"),
        (["{run}", "--set", "qqqq=1"], "; any run's run.toml has all of them"),
        (["{run}", "--set", "learning_rate=9"], "learning_rate is '9', not a number from"),
        (["{run}", "--for", "soon"], "'soon' is not a time"),
        (["{run}", "--run", "elsewhere"], "is a run itself"),
        (["{run}/..", "--for", "1s"], "is not a run: it has no run.toml"),
        (["no/such/run"], "there is no run, run file or game 'no/such/run'"),
        (["conect4"], "did you mean 'connect4'?"),
        (["othelo6"], "there is no game or preset 'othelo6'; did you mean 'othello6'?"),
        (["chess-towr"], "did you mean 'chess-tower'?"),
        (["none.toml"], "there is no file 'none.toml'"),
        (["none.py"], "there is no file 'none.py'"),
        (["tictactoe", "--run", "{run}/log.txt"], "is a file, not a directory"),
        (["tictactoe", "--run", "{run}/checkpoints/new/.."], "is not a run and not empty"),
    ],
    ids=str,
)
def test_a_mistake_is_one_sentence_and_changes_nothing(
    existing: Path, arguments: list[str], sentence: str, capsys: Captured
) -> None:
    (existing / "checkpoints" / "new").mkdir(parents=True)
    before = (existing / "run.toml").read_text()
    assert main(["train", *(part.format(run=existing) for part in arguments)]) == 2
    err = capsys.readouterr().err
    assert sentence in err
    assert len(err.splitlines()) == 1
    assert (existing / "run.toml").read_text() == before


@pytest.mark.parametrize(
    ("line", "wrong", "sentence"),
    [
        ("if self._target(", "if 0 > self._target(", "the game goes on, but legal_actions() is"),
        (
            "observation_shape = (2, size, size)",
            "observation_shape = (3, size, size)",
            "observe() has the shape (2, 5, 5), not (3, 5, 5)",
        ),
    ],
)
def test_a_fault_of_a_games_file_is_told_before_a_run_is_made(
    line: str, wrong: str, sentence: str, tmp_path: Path, capsys: Captured
) -> None:
    text = MY_GAME.read_text()
    assert line in text
    file = tmp_path / "faulty.py"
    file.write_text(text.replace(line, wrong))
    run_file = tmp_path / "faulty.toml"
    run_file.write_text(f'[game]\nname = "{file}"\n')
    for target in ([str(file)], [str(run_file), "--trust"]):
        assert main(["train", *target, "--run", str(tmp_path / "run")]) == 2
        said = capsys.readouterr().err
        assert f"zermelo: {file}: {sentence}" in said
        assert said.endswith(f"; `zermelo check {file}` says more\n")
    assert not (tmp_path / "run").exists()


def test_reasons_are_kept_in_the_log_and_own_settings_reach_the_choice(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[Any] = []

    def choose(game: Any, given: Any, **_: Any) -> Any:
        heard.append(given)
        return {"train": {}, "selfplay": {"games": 8}}, ["selfplay.games is 8: why"]

    monkeypatch.setattr("zermelo.selfplay.automatic.automatic_settings", choose)
    given = ["train.batch=32", "search.gumbel=on"]
    made = open_run(str(MY_GAME), tmp_path / "run", given, tell)
    made.unlock()
    assert heard == [{"train": {"batch": 32}, "search": {"gumbel": True}}]
    shown, kept = capsys.readouterr().err, made.log_file.read_text()
    for text in (shown, kept):
        assert "selfplay.games is 8: why\n" in text
    assert (made.config.train.batch, made.config.selfplay.games) == (32, 8)


def test_a_misspelt_opponent_is_refused_before_anything_is_written(
    existing: Path, tmp_path: Path, capsys: Captured
) -> None:
    before = (existing / "run.toml").read_text()
    new = tmp_path / "new"
    for words in ([str(existing)], ["tictactoe", "--run", str(new)]):
        assert main(["train", *words, "--set", "evaluate.opponents=randon"]) == 2
        assert "[evaluate]: there is no player 'randon'" in capsys.readouterr().err
    assert (existing / "run.toml").read_text() == before
    assert not new.exists()


def test_an_engine_that_is_not_installed_is_named_and_left_out(
    run_file: Path, tmp_path: Path, capsys: Captured
) -> None:
    words = ["--set", "evaluate.every=1", "--set", "evaluate.opponents=uci:no-such-engine"]
    place = tmp_path / "run"
    assert main(["train", str(run_file), "--run", str(place), "--for", "1s", *words]) == 0
    said = "checkpoints are measured without 'uci:no-such-engine', which is not installed"
    assert said in capsys.readouterr().err
    assert said in (place / "log.txt").read_text()


def test_a_run_of_a_newer_version_is_refused(existing: Path, capsys: Captured) -> None:
    text = (existing / "run.toml").read_text()
    (existing / "run.toml").write_text(text.replace("format = 1", "format = 7"))
    assert main(["train", str(existing)]) == 2
    assert "has format 7 of zermelo" in capsys.readouterr().err
    assert main(["runs", str(existing.parent), "--json"]) == 0
    assert "has format 7" in json.loads(capsys.readouterr().out)["runs"][0]["error"]


def test_an_unknown_key_in_a_runs_own_file_is_named(existing: Path, capsys: Captured) -> None:
    text = (existing / "run.toml").read_text()
    (existing / "run.toml").write_text(text.replace("c_puct =", "c_pukt =", 1))
    assert main(["train", str(existing)]) == 2
    err = capsys.readouterr().err
    assert "run.toml: [search]: there is no option 'c_pukt'; did you mean 'c_puct'?" in err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_may_not_be_written_is_named(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "locked").mkdir(mode=0o555)
    assert main(["train", "tictactoe", "--run", str(tmp_path / "locked" / "run")]) == 2
    assert "cannot be made: Permission denied" in capsys.readouterr().err


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "file").write_text("")
    assert main(["train", "tictactoe", "--run", str(tmp_path / "file" / "run")]) == 2
    assert "cannot be made: Not a directory" in capsys.readouterr().err


def test_a_run_whose_checkpoints_are_of_another_network_is_refused(
    run_file: Path, tmp_path: Path, capsys: Captured
) -> None:
    run = tmp_path / "run"
    assert main(["train", str(run_file), "--run", str(run), "--json"]) == 0
    text = (run / "run.toml").read_text()
    (run / "run.toml").write_text(text.replace("filters = 8 ", "filters = 9 ", 1))
    capsys.readouterr()
    assert main(["train", str(run), "--iterations", "2"]) == 2
    err = capsys.readouterr().err
    assert "checkpoint 000001 has a network of" in err
    assert len(err.splitlines()) == 1


def test_a_damaged_checkpoint_falls_back_and_the_run_goes_on(
    run_file: Path, tmp_path: Path, capsys: Captured
) -> None:
    run = tmp_path / "run"
    assert main(["train", str(run_file), "--run", str(run), "--json"]) == 0
    weights = run / "checkpoints" / "000001" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    shard = next((run / "replay").glob("*.zshard"))
    shard.write_bytes(shard.read_bytes()[:-1])
    capsys.readouterr()
    assert main(["train", str(run), "--iterations", "2"]) == 0
    shown = capsys.readouterr().out
    assert "checkpoint 000001: weights.safetensors" in shown
    assert "going back to checkpoint 000000" in shown
    assert "is no sound shard" in shown
    assert "iteration 2/2" in shown
    assert (run / "replay" / "damaged" / shard.name).exists()


def test_selfplay_alone_makes_shards_with_figures(tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "shards"
    arguments = ["selfplay", "tictactoe", "--out", str(out), "--samples", "200", "--seed", "3"]
    sets = ["games=8", "blocks=0", "filters=4", "simulations=8", "shard_samples=100"]
    sets = [f"selfplay.{s}" if s.startswith(("games", "simul")) else s for s in sets]
    sets += ["selfplay.backend=openvino", "selfplay.precision=f32"]
    arguments += ["--workers", "1", *(part for text in sets for part in ("--set", text))]
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["samples"] >= 200
    assert found["shards"] == len(list(out.glob("*.zshard")))
    assert found["simulations_per_second"] > 0
    network = str(out / "network.safetensors")
    assert main([*arguments, "--weights", network]) == 0
    assert "samples of" in capsys.readouterr().out
    shutil.rmtree(out)
    assert main([*arguments[:2], "--out", str(out), "--samples", "9", "--weights", "none"]) == 2
    assert "there is no network 'none'" in capsys.readouterr().err


def test_the_same_selfplay_again_adds_other_games(tmp_path: Path, capsys: Captured) -> None:
    sets = ["selfplay.games=4", "blocks=0", "filters=4", "simulations=4", "shard_samples=20"]
    sets = [s.replace("simulations", "selfplay.simulations") for s in sets]
    sets += ["selfplay.backend=openvino", "selfplay.precision=f32"]

    def play(out: Path) -> list[Samples]:
        words = ["selfplay", "tictactoe", "--out", str(out), "--samples", "20", "--workers", "1"]
        assert main([*words, *(part for text in sets for part in ("--set", text))]) == 0
        return [read_shard(path).samples for path in sorted(out.glob("*.zshard"))]

    first = play(tmp_path / "a")
    both = play(tmp_path / "a")
    fresh = play(tmp_path / "b")
    capsys.readouterr()
    assert len(both) > len(first) == len(fresh)
    for old, new in zip(first, fresh, strict=True):
        assert np.array_equal(old.observations, new.observations)
    for old, new in zip(first, both[len(first) :], strict=False):
        assert not np.array_equal(old.observations, new.observations)


def test_a_worker_that_is_started_again_has_another_seed_that_the_core_takes() -> None:
    seeds = [worker_seed(HIGHEST_SEED, worker, shards) for worker in (0, 1) for shards in (0, 1)]
    assert len(set(seeds)) == 4
    assert max(seeds) <= HIGHEST_SEED


@pytest.mark.parametrize("command", ["train", "selfplay"])
def test_a_seed_that_is_too_high_is_refused(command: str, tmp_path: Path, capsys: Captured) -> None:
    words = [command, "tictactoe", "--seed", str(2**53)]
    words += {"train": ["--run"], "selfplay": ["--samples", "9", "--out"]}[command]
    assert main([*words, str(tmp_path / "new")]) == 2
    assert "not a whole number from 0 to 9e+15" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_selfplay_that_would_give_no_samples_is_refused(tmp_path: Path, capsys: Captured) -> None:
    words = ["selfplay", "tictactoe", "--samples", "9", "--out", str(tmp_path / "new")]
    assert main([*words, "--set", "full_search_probability=0"]) == 2
    assert "no game would give a sample" in capsys.readouterr().err


def test_a_run_whose_file_is_wrong_is_listed_with_the_reason_beside_the_others(
    existing: Path, capsys: Captured
) -> None:
    wrong = existing.parent / "wrong"
    wrong.mkdir()
    (wrong / "run.toml").write_text('game = "chess"\n')
    assert main(["runs", str(existing.parent), "--json"]) == 0
    rows = {Path(row["run"]): row for row in json.loads(capsys.readouterr().out)["runs"]}
    assert "'game' is a section, not a value" in rows[wrong]["error"]
    assert (rows[existing]["game"], rows[existing]["error"]) == ("tictactoe", None)
    assert main(["runs", str(existing.parent)]) == 0
    assert "[game]" in capsys.readouterr().out


def test_a_directory_with_the_name_of_a_game_is_no_hindrance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("chess", "connect4-quick", "something"):
        (tmp_path / name).mkdir()
    assert existing_run("chess") is None
    assert existing_run("connect4-quick") is None
    for target in ("something", "./chess"):
        with pytest.raises(UserError, match="is not a run"):
            existing_run(target)


def test_a_directory_with_what_a_killed_beginning_left_is_taken(tmp_path: Path) -> None:
    for name in ("lock", ".run.toml.123.tmp"):
        (tmp_path / name).write_text("")
    run = Run.create(tmp_path, RunConfig.from_tables(TABLES))
    run.unlock()
    assert is_run(tmp_path)


def test_runs_of_a_directory_without_any_say_what_to_do(tmp_path: Path, capsys: Captured) -> None:
    assert main(["runs", str(tmp_path)]) == 0
    assert "zermelo train GAME makes one" in capsys.readouterr().out
    (tmp_path / "file").write_text("")
    assert main(["runs", str(tmp_path / "file")]) == 2


def test_a_missing_directory_is_refused_unless_it_is_where_runs_will_be(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["runs", "nodir"]) == 2
    assert "there is no directory 'nodir'" in capsys.readouterr().err
    assert main(["runs"]) == 0


def test_a_run_under_way_is_listed_with_its_process(existing: Path, capsys: Captured) -> None:
    run = Run.open(existing)
    run.lock()
    assert is_run(existing)
    assert main(["runs", str(existing), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["process"] == os.getpid()
    run.unlock()


def test_the_run_file_says_what_made_it() -> None:
    head = new_head("today")
    assert head["version"]
    assert len(head["commit"]) in (0, 40)
