"""`benchmarks/engine_match.py`: two engines, clocks, and what is reported of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from scripts import load_script

import zermelo
from zermelo.errors import UserError
from zermelo.players import player

engine_match = load_script("benchmarks/engine_match.py")
ENGINE = Path(__file__).with_name("bad_engine.py")
CHESS = zermelo.game("chess")


def engine(manner: str, settings: str = "") -> str:
    return f"{sys.executable} {ENGINE} {manner}" + (f"?{settings}" if settings else "")


def played(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert engine_match.main([*arguments, "--openings", "random:4", "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_two_engines_meet_and_a_stopped_match_goes_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    players = [engine("plays", "UCI_Elo=900"), "random?seed=3"]
    given = [*players, "--nodes", "5", "--games", "4", "--out", str(tmp_path / "match")]
    some = played(capsys, *given, "--minutes", "1e-9")
    assert 1 <= some["games"] < 4
    whole = played(capsys, *given)
    assert whole["games"] == 4
    assert whole["distinct_openings"] == 2
    assert whole["time_losses"] == [0, 0]
    assert whole["elo_low"] < whole["elo_high"]
    assert whole["players"][0].endswith("UCI_Elo=900")
    assert "nodes=5" in whole["players"][0]


def test_a_clock_that_runs_out_loses_the_game(capsys: pytest.CaptureFixture[str]) -> None:
    players = [engine("is late"), engine("plays")]
    found = played(capsys, *players, "--clock", "0.3+0.01", "--games", "2")
    assert found["time_losses"] == [2, 0]
    assert found["losses"] == 2


def test_one_side_may_have_a_limit_of_its_own() -> None:
    limits = {"base": "1", "increment": "0.01"}
    assert engine_match.spec_of("stockfish?seconds=0.1", limits, 0.05).count("base") == 0
    spec = engine_match.spec_of("stockfish", limits, 0.05)
    assert spec == "uci:stockfish?grace=0.05&base=1&increment=0.01"
    assert engine_match.spec_of("level?number=2", limits, 0.05) == "level?number=2"


def test_the_clock_counts_down_and_an_increment_is_added() -> None:
    made: Any = player("uci:" + engine("plays", "base=10&increment=2"), CHESS)
    made.start_game()
    try:
        state = CHESS.initial()
        state = CHESS.play(state, made.choose(CHESS, state))
        limit, seconds = made._limit()
        assert 11 < seconds < 12
        assert limit.white_clock == limit.black_clock == seconds
        made.start_game()
        assert made._limit()[1] == 10
    finally:
        made.close()


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ("base=1&seconds=1", "but not both"),
        ("increment=1", "needs a base"),
        ("base=1&increment=-1", "must be 0 or more"),
        ("base=0", "base must be above 0"),
    ],
)
def test_a_clock_that_means_nothing_is_refused(settings: str, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        player("uci:" + engine("plays", settings), CHESS)


def test_an_engine_that_is_not_there_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert engine_match.main(["no-such-engine", "random", "--games", "2"]) == 2
    assert "there is no program 'no-such-engine'" in capsys.readouterr().err
