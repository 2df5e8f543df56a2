"""Whatever the game, the position and the options: the books of a search are right afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import zermelo
from zermelo.search import Search, SearchOptions, SearchResult
from zermelo.testing import HashEvaluator

GAMES = [
    "tictactoe",
    "connect4",
    "othello?size=6",
    "othello",
    "hex?size=4&swap=on",
    "checkers?quiet_plies=12",
    "chess",
    "chess?encoder=lc0&mirror=on",
]

switches = st.booleans()
option_values = st.fixed_dictionaries(
    {},
    optional={
        "c_puct": st.floats(0, 20),
        "c_puct_factor": st.floats(0, 5),
        "c_puct_base": st.floats(1, 1000),
        "c_puct_root": st.floats(0, 20),
        "c_puct_factor_root": st.floats(-1, 5),
        "impurity_slope": st.floats(0, 3),
        "impurity_base": st.floats(0, 2),
        "impurity_most": st.floats(0, 5),
        "spread_weight": st.floats(0, 1),
        "spread_prior": st.floats(0.01, 1),
        "spread_prior_visits": st.floats(0, 50),
        "draw_score": st.floats(-1, 1),
        "backup": st.sampled_from(["mean", "regularised"]),
        "backup_shrinkage": st.floats(0, 10),
        "lcb_z": st.floats(0, 10),
        "lcb_visit_share": st.floats(0, 1),
        "lcb_min_visits": st.integers(1, 50),
        "fpu": st.sampled_from(["zero", "parent", "reduced", "loss", "imputed"]),
        "fpu_root": st.sampled_from(["zero", "parent", "reduced", "loss", "imputed", "same"]),
        "fpu_slope": st.floats(0, 2),
        "fpu_reduction": st.floats(0, 2),
        "virtual_loss": st.integers(0, 5),
        "virtual_loss_kind": st.sampled_from(["loss", "visit"]),
        "max_collisions": st.integers(1, 6),
        "leaves_share": st.sampled_from((0.0, 0.05, 0.5)),
        "tree_reuse": switches,
        "renoise": switches,
        "dirichlet_epsilon": st.floats(0, 1),
        "dirichlet_alpha": st.floats(0, 10),
        "keep_fraction": st.floats(0, 1),
        "min_root_visits": st.integers(0, 4),
        "turn_discount": st.floats(0.5, 1),
        "solver": switches,
        "auto_extend": switches,
        "repetition_draw": switches,
        "cache_symmetry": switches,
        "cache_history": switches,
        "cache_clock": switches,
        "forced_playouts": st.floats(0, 10),
        "gumbel": switches,
        "gumbel_actions": st.integers(1, 20),
        "gumbel_visit": st.floats(0, 100),
        "gumbel_scale": st.floats(0, 2),
        "prior_compression": st.floats(0, 1),
        "prior_compression_decay": st.floats(0, 3),
        "averaging_power": st.floats(0.01, 1),
        "branching_power": st.floats(0, 3),
        "branching_balance": st.floats(0.1, 5),
        "leaves_per_tree": st.integers(1, 12),
        "batch": st.integers(1, 16),
        "policy_temperature": st.floats(0.1, 10),
        "policy_temperature_root": st.floats(0, 10),
        "seed": st.integers(0, 2**50),
    },
)
runs = st.lists(st.tuples(st.integers(0, 120), switches, switches), min_size=1, max_size=4)
walks = st.lists(st.integers(0, 2**16), max_size=60)
many = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])


def walked(game: Any, picks: list[int]) -> Any:
    """The last position of the walk in which the game is not over."""
    state = game.initial()
    for pick in picks:
        actions = game.legal_actions(state)
        after = game.play(state, actions[pick % len(actions)])
        if game.outcome(after) is not None:
            break
        state = after
    return state


def check(game: Any, state: Any, search: Search, result: SearchResult) -> None:
    search.check_invariants()
    assert sorted(result.actions) == sorted(game.legal_actions(state))
    assert np.abs(result.q).max() <= 1 + 1e-9
    assert abs(result.value) <= 1 + 1e-9
    assert abs(result.prior.sum() - 1) < 3e-3
    assert (result.prior >= 0).all()
    assert abs(result.target.sum() - 1) < 1e-9
    assert (result.target >= 0).all()
    assert abs(result.policy().sum() - 1) < 1e-9
    assert result.best_action in game.legal_actions(state)
    assert int(result.visits.sum()) <= result.root_visits
    for row in result.rows():
        assert abs(sum(row.wdl) - 1) < 1e-9
        assert min(row.wdl) > -1e-9


@many
@given(
    name=st.sampled_from(GAMES),
    picks=walks,
    chosen=option_values,
    threads=st.sampled_from([1, 1, 2]),
    cache=st.sampled_from([0, 1]),
    plan=runs,
)
def test_every_run_leaves_visits_priors_and_values_in_order(
    name: str,
    picks: list[int],
    chosen: dict[str, Any],
    threads: int,
    cache: int,
    plan: list[tuple[int, bool, bool]],
) -> None:
    game = zermelo.game(name)
    options = SearchOptions(**chosen, threads=threads, cache_mib=cache)
    search = Search(game, HashEvaluator(len(picks)), options)
    state = walked(game, picks)
    for simulations, full, plays in plan:
        result = search.run(state, simulations=simulations, full=full)
        check(game, state, search, result)
        if not plays:
            continue
        state = game.play(state, result.best_action)
        search.advance(result.best_action)
        search.check_invariants()
        if game.outcome(state) is not None:
            break


@many
@given(
    name=st.sampled_from(GAMES),
    picks=walks,
    chosen=option_values,
    simulations=st.integers(0, 80),
    full=switches,
    pick=st.integers(0, 2**16),
)
def test_a_search_restricted_to_some_actions_plays_one_of_them(
    name: str,
    picks: list[int],
    chosen: dict[str, Any],
    simulations: int,
    full: bool,
    pick: int,
) -> None:
    game = zermelo.game(name)
    state = walked(game, picks)
    legal = game.legal_actions(state)
    allowed = [a for i, a in enumerate(legal) if (pick >> i % 16) & 1] or [legal[0]]
    search = Search(game, HashEvaluator(1), SearchOptions(**chosen, cache_mib=0))
    result = search.run(state, simulations=simulations, full=full, allowed=allowed, seconds=10)
    assert result.stop == ""
    search.check_invariants()
    assert result.best_action in allowed
    forbidden = [a not in allowed for a in result.actions]
    if len(legal) > 1:
        assert int(result.visits[forbidden].sum()) == 0


@many
@given(
    name=st.sampled_from(GAMES),
    picks=st.lists(walks, min_size=1, max_size=6),
    chosen=option_values,
    simulations=st.integers(0, 60),
    full=switches,
)
def test_the_same_options_give_the_same_visits(
    name: str,
    picks: list[list[int]],
    chosen: dict[str, Any],
    simulations: int,
    full: bool,
) -> None:
    game = zermelo.game(name)
    states = [walked(game, walk) for walk in picks]
    options = SearchOptions(**chosen, cache_mib=0)
    first, second = (
        Search(game, HashEvaluator(), options).run_many(states, simulations, full=full)
        for _ in range(2)
    )
    for a, b in zip(first, second, strict=True):
        assert np.array_equal(a.visits, b.visits)
        assert np.array_equal(a.q, b.q)
        assert a.proven == b.proven
