"""Bad requests, failing evaluators and networks of other games are answered; the engine goes on."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from asking import CONNECT4, ask, plain
from native_games import native
from small_networks import small_weights

from zermelo.analysis.engine import AnalysisEngine
from zermelo.network import NetworkEvaluator
from zermelo.search import UniformEvaluator


@pytest.mark.parametrize(
    ("request_", "field", "sentence"),
    [
        ({}, "id", "a request needs an id"),
        ({"id": [1]}, "id", "the id must be a text or a whole number"),
        ({"id": "x", "simulation": 5}, "simulation", "did you mean 'simulations'?"),
        ({"id": "x", "simulations": 0}, "simulations", "a whole number from 1 to"),
        ({"id": "x", "simulations": True}, "simulations", "a whole number"),
        ({"id": "x", "simulations": 1e30}, "simulations", "a whole number"),
        ({"id": "x", "moves": "4 4"}, "moves", "moves must be a list of texts"),
        ({"id": "x", "moves": ["4", "9"]}, "moves", "moves[1]: '9' is not a column"),
        ({"id": "x", "moves": ["1"] * 7}, "moves", "moves[6]"),
        ({"id": "x", "moves": ["1", "2"] * 4}, "moves", "moves[7]: the game is over before '2'"),
        ({"id": "x", "position": 3}, "position", "position must be a text"),
        ({"id": "x", "position": "XXO"}, "position", "position: "),
        ({"id": "x", "analyseTurns": [1]}, "analyseTurns", "no turn 1; with these moves"),
        ({"id": "x", "analyseTurns": []}, "analyseTurns", "names no turn"),
        ({"id": "x", "analyseTurns": [0.5]}, "analyseTurns", "a list of whole numbers"),
        ({"id": "x", "allowed": ["8"]}, "allowed", "allowed[0]"),
        ({"id": "x", "allowed": []}, "allowed", "allowed is empty"),
        ({"id": "x", "game": "go"}, "game", "there is no game 'go'"),
        ({"id": "x", "game": "examples/my_game.py"}, "game", "by its name only"),
        ({"id": "x", "includePolicy": 1}, "includePolicy", "true or false"),
        ({"id": "x", "reportEvery": -1}, "reportEvery", "a number of seconds"),
        ({"id": "x", "action": "sing"}, "action", "there is no action 'sing'"),
        ({"id": "x", "action": "terminate"}, "terminateId", "needs the terminateId"),
        ({"id": "x", "action": "query_version", "moves": []}, "moves", "there is no field 'moves'"),
    ],
)
def test_a_bad_request_is_one_answer_that_names_the_field(
    request_: dict[str, Any], field: str, sentence: str
) -> None:
    bad, good = ask(request_, {"id": "good"})
    assert (bad["field"], good["id"]) == (field, "good")
    assert sentence in bad["error"]
    assert bad["id"] == (request_.get("id") if field != "id" else None)


@pytest.mark.parametrize("line", ["{", "[1]", "3", b"\xff\xfe", "[" * 100_000, "null"])
def test_a_line_that_is_no_object_is_one_answer_without_an_id(line: str | bytes) -> None:
    bad, good = ask(line, json.dumps({"id": "good"}))
    assert bad["id"] is None
    assert bad["error"].startswith("the line is ")
    assert good["id"] == "good"


def test_an_evaluator_that_fails_is_told_and_the_engine_goes_on() -> None:
    class Failing:
        broken = True

        def __call__(self, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            if self.broken:
                raise ArithmeticError("no numbers today")
            return np.zeros((len(observations), 7), np.float32), np.zeros(len(observations))

    evaluator = Failing()
    with AnalysisEngine(CONNECT4, evaluator, plain(), simulations=10) as engine:
        answers = engine.answers()
        engine.submit({"id": "a"})
        failed = next(answers)
        evaluator.broken = False
        engine.submit({"id": "b"})
        assert next(answers)["root_visits"] == 11
    assert failed["id"] == "a"
    assert "no numbers today" in failed["error"]


def test_a_network_answers_for_its_own_game_only() -> None:
    network = NetworkEvaluator(small_weights(), "openvino")
    wrong, right = ask({"id": 1, "game": "othello"}, {"id": 2}, evaluator=network)
    assert wrong["field"] == "game"
    assert right["root_visits"] == 61


def test_chess_requests_keep_the_encoder_of_the_engines_game() -> None:
    game = native("chess?encoder=lc0")
    request = {"id": 1, "game": "chess?chess960=on", "simulations": 5}
    (answer,) = ask(request, game=game, evaluator=UniformEvaluator())
    assert answer["game"] == "chess?encoder=lc0&chess960=on"
