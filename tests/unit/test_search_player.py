"""The player `search`: its options are the search's, and it keeps its tree where it can."""

from __future__ import annotations

import pytest
from native_games import native

from zermelo import game
from zermelo.players import player
from zermelo.players.search_player import SearchPlayer
from zermelo.search import SearchOptions
from zermelo.search.path import path_between


def test_every_option_of_the_search_can_be_set_by_name() -> None:
    rules = game("tictactoe")
    found = player("search?simulations=30&solver=off&fpu=reduced&c_puct=2.5&threads=2", rules)
    assert isinstance(found, SearchPlayer)
    wanted = SearchOptions(solver=False, fpu="reduced", c_puct=2.5, threads=2)
    assert found.options == wanted
    again = player(found.name, rules)
    assert isinstance(again, SearchPlayer)
    assert (again.options, again.name) == (wanted, found.name)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("search?simulations=0", "simulations must be 1 or more"),
        ("search?depth=3", "search has no parameter 'depth'"),
        ("search?batch=0", "option 'batch' cannot be 0"),
        ("search?solver=maybe", "solver must be on or off"),
        ("search?evaluator=guess", "there is no evaluator 'guess'"),
        ("search?seconds=1&gumbel=on", "gumbel shares out a number of simulations"),
    ],
)
def test_a_bad_option_is_one_sentence(spec: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        player(spec, game("tictactoe"))


@pytest.mark.parametrize("name", ["connect4", "checkers", "chess", "hex?size=5&swap=on"])
def test_the_tree_is_kept_while_the_game_goes_on(name: str) -> None:
    rules = game(name)
    searcher, other = SearchPlayer(simulations=60), player("random?seed=4", rules)
    state, ply = rules.initial(), 0
    while rules.outcome(state) is None and ply < 40:
        if rules.player(state) == 0:
            state = rules.play(state, searcher.choose(rules, state))
            result = searcher.result
            assert result is not None
            assert result.root_visits >= 61 or result.proven
        else:
            before = state
            action = other.choose(rules, state)
            state = rules.play(state, action)
            assert path_between(rules, before, state) == [action]
        ply += 1


def test_a_new_game_begins_without_the_old_tree() -> None:
    rules = game("connect4")
    searcher = SearchPlayer(simulations=50)
    first = searcher.choose(rules, rules.initial())
    searcher.start_game()
    assert searcher.choose(rules, rules.initial()) == first
    assert searcher.result is not None
    assert searcher.result.root_visits == 51


def test_a_jump_to_an_unrelated_position_is_searched_afresh() -> None:
    rules = native("connect4")
    searcher = SearchPlayer(simulations=50, cache_mib=0)
    searcher.choose(rules, rules.initial())
    elsewhere = rules.parse_position("......./......./......./......./...O.../..OXX..")
    action = searcher.choose(rules, elsewhere)
    assert action in rules.legal_actions(elsewhere)
    assert searcher.result is not None
    assert searcher.result.root_visits == 51


def test_it_wins_at_once_where_it_can() -> None:
    rules = native("tictactoe")
    state = rules.parse_position("XX./OO./...")
    chosen = SearchPlayer(simulations=20, evaluator="uniform").choose(rules, state)
    assert rules.action_text(state, chosen) == "c3"
