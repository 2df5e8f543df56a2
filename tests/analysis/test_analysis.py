"""The analysis engine: requests in, answers as they finish, whatever is asked meanwhile."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from asking import CONNECT4, Answer, ask, plain
from native_games import native

import zermelo
from zermelo.analysis.engine import AnalysisEngine
from zermelo.games.notation import parse_action
from zermelo.search import Search, SearchOptions, UniformEvaluator
from zermelo.testing import HashEvaluator

CHESS = native("chess")


def by_key(answers: list[Answer]) -> dict[tuple[Any, Any], Answer]:
    keyed = {(answer["id"], answer.get("turn")): answer for answer in answers}
    assert len(keyed) == len(answers)
    return keyed


class GatedEvaluator:
    """Knows nothing, and says it only when the gate is open."""

    def __init__(self, actions: int) -> None:
        self.actions = actions
        self.gate = threading.Event()
        self.asked = threading.Event()
        self.batches: list[int] = []

    def __call__(self, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.asked.set()
        assert self.gate.wait(60)
        size = len(observations)
        self.batches.append(size)
        return np.zeros((size, self.actions), np.float32), np.zeros(size, np.float32)


def test_each_turn_is_answered_as_a_search_of_its_own_would() -> None:
    moves = ["4", "4", "3", "5"]
    request = {"id": "a", "moves": moves, "analyseTurns": [0, 2, 4], "simulations": 90}
    found = by_key(ask(request, threads=2))
    assert set(found) == {("a", 0), ("a", 2), ("a", 4)}
    states = [CONNECT4.initial()]
    for text in moves:
        states.append(CONNECT4.play(states[-1], parse_action(CONNECT4, states[-1], text)))
    for turn in (0, 2, 4):
        alone = Search(CONNECT4, HashEvaluator(), plain()).run(states[turn], simulations=90)
        answer = found["a", turn]
        assert answer["final"] is True
        assert answer["best"] == alone.best.text
        assert answer["value"] == alone.value
        assert answer["root_visits"] == 91
        assert answer["actions"] == [row.to_dict() for row in alone.rows()]
        assert answer["position"] == CONNECT4.position_text(states[turn])
        assert answer["stop"] == "simulations"


def test_without_turns_the_last_position_is_analysed() -> None:
    (answer,) = ask({"id": 7, "moves": ["1", "2"]})
    assert (answer["id"], answer["turn"], answer["player"]) == (7, 2, 0)


def test_requests_of_other_budgets_and_games_are_answered_each_with_its_own() -> None:
    requests = [
        {"id": "a", "simulations": 30},
        {"id": "b", "game": "tictactoe", "simulations": 40},
        {"id": "c", "simulations": 50},
        {"id": "d", "game": "othello?size=6", "simulations": 30},
    ]
    found = by_key(ask(*requests, options=plain(solver=False)))
    visits = {key[0]: answer["root_visits"] - 1 for key, answer in found.items()}
    assert visits == {"a": 30, "b": 40, "c": 50, "d": 30}
    assert found["d", 0]["game"] == "othello?size=6"


def test_positions_of_many_requests_share_batches() -> None:
    evaluator = GatedEvaluator(7)
    evaluator.gate.set()
    requests = [{"id": i, "moves": [str(i)]} for i in range(1, 8)]
    with AnalysisEngine(CONNECT4, evaluator, plain(), simulations=20) as engine:
        for request in requests:
            engine.submit(request)
        engine.finish()
        assert len(list(engine.answers())) == 7
    assert sum(evaluator.batches) == 7 * 21  # the root too
    assert max(evaluator.batches) == 7


def test_threads_share_what_waits() -> None:
    evaluator = GatedEvaluator(7)
    with AnalysisEngine(CONNECT4, evaluator, plain(), simulations=8, threads=2) as engine:
        moves = ["1", "2", "3", "4"]
        engine.submit({"id": "a", "moves": moves, "analyseTurns": [0, 1, 2, 3]})
        engine.finish()
        evaluator.gate.set()
        assert len(list(engine.answers())) == 4
    assert max(evaluator.batches) == 2


def test_a_higher_priority_is_answered_first() -> None:
    evaluator = GatedEvaluator(7)
    with AnalysisEngine(CONNECT4, evaluator, plain(), simulations=8, boards=1) as engine:
        engine.submit({"id": "first"})
        assert evaluator.asked.wait(60)
        engine.submit({"id": "low", "priority": -1})
        engine.submit({"id": "usual"})
        engine.submit({"id": "high", "priority": 5})
        engine.finish()
        evaluator.gate.set()
        order = [answer["id"] for answer in engine.answers()]
    assert order == ["first", "high", "usual", "low"]


def test_an_answer_comes_while_other_requests_are_still_to_come() -> None:
    with AnalysisEngine(CONNECT4, UniformEvaluator(), plain(), simulations=20) as engine:
        answers = engine.answers()
        for ident in ("a", "b", "c"):
            engine.submit({"id": ident})
            assert next(answers)["id"] == ident
        assert engine.pending == 0


def test_each_listener_gets_the_answers_of_its_own_request() -> None:
    heard: dict[str, list[Answer]] = {"x": [], "y": [], "bad": [], "command": []}
    with AnalysisEngine(CONNECT4, HashEvaluator(), plain(), simulations=20, threads=2) as engine:
        moves = {"moves": ["1", "2"], "analyseTurns": [0, 1, 2]}
        engine.submit({"id": 1} | moves, heard["x"].append)
        engine.submit({"id": 1} | moves, heard["y"].append)  # ids are the listener's own matter
        engine.submit({"id": 2, "moves": 3}, heard["bad"].append)
        engine.submit({"id": 3, "action": "query_version"}, heard["command"].append)
        engine.submit({"id": "queue"})
        engine.finish()
        assert [answer["id"] for answer in engine.answers()] == ["queue"]
    for name in "xy":
        assert sorted(answer["turn"] for answer in heard[name]) == [0, 1, 2]
        assert all(answer["root_visits"] == 21 for answer in heard[name])
    assert [answer["field"] for answer in heard["bad"]] == ["moves"]
    assert [answer["version"] for answer in heard["command"]] == [zermelo.__version__]


def test_a_listener_may_ask_on_and_its_mistakes_are_its_own(capsys: Any) -> None:
    heard: list[Answer] = []

    with AnalysisEngine(CONNECT4, HashEvaluator(), plain(), simulations=20) as engine:

        def ask_on(answer: Answer) -> None:
            heard.append(answer)
            if answer["id"] < 3:
                engine.submit({"id": answer["id"] + 1}, ask_on)
            else:
                engine.finish()
                raise LookupError("no screen")

        engine.submit({"id": 1}, ask_on)
        assert list(engine.answers()) == []
    assert [answer["id"] for answer in heard] == [1, 2, 3]
    assert "no screen" in capsys.readouterr().err


def test_a_kept_tree_goes_on_where_positions_follow_and_others_begin_afresh() -> None:
    with AnalysisEngine(CONNECT4, HashEvaluator(), plain(), simulations=100, threads=2) as engine:
        answers = engine.answers()

        def found(*moves: str, **request: Any) -> Answer:
            engine.submit({"id": 1, "moves": list(moves)} | request)
            return next(answers)

        def visits(*moves: str, **request: Any) -> int:
            return int(found(*moves, **request)["root_visits"])

        assert visits(keepTree=True) == 101
        assert visits(keepTree=True) == 201
        assert visits() == 101  # nobody asked for it
        assert visits(includeTree=True) == 101
        best = found(keepTree=True)["best"]
        assert visits(best, keepTree=True) > 101
        assert visits("1", "2", "3", keepTree=True) == 101
        assert visits("1", "2", "3", keepTree=True) == 201
        engine.submit({"id": 2, "action": "clear_cache"})
        assert next(answers)["id"] == 2
        assert visits("1", "2", "3", keepTree=True) == 101


def test_requests_that_keep_one_tree_are_answered_one_after_another() -> None:
    request = {"keepTree": True, "simulations": 50}
    requests = [request | {"id": ident} for ident in range(6)]
    found = ask(*requests, {"id": "other"}, threads=3)
    kept = [answer["root_visits"] for answer in found if answer["id"] != "other"]
    assert kept == [51, 101, 151, 201, 251, 301]


def test_positions_where_the_game_is_over_are_answered_with_the_outcome() -> None:
    moves = ["1", "2", "1", "2", "1", "2", "1"]
    found = by_key(ask({"id": "a", "moves": moves, "analyseTurns": [6, 7]}))
    assert found["a", 6]["mate"] == 1
    over = found["a", 7]
    assert (over["outcome"], over["value"], over["stop"]) == ("first_wins", -1.0, "over")
    assert "actions" not in over


def test_allowed_actions_restrict_the_search() -> None:
    position = "XX./OO./..."
    request = {"id": "a", "game": "tictactoe", "position": position}
    found = by_key(ask(request, request | {"id": "b", "allowed": ["a1", "b1"]}))
    assert found["a", 0]["best"] == "c3"
    visited = {row["text"] for row in found["b", 0]["actions"] if row["visits"]}
    assert visited <= {"a1", "b1"}
    assert found["b", 0]["best"] in visited


def test_rows_are_cut_and_policy_and_tree_are_added_on_request() -> None:
    request = {"id": "a", "maxMoves": 2, "includePolicy": True, "includeTree": True}
    (answer,) = ask(request)
    assert len(answer["actions"]) == 2
    assert set(answer["policy"]) == set("1234567")
    assert sum(answer["policy"].values()) == pytest.approx(1.0, abs=1e-2)
    assert answer["tree"][0]["visits"] == answer["root_visits"]
    (usual,) = ask({"id": "a"})
    assert len(usual["actions"]) == 7
    assert not {"policy", "tree"} & set(usual)


def test_a_long_search_reports_while_it_runs() -> None:
    with AnalysisEngine(CHESS, UniformEvaluator(), plain()) as engine:
        engine.submit({"id": "a", "simulations": 10**8, "reportEvery": 0.05, "maxMoves": 1})
        answers = engine.answers()
        first, second = next(answers), next(answers)
        assert not first["final"]
        assert 0 < first["root_visits"] < second["root_visits"]
        engine.submit({"id": "t", "action": "terminate", "terminateId": "a"})
        engine.finish()
        rest = list(answers)
    assert sum(answer.get("final", False) for answer in rest) == 1
    assert rest[-1]["stop"] == "terminated"
    assert rest[-1]["root_visits"] >= second["root_visits"]


def test_terminate_answers_what_waits_without_results_and_leaves_the_rest_alone() -> None:
    evaluator = GatedEvaluator(7)
    with AnalysisEngine(CONNECT4, evaluator, plain(), simulations=8, boards=1) as engine:
        engine.submit({"id": "a"})
        assert evaluator.asked.wait(60)
        engine.submit({"id": "b", "moves": ["1", "2"], "analyseTurns": [0, 1, 2]})
        engine.submit({"id": "c"})
        stop = {"id": "t", "action": "terminate", "terminateId": "b", "turns": [0, 2]}
        engine.submit(stop)
        engine.finish()
        evaluator.gate.set()
        found = by_key(list(engine.answers()))
    assert found.pop(("t", None)) == stop
    for turn in (0, 2):
        answer = found.pop(("b", turn))
        assert (answer["noResults"], answer["stop"], answer["final"]) == (True, "terminated", True)
    assert {key for key, answer in found.items() if answer["root_visits"] == 9} == {
        ("a", 0),
        ("b", 1),
        ("c", 0),
    }


def test_terminating_one_board_of_a_running_batch_gives_its_result_so_far() -> None:
    options = plain(solver=False)
    with AnalysisEngine(CHESS, HashEvaluator(), options, simulations=100_000) as engine:
        engine.submit({"id": "a", "moves": ["e2e4"], "analyseTurns": [0, 1]})
        while engine.waiting:
            pass
        engine.submit({"id": "t", "action": "terminate", "terminateId": "a", "turns": [0]})
        engine.finish()
        found = by_key(list(engine.answers()))
    assert found["a", 0]["stop"] == "terminated"
    assert found["a", 0].get("root_visits", 0) < 100_001
    assert (found["a", 1]["stop"], found["a", 1]["root_visits"]) == ("simulations", 100_001)


def test_terminate_all_and_stop_end_everything() -> None:
    for way in ("terminate_all", "stop"):
        with AnalysisEngine(CHESS, UniformEvaluator(), plain(), boards=1) as engine:
            for ident in "abc":
                engine.submit({"id": ident, "simulations": 10**9})
            if way == "stop":
                engine.stop()
            else:
                engine.submit({"id": "t", "action": "terminate_all"})
                engine.finish()
            stops = {a["id"]: a["stop"] for a in engine.answers() if "stop" in a}
        assert stops == dict.fromkeys("abc", "terminated")


def test_the_version_is_told_and_the_cache_can_be_emptied() -> None:
    version, cleared = ask({"id": 1, "action": "query_version"}, {"id": 2, "action": "clear_cache"})
    assert version == {"id": 1, "action": "query_version", "version": zermelo.__version__}
    assert cleared == {"id": 2, "action": "clear_cache"}


def test_a_cleared_cache_is_a_new_one_and_a_search_that_runs_keeps_its_own() -> None:
    options = SearchOptions(cache_mib=1, solver=False)
    evaluator = GatedEvaluator(7)
    with AnalysisEngine(CONNECT4, evaluator, options, simulations=8) as engine:
        answers = engine.answers()
        engine.submit({"id": "a"})
        assert evaluator.asked.wait(60)
        (old,) = engine._caches.values()
        engine.submit({"id": "c", "action": "clear_cache"})
        assert next(answers)["id"] == "c"
        evaluator.gate.set()
        assert next(answers)["root_visits"] == 9
        first = sum(evaluator.batches)
        assert old.misses == first > old.hits
        engine.submit({"id": "b"})
        assert next(answers)["root_visits"] == 9
        assert sum(evaluator.batches) == 2 * first  # all of it anew
        engine.submit({"id": "d"})
        assert next(answers)["root_visits"] == 9
        assert sum(evaluator.batches) == 2 * first  # nothing
        assert old not in engine._caches.values()


def test_clearing_the_cache_during_searches_does_them_no_harm() -> None:
    options = SearchOptions(cache_mib=16)
    with AnalysisEngine(CHESS, HashEvaluator(), options, threads=2, boards=1) as engine:
        for ident in "ab":
            engine.submit({"id": ident, "simulations": 30_000})
        number = 0
        while engine.pending:
            engine.submit({"id": number, "action": "clear_cache"})
            number += 1
        engine.finish()
        found = {answer["id"]: answer for answer in engine.answers()}
    assert [found[ident]["root_visits"] for ident in "ab"] == [30_001, 30_001]
