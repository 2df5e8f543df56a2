"""Games of self-play and judgements of checkpoints, as a person looks at them afterwards."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from zermelo import game as find_game
from zermelo.errors import UserError
from zermelo.network.places import whole_checkpoints
from zermelo.replay.shard import read_shard
from zermelo.replay.whole_games import games as whole_games
from zermelo.runs.judging import (
    KEPT_NETWORKS,
    MOST_CHECKPOINTS,
    CheckpointJudges,
    Judgement,
    thinned,
)
from zermelo.runs.recent_games import iterations_played, one_game, recent_games

GAME: Any = find_game("tictactoe")


@pytest.fixture
def run(watched: Path) -> Path:
    return watched


def test_the_newest_games_come_first(run: Path) -> None:
    found = recent_games(run / "replay", GAME, 30)
    assert len(found) == 30
    newest = iterations_played(run / "replay")[-1]
    assert found[0].iteration == newest == 7
    older = recent_games(run / "replay", GAME, 5, before=2)
    assert {one.iteration for one in older} == {2}


def test_each_move_of_a_game_has_the_numbers_of_its_search(run: Path) -> None:
    seen, pairs, agreed = 0, 0, 0
    for listed in recent_games(run / "replay", GAME, 200):
        record, plies = one_game(run / "replay", GAME, listed.shard, listed.number)
        assert tuple(ply.action for ply in plies[:-1]) == listed.actions == record.actions
        assert plies[-1].action is None
        for ply in plies:
            if ply.search is None:
                continue
            seen += 1
            assert set(ply.search.shares) == set(GAME.legal_actions(ply.state))
            assert sum(ply.search.shares.values()) == pytest.approx(1.0, abs=1e-3)
            assert abs(ply.search.value) <= 1.0
            won = [
                action
                for action in ply.search.shares
                if GAME.outcome(GAME.play(ply.state, action)) is not None
            ]
            if won and len(ply.search.shares) > 3:
                pairs += 1
                agreed += sum(ply.search.shares[action] for action in won) > 0.9
    assert seen > 100
    assert pairs > 10
    assert agreed > 0.9 * pairs  # searches see a win where it is, if they do not see a longer one


def test_damaged_shards_are_left_out_of_the_list_and_stay(run: Path, tmp_path: Path) -> None:
    replay = tmp_path / "replay"
    shutil.copytree(run / "replay", replay)
    newest = sorted(replay.iterdir())[-1]
    games = len(whole_games(read_shard(newest)))
    newest.write_bytes(newest.read_bytes()[:-1] + b"x")
    found = recent_games(replay, GAME, 10)
    assert len(found) == 10
    assert newest.name not in {one.shard for one in found}
    assert newest.exists()
    with pytest.raises(UserError, match="no sound shard"):
        one_game(replay, GAME, newest.name, 0)
    assert games > 0


@pytest.mark.parametrize("name", ["", "..", "../../run.toml", "it0-w0-0.zshard", "run.toml\x00"])
def test_only_names_of_shards_are_opened(run: Path, name: str) -> None:
    with pytest.raises(UserError, match="no name of a shard"):
        one_game(run / "replay", GAME, name, 0)


def test_shards_and_games_that_are_not_there_are_told(run: Path) -> None:
    with pytest.raises(UserError, match="any more"):
        one_game(run / "replay", GAME, "it999999-w00-000000.zshard", 0)
    listed = recent_games(run / "replay", GAME, 1)[0]
    for number in (-1, 10**6):
        with pytest.raises(UserError, match="there is no number"):
            one_game(run / "replay", GAME, listed.shard, number)
    assert recent_games(run / "nothing", GAME, 5) == []


def test_later_checkpoints_see_a_win_that_the_first_did_not(run: Path) -> None:
    judges = CheckpointJudges(run, GAME)
    iterations = judges.iterations()
    assert iterations == list(range(9))
    state = GAME.parse_position("XX./OO./...")
    found = list(judges.judge(state, iterations))
    assert all(isinstance(one, Judgement) for one in found)
    first, last = found[0], found[-1]
    assert isinstance(first, Judgement) and isinstance(last, Judgement)
    win = GAME.parse_action(state, "c3")
    assert last.policy[win] > max(0.6, first.policy[win])
    assert last.value > 0.5
    assert sum(last.policy.values()) == pytest.approx(1.0)
    assert sum(last.wdl) == pytest.approx(1.0, abs=1e-3)
    assert list(judges.judge(state, iterations)) == found
    searched = next(judges.judge(state, [0], 50))
    assert isinstance(searched, Judgement)
    assert searched.policy[win] > first.policy[win]
    assert searched.value == pytest.approx(1.0, abs=0.2)


def test_a_checkpoint_that_cannot_be_used_is_a_sentence_and_the_others_go_on(
    run: Path, tmp_path: Path
) -> None:
    shutil.copytree(run / "checkpoints", tmp_path / "checkpoints")
    judges = CheckpointJudges(tmp_path, GAME)
    weights = tmp_path / "checkpoints" / "000003" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x7f")
    state = GAME.initial()
    found = list(judges.judge(state, [2, 3, 4, 99]))
    assert [isinstance(one, str) for one in found] == [False, True, False, True]
    assert "checkpoint 000003" in str(found[1])
    assert found[3] == "there is no checkpoint 99 any more"


def test_what_would_take_too_long_is_refused(run: Path) -> None:
    judges = CheckpointJudges(run, GAME)
    over = GAME.parse_position("XXX/OO./...")
    for state, iterations, simulations in (
        (over, [0], 0),
        (GAME.initial(), [0] * (MOST_CHECKPOINTS + 1), 0),
        (GAME.initial(), [0], -1),
        (GAME.initial(), [0], 10**9),
    ):
        with pytest.raises(UserError):
            list(judges.judge(state, iterations, simulations))


def test_few_networks_are_kept_ready(run: Path, tmp_path: Path) -> None:
    newest = whole_checkpoints(run / "checkpoints")[-1]
    assert len(thinned(list(range(1000)))) == MOST_CHECKPOINTS
    assert thinned(list(range(1000)))[-1] == 999
    assert newest.name == "000008"
    judges = CheckpointJudges(run, GAME)
    for state in (GAME.initial(), GAME.play(GAME.initial(), 4)):
        list(judges.judge(state, judges.iterations()))
    assert len(judges._networks) <= KEPT_NETWORKS
