"""Players choose legal actions, and the stronger ones the right ones."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import zermelo
from zermelo.games.notation import parse_position
from zermelo.games.protocol import Game, Outcome, State
from zermelo.players import Player, player, player_names, register_player, registry
from zermelo.players.human import HumanPlayer
from zermelo.players.minimax import MinimaxPlayer
from zermelo.players.perfect import PerfectPlayer
from zermelo.players.random_player import RandomPlayer
from zermelo.players.reference_player import ReferencePlayer
from zermelo.players.solver import Solver
from zermelo.testing import HashEvaluator

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_game.py"
TICTACTOE = zermelo.game("tictactoe")


def finish(game: Game, first: Player, second: Player) -> Outcome:
    state = game.initial()
    while (outcome := game.outcome(state)) is None:
        mover = (first, second)[game.player(state)]
        state = game.play(state, mover.choose(game, state))
    return outcome


def choice(chooser: Player, position: str, game: Game = TICTACTOE) -> str:
    state = parse_position(game, position)
    return str(game.action_text(state, chooser.choose(game, state)))  # type: ignore[attr-defined]


@pytest.mark.parametrize("spec", ["random", "reference?simulations=5", "minimax?depth=1"])
@pytest.mark.parametrize("name", [*zermelo.game_names(), str(EXAMPLE)])
def test_players_choose_legal_actions_in_every_game(name: str, spec: str) -> None:
    game = zermelo.game(name)
    chooser = player(spec, game)
    state = game.initial()
    for _ in range(4):
        action = chooser.choose(game, state)
        assert action in game.legal_actions(state)
        state = game.play(state, action)


def test_a_seeded_random_player_repeats_itself() -> None:
    def choices(seed: int) -> list[int]:
        chooser = RandomPlayer(seed)
        return [chooser.choose(TICTACTOE, TICTACTOE.initial()) for _ in range(20)]

    assert choices(3) == choices(3)
    assert choices(3) != choices(4)


def test_perfect_players_draw_each_other_at_tictactoe() -> None:
    assert finish(TICTACTOE, *[PerfectPlayer(TICTACTOE)] * 2) == Outcome.DRAW


@pytest.mark.parametrize("seat", [0, 1])
def test_the_perfect_player_never_loses_tictactoe(seat: int) -> None:
    perfect = PerfectPlayer(TICTACTOE, seed=1)
    for seed in range(40):
        seats: list[Player] = [RandomPlayer(seed), RandomPlayer(seed)]
        seats[seat] = perfect
        lost = Outcome.SECOND_WINS if seat == 0 else Outcome.FIRST_WINS
        assert finish(TICTACTOE, *seats) != lost


@pytest.mark.parametrize("spec", ["perfect", "minimax?depth=3", "minimax?depth=0", "reference"])
def test_a_win_is_taken_at_once_and_a_loss_is_blocked(spec: str) -> None:
    chooser = player(spec, TICTACTOE)
    assert choice(chooser, "XX./OO./...") == "c3"
    assert choice(chooser, "X../OO./X..") == "c2"


def test_the_longest_loss_is_chosen() -> None:
    perfect = PerfectPlayer(TICTACTOE)
    assert choice(perfect, "XO./X../...") == "a1"  # all lose, but the others at once
    state = parse_position(TICTACTOE, "XO./X../...")
    assert max(perfect.scores(TICTACTOE, state).values()) < 0


def test_the_solver_knows_the_distance_to_the_end() -> None:
    solver = Solver(TICTACTOE)
    assert solver.solve(TICTACTOE.initial()) == 0
    assert solver.solve(parse_position(TICTACTOE, "XX./OO./...")) == Solver.WIN - 1


def test_minimax_of_any_depth_agrees_with_the_solver_when_it_sees_the_end() -> None:
    solver = Solver(TICTACTOE)
    picker = random.Random(5)
    for _ in range(20):
        state: State = TICTACTOE.initial()
        for _ in range(4):
            state = TICTACTOE.play(state, picker.choice(TICTACTOE.legal_actions(state)))
        if TICTACTOE.outcome(state) is None:
            scores = solver.analyse(state)
            action = MinimaxPlayer(depth=9).choose(TICTACTOE, state)
            assert scores[action] == max(scores.values())


def test_a_game_too_large_to_solve_is_refused() -> None:
    othello = zermelo.game("othello")
    with pytest.raises(ValueError, match="othello is too large to be solved exhaustively"):
        Solver(othello, max_positions=50).solve(othello.initial())
    chess = zermelo.game("chess")
    with pytest.raises(ValueError, match="chess is too long to be solved"):
        Solver(chess).solve(chess.initial())


def test_a_perfect_player_is_refused_where_there_is_none() -> None:
    with pytest.raises(ValueError, match="no perfect player for chess, only for tictactoe"):
        player("perfect", zermelo.game("chess"))


def test_the_perfect_player_takes_and_blocks_at_connect4() -> None:
    game = zermelo.game("connect4")
    perfect = player("perfect", game)
    assert choice(perfect, "4343437", game) == "3"
    assert choice(perfect, "434343", game) == "4"
    assert choice(perfect, "43434", game) == "4"
    assert choice(perfect, "", game) == "4"  # the centre alone wins


def test_a_book_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match=r"there is no file 'nowhere\.book'"):
        player("perfect?book=nowhere.book", zermelo.game("connect4"))


def test_the_reference_player_takes_any_evaluator() -> None:
    chooser = ReferencePlayer(simulations=30, evaluator=HashEvaluator())
    assert chooser.choose(TICTACTOE, TICTACTOE.initial()) in range(9)


def test_a_person_is_asked_until_the_answer_is_legal(capsys: pytest.CaptureFixture[str]) -> None:
    answers = iter(["z9", "b2"])
    chooser = HumanPlayer(ask=lambda _: next(answers))
    assert chooser.choose(TICTACTOE, TICTACTOE.initial()) == 4
    assert "'z9' is not a cell" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("minmax", "there is no player 'minmax'; did you mean 'minimax'?"),
        ("minimax?depth=-1", "minimax: depth must be 0 (to the end) or more, not -1"),
        ("minimax?depth=two", "minimax: depth must be a whole number, not 'two'"),
        ("reference?simulations=0", "reference: simulations must be 1 or more, not 0"),
        ("human?name=me", "human has no parameters, so 'name' cannot be set"),
    ],
)
def test_a_wrong_text_is_refused_with_a_sentence(spec: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=r"\S") as caught:
        player(spec, TICTACTOE)
    assert str(caught.value) == sentence


def test_a_player_itself_is_returned_as_it_is() -> None:
    made = RandomPlayer()
    assert player(made, TICTACTOE) is made


def test_registered_players_are_found_and_given_the_game() -> None:
    class Firstling:
        name = "firstling"

        def __init__(self, game: Game, offset: int = 0) -> None:
            self.game, self.offset = game, offset

        def choose(self, game: Game, state: State) -> int:
            return game.legal_actions(state)[self.offset]

    register_player("firstling", Firstling)
    try:
        assert "firstling" in player_names()
        made = player("firstling?offset=2", TICTACTOE)
        assert made.choose(TICTACTOE, TICTACTOE.initial()) == 2
        with pytest.raises(ValueError, match="there already is a player 'firstling'"):
            register_player("firstling", Firstling)
    finally:
        del registry._factories["firstling"]
