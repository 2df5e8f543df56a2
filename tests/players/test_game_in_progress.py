"""A board on which people and players move: whose turn it is, what is taken back, who is told."""

from __future__ import annotations

import threading

import pytest

from zermelo import game
from zermelo.errors import UserError
from zermelo.games.notation import parse_position
from zermelo.games.protocol import Game, Outcome, State
from zermelo.players import player
from zermelo.players.game_in_progress import GameInProgress
from zermelo.players.search_player import SearchPlayer
from zermelo.search import Limits, LiveSearch, SearchOptions, SearchResult, UniformEvaluator

TICTACTOE = game("tictactoe")
PATIENCE = 60.0  # seconds; far beyond what anything here takes


class Held:
    """Chooses the first action, but not before it may; remembers what it is told."""

    name = "held"

    def __init__(self) -> None:
        self.asked, self.may = threading.Event(), threading.Event()
        self.games = 0
        self.closed = False

    def choose(self, game: Game, state: State) -> int:
        self.asked.set()
        assert self.may.wait(PATIENCE)
        return next(iter(game.legal_actions(state)))

    def start_game(self) -> None:
        self.games += 1

    def close(self) -> None:
        self.closed = True


def test_two_people_play_until_somebody_has_won() -> None:
    board = GameInProgress("tictactoe")
    for ply, text in enumerate(("a1", "b1", "a2", "b2")):
        assert (board.turn, board.mover, board.outcome) == (ply % 2, None, None)
        assert board.play(board.parse(text))
    board.play(board.parse("a3"))
    assert board.outcome == Outcome.FIRST_WINS
    assert len(board.states) == len(board.actions) + 1 == 6
    assert board.last == (board.actions[-1], board.states[-2])
    with pytest.raises(UserError, match="the game is over"):
        board.play(board.actions[0])


def test_it_begins_where_it_is_told() -> None:
    board = GameInProgress(TICTACTOE, parse_position(TICTACTOE, "XX./OO./..."))
    assert board.last is None
    assert not board.undo()
    board.play(board.parse("c3"))
    assert board.outcome == Outcome.FIRST_WINS


def test_what_is_not_legal_is_refused_and_changes_nothing() -> None:
    board = GameInProgress(TICTACTOE)
    before = board.number
    with pytest.raises(UserError, match="action 99 is not legal here"):
        board.play(99)
    with pytest.raises(ValueError, match="z9"):
        board.parse("z9")
    with pytest.raises(UserError, match="a person is to move"):
        board.answer()
    assert (board.number, board.actions) == (before, ())


def test_an_action_can_be_typed_by_its_number_where_numbers_are_no_names() -> None:
    board = GameInProgress(TICTACTOE)
    assert board.parse("2") == board.parse("#2") == board.choices()[1][0]
    columns = GameInProgress("connect4")
    columns.play(columns.parse("1"))
    for _ in range(5):
        columns.play(columns.parse("1"))  # the first column is full now
    assert [name for _, name in columns.choices()] == ["2", "3", "4", "5", "6", "7"]
    assert columns.parse("2") == columns.parse("#1")


def test_a_player_answers_and_undo_goes_back_to_the_persons_own_choice() -> None:
    board = GameInProgress(TICTACTOE, seats=(None, player("random?seed=1", TICTACTOE)))
    for _ in range(2):
        board.play(board.choices()[0][0])
        assert board.mover is not None
        assert board.answer() == board.actions[-1]
    earlier = board.states[2]
    assert board.undo()
    assert (board.state, board.turn, len(board.actions)) == (earlier, 0, 2)
    assert board.undo()
    assert board.actions == ()
    assert not board.undo()


def test_a_player_that_begins_cannot_be_taken_back_alone() -> None:
    board = GameInProgress(TICTACTOE, seats=(player("random?seed=1", TICTACTOE), None))
    board.answer()
    assert not board.undo()
    assert len(board.actions) == 1


@pytest.mark.parametrize("change", ["undo", "restart"])
def test_an_answer_to_a_board_that_has_changed_is_not_played(change: str) -> None:
    held = Held()
    board = GameInProgress(TICTACTOE, seats=(None, held))
    board.play(board.parse("b2"))
    answers: list[int | None] = []
    thinking = threading.Thread(target=lambda: answers.append(board.answer()))
    thinking.start()
    assert held.asked.wait(PATIENCE)
    getattr(board, change)()  # nobody waits for the player
    board.play(board.parse("a1"))
    held.may.set()
    thinking.join(PATIENCE)
    assert answers == [None]
    assert len(board.actions) == 1
    assert held.games == (change == "restart")


def test_a_player_is_asked_one_thing_at_a_time() -> None:
    class Crowded(Held):
        inside, most = 0, 0

        def choose(self, game: Game, state: State) -> int:
            self.inside += 1
            self.most = max(self.most, self.inside)
            try:
                return super().choose(game, state)
            finally:
                self.inside -= 1

    held = Crowded()
    board = GameInProgress(TICTACTOE, seats=(None, held))
    answers: list[int | None] = []
    board.play(board.parse("b2"))
    threads = [threading.Thread(target=lambda: answers.append(board.answer())) for _ in range(2)]
    threads[0].start()
    assert held.asked.wait(PATIENCE)
    board.undo()
    board.play(board.parse("a1"))
    threads[1].start()
    held.may.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert held.most == 1
    assert answers == [None, board.actions[1]]


def test_a_search_about_an_earlier_board_is_stopped_and_does_not_disturb_the_next() -> None:
    rules = game("connect4")
    searcher = SearchPlayer(nodes=10**9, evaluator="uniform", solver=False)
    board = GameInProgress(rules, seats=(None, searcher))
    arrived = threading.Event()
    unsubscribe = searcher.live(rules).subscribe(lambda _: arrived.set())
    board.play(board.parse("1"))
    first = threading.Thread(target=board.answer)
    first.start()
    assert arrived.wait(PATIENCE)
    unsubscribe()
    board.undo()
    board.play(board.parse("3"))
    searcher.nodes = 300
    assert board.answer() == board.actions[1]
    first.join(PATIENCE)
    assert searcher.result is not None
    assert searcher.result.root_visits == 300


@pytest.mark.parametrize("spec", ["random", "minimax", "search?evaluator=uniform"])
def test_nobody_answers_when_the_game_is_over(spec: str) -> None:
    state = parse_position(TICTACTOE, "XX./OO./...")
    board = GameInProgress(TICTACTOE, state, seats=(None, player(spec, TICTACTOE)))
    board.play(board.parse("c3"))
    with pytest.raises(UserError, match="the game is over"):
        board.answer()


def test_a_choice_for_another_position_is_not_played() -> None:
    board = GameInProgress(TICTACTOE)
    seen = board.number
    assert board.play(board.parse("a1"), seen)
    assert not board.play(board.parse("b1"), seen)
    assert len(board.actions) == 1


def test_everybody_is_told_of_every_change() -> None:
    board = GameInProgress(TICTACTOE, seats=(None, player("random?seed=1", TICTACTOE)))
    seen: list[int] = []
    others: list[int] = []
    unsubscribe = board.subscribe(lambda: seen.append(len(board.actions)))
    board.subscribe(lambda: others.append(board.number))
    board.play(board.parse("b2"))
    board.answer()
    board.undo()
    unsubscribe()
    board.restart()
    assert seen == [1, 2, 0]
    assert len(set(others)) == 4


def test_others_may_sit_down_for_the_next_game() -> None:
    board = GameInProgress(TICTACTOE)
    board.play(board.parse("b2"))
    state = parse_position(TICTACTOE, "XX./OO./...")
    held = Held()
    board.restart(state, seats=(held, None))
    assert (board.states, board.actions, board.mover) == ((state,), (), held)
    assert held.games == 1


def test_an_analysis_follows_the_board_and_keeps_its_tree() -> None:
    rules = game("connect4")
    board = GameInProgress(rules, seats=(None, player("random?seed=1", rules)))
    live = LiveSearch(rules, UniformEvaluator(), SearchOptions(solver=False))
    viewers: list[list[SearchResult]] = [[], []]
    for viewer in viewers:
        live.subscribe(viewer.append)
    live.follow(board.state)
    board.subscribe(lambda: live.follow(board.state))
    live.run(Limits(simulations=2_000))
    board.play(board.parse("4"))
    board.answer()
    kept = live.run(Limits(simulations=0))
    assert live.state == board.state
    assert kept.root_visits > 1
    assert [viewer[-1] for viewer in viewers] == [kept, kept]
    board.undo()
    assert live.run(Limits(simulations=0)).root_visits == 1


def test_what_the_players_hold_is_given_back() -> None:
    held = Held()
    GameInProgress(TICTACTOE, seats=(None, held)).close()
    assert held.closed


def test_a_player_that_searches_can_be_watched_and_hurried() -> None:
    rules = game("connect4")
    searcher = SearchPlayer(simulations=10**9, evaluator="uniform", solver=False)
    board = GameInProgress(rules, seats=(None, searcher))
    live = searcher.live(rules)
    heard: list[int] = []
    arrived = threading.Event()

    def listener(result: object) -> None:
        heard.append(board.number)
        arrived.set()

    live.subscribe(listener)
    board.play(board.parse("4"))
    thinking = threading.Thread(target=board.answer)
    thinking.start()
    assert arrived.wait(PATIENCE)
    live.stop()
    thinking.join(PATIENCE)
    assert len(board.actions) == 2
    assert searcher.result is not None
    assert searcher.result.stop == "stopped"
