"""What `import zermelo` offers: players, training, runs, tables; and that it stays light."""

from __future__ import annotations

import doctest
import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import zermelo
from zermelo.front import table
from zermelo.front.table import MetricsTable
from zermelo.loop import Stop

ROOT = Path(__file__).parents[2]
NEAR_WIN = ("4", "4", "5", "5")  # columns; the first player wins in three plies


def test_the_import_is_light_and_everything_offered_is_there() -> None:
    heavy = "torch", "openvino", "onnxruntime", "rich", "typer", "chess", "zermelo.front", "pandas"
    code = (
        "import sys, zermelo; "
        f"print([m for m in {heavy!r} if m in sys.modules]); "
        "print([n for n in zermelo.__all__ if getattr(zermelo, n) is None])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.split("\n")[:2] == ["[]", "[]"]
    assert set(zermelo.__all__) <= set(dir(zermelo))
    with pytest.raises(AttributeError, match="has no attribute 'lode'"):
        getattr(zermelo, "lode")  # noqa: B009


def test_help_names_all_that_is_offered() -> None:
    story = inspect.getdoc(zermelo) or ""
    for name in ("load", "train", "Search", "game", "game_names", "check_game", "draw"):
        assert f"zermelo.{name}" in story, name


def test_train_is_a_function_and_a_room_whichever_was_imported_first() -> None:
    code = "import zermelo.train, zermelo; zermelo.train('nothing')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "UserError: there is no game or preset 'nothing'" in done.stderr


def test_a_shipped_network_analyses_plays_and_evaluates() -> None:
    player = zermelo.load("connect4", simulations=200)
    state = player.after(*NEAR_WIN)
    assert player.analyse(state).mate == 2
    played = player.play(state)
    assert played.text in ("3", "6")
    assert player.game.outcome(played.state) is None
    seen = player.evaluate(state)
    assert seen.value > 0.9
    assert seen.wdl is not None and sum(seen.wdl) == pytest.approx(1, abs=1e-4)
    assert sum(seen.policy.values()) == pytest.approx(1)
    assert list(seen.policy.values()) == sorted(seen.policy.values(), reverse=True)
    assert set(seen.priors) == set(player.game.legal_actions(state))
    text = player.game.position_text(state)
    assert player.evaluate(text).policy == seen.policy


def test_a_search_without_a_position_is_of_the_start() -> None:
    search = zermelo.Search("tictactoe", zermelo.UniformEvaluator())
    assert search.run(simulations=30).root_visits == 31
    assert search.state == zermelo.game("tictactoe").initial()


def test_a_game_without_a_network_is_searched_by_random_games() -> None:
    player = zermelo.load(str(ROOT / "examples" / "my_game.py"), simulations=30)
    assert player.network is None
    assert player.play().text in {
        player.game.action_text(player.game.initial(), action)
        for action in player.game.legal_actions(player.game.initial())
    }
    with pytest.raises(zermelo.UserError, match="has no network"):
        player.evaluate()
    assert zermelo.load(player.game, simulations=5).play().action >= 0


def test_what_cannot_be_loaded_is_said_in_one_sentence() -> None:
    with pytest.raises(zermelo.UserError, match="no network 'conect4'; did you mean 'connect4'"):
        zermelo.load("conect4")
    with pytest.raises(zermelo.UserError, match="no network 'hexx'; did you mean 'hex'"):
        zermelo.load("hexx")
    player = zermelo.load("tictactoe", simulations=5)
    with pytest.raises(zermelo.UserError, match="the game is over: the first player wins"):
        player.analyse("XXX/OO./...")
    with pytest.raises(zermelo.UserError, match="pass its class or file"):
        zermelo.train(player.game)
    with pytest.raises(zermelo.UserError, match="minutes must be more than 0"):
        zermelo.train("tictactoe", minutes=0)
    with pytest.raises(zermelo.UserError, match="there is no run"):
        zermelo.TrainingRun("runs/none")


def test_a_run_shows_its_figures_games_and_player(watched: Path) -> None:
    run = zermelo.TrainingRun(watched)
    figures = run.metrics
    assert len(figures) == run.iteration > 0
    assert figures["iteration"].tolist() == list(range(1, run.iteration + 1))
    assert np.isfinite(figures["training/loss"]).all()
    assert figures.array.dtype.names == figures.columns
    heading = repr(figures).splitlines()[1].split()
    assert heading[:3] == ["iteration", "selfplay/games", "train/training/loss"]
    assert heading[3] == "evaluate/random.score"
    assert "<th>evaluate/random.score</th>" in figures._repr_html_()
    games = run.games(3)
    assert 0 < len(games) <= 3
    one = games[0]
    assert len(one.moves) == len(one) == len(one.positions()) - 1
    state = run.game.initial()
    for action in one.actions:
        state = run.game.play(state, action)
    assert "<svg" in one.draw().svg
    player = run.player(simulations=20)
    assert player.network == str(run.checkpoints[-1])
    assert player.evaluate().policy
    assert zermelo.load(run.checkpoints[0], simulations=5).game is run.game


def test_columns_are_named_by_unambiguous_endings() -> None:
    assert doctest.testmod(table).failed == 0
    figures = MetricsTable(
        [{"iteration": 1, "a": {"loss": 1.0}, "b": {"loss": 2}}, {"iteration": 2, "c": True}]
    )
    assert figures["a/loss"][0] == 1.0
    assert np.isnan(figures["b/loss"][1])
    shown = repr(figures).splitlines()
    assert shown[0] == "<MetricsTable, 2 iterations, 3 columns>"
    assert [line.split() for line in shown[1:]] == [
        ["iteration", "a/loss", "b/loss"], ["1", "1", "2"], ["2", "nan", "nan"],
    ]  # fmt: skip
    wide = repr(MetricsTable([{f"figure {i} of very many": i for i in range(40)}] * 30))
    assert len(wide.splitlines()) == 7
    assert max(map(len, wide.splitlines())) <= 100
    with pytest.raises(zermelo.UserError, match="several figures end in 'loss': a/loss, b/loss"):
        figures["loss"]
    with pytest.raises(zermelo.UserError, match="there is no figure 'los'"):
        figures["los"]
    assert "c" not in figures
    frame = pytest.importorskip("pandas").DataFrame
    assert isinstance(figures.frame(), frame)
    assert figures.frame().index.tolist() == [1, 2]


def test_the_snippet_of_the_readme_passes_the_strictest_types(tmp_path: Path) -> None:
    """As a user's checker sees the package; its cache is the project's, so that it is quick."""
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    parser = doctest.DocTestParser()
    lines = [e.source for block in blocks for e in parser.get_examples(block)]
    assert any("zermelo.load" in line for line in lines)
    script = tmp_path / "snippet.py"
    script.write_text("".join(lines) + 'run = zermelo.train("tictactoe", minutes=5)\nrun.metrics\n')
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache")]
    done = subprocess.run(
        [*command, str(script)], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_minutes_are_planned_for_and_measuring_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Stop] = []

    class Noted(Stop):
        def __init__(self, seconds: float | None = None) -> None:
            super().__init__(seconds)
            made.append(self)

    def no_run(*_: object, time: float | None = None, **__: object) -> None:
        assert [each.deadline is not None for each in made] == [True]
        raise zermelo.UserError(f"planned for {time} seconds")

    monkeypatch.setattr("zermelo.loop.Stop", Noted)
    monkeypatch.setattr("zermelo.runs.opening.open_run", no_run)
    with pytest.raises(zermelo.UserError, match=r"planned for 30\.0 seconds"):
        zermelo.train("tictactoe", minutes=0.5)


@pytest.mark.slow
def test_a_game_is_trained_from_python(tmp_path: Path) -> None:
    run = zermelo.train("tictactoe", minutes=0.2, run=tmp_path / "run", quiet=True, seed=3)
    assert run.iteration >= 1
    again = zermelo.train(run.path, iterations=run.iteration + 1, quiet=True)
    assert again.iteration == run.iteration + 1 == len(again.metrics)
