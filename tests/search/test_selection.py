"""S1 to S4, S10 and S17: the formulas of selection and backup, recomputed from the root's table."""

import math
import random
from typing import Any

import numpy as np
import pytest
from native_games import native
from small_trees import (
    DRAW,
    CountingEvaluator,
    TableEvaluator,
    TreeGame,
    puct_scores,
    random_position,
    stepped,
)

from zermelo.search import Search, SearchOptions
from zermelo.testing import HashEvaluator

PRIOR_ERROR = 3e-3  # priors are kept with 8 bits or more of mantissa
GAMES = ["connect4", "othello", "chess"]


def quiet(**options: Any) -> SearchOptions:
    return SearchOptions(**{"solver": False, "cache_mib": 0, **options})


@pytest.mark.technique("S1")
def test_priors_are_the_softmax_over_legal_actions_only() -> None:
    game = native("tictactoe")
    state = game.parse_position("XO./.../...")

    def evaluate(observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        logits = np.tile(np.arange(9, dtype=np.float32), (len(observations), 1))
        logits[:, :2] = 80.0  # the taken cells
        return logits, np.zeros(len(observations), dtype=np.float32)

    for temperature in (1.0, 2.0):
        options = quiet(policy_temperature=temperature)
        result = Search(game, evaluate, options).run(state, simulations=0)
        assert list(result.actions) == [8, 7, 6, 5, 4, 3, 2]
        weights = np.exp(result.actions / temperature)
        assert result.prior == pytest.approx(weights / weights.sum(), rel=PRIOR_ERROR)


@pytest.mark.technique("S1")
def test_a_leaf_is_expanded_on_its_first_visit_and_keeps_n_w_q_p() -> None:
    game = TreeGame([3, 3])
    evaluator = TableEvaluator(game, {(): 0.2, (0,): -0.5, (0, 0): 0.25}, {(): (0.75, 0.25)})
    search = Search(game, evaluator, quiet(turn_discount=1.0, auto_extend=False))
    result = search.run((), simulations=1)
    assert evaluator.asked == [(), (0,)]
    assert list(result.visits) == [1, 0]
    assert result.q[0] == 0.5  # the child's mover loses what the root's mover wins
    assert result.value == pytest.approx((0.2 + 0.5) / 2)
    search.run((), simulations=1)  # now into the three actions of (0,)
    assert evaluator.asked[-1] == (0, 0)
    assert search.run((), simulations=0).q[0] == pytest.approx((0.5 + 0.25) / 2)


@pytest.mark.technique("S2")
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"c_puct": 0.3},
        {"c_puct": 4.0},
        {"c_puct_factor": 3.0, "c_puct_base": 10.0},
        {"fpu": "parent"},
        {"fpu": "reduced", "fpu_reduction": 0.8},
        {"fpu": "loss"},
        {"fpu": "loss", "fpu_root": "zero"},
        {"fpu_root": "reduced", "fpu_reduction": 1.5},
    ],
    ids=str,
)
def test_every_simulation_goes_to_the_best_q_plus_u(name: str, chosen: dict[str, Any]) -> None:
    game = native(name)
    options = quiet(**chosen)
    for seed in range(3):
        state = random_position(game, random.Random(seed), most=20)
        search = Search(game, HashEvaluator(seed), options)
        for before, index in stepped(search, state, 60):
            scores = puct_scores(before, options)
            assert scores[index] == pytest.approx(scores.max(), abs=1e-12)


@pytest.mark.technique("S3")
def test_each_first_play_rule_explores_as_it_should() -> None:
    game = TreeGame([4] * 20)
    # The first reply of each action looks good for the root's mover, so tried actions keep Q = 0.5.
    tried = {}
    for rule in ("zero", "parent", "reduced", "loss"):
        evaluator = TableEvaluator(game, lambda path: 0.5 if len(path) % 2 == 0 else -0.5)
        options = quiet(fpu=rule, fpu_reduction=0.4, turn_discount=1.0, c_puct=2.5)
        result = Search(game, evaluator, options).run((), simulations=30)
        tried[rule] = int((result.visits > 0).sum())
    assert tried["loss"] < tried["zero"] < tried["reduced"] < tried["parent"] == 20


@pytest.mark.technique("S3")
def test_the_root_has_its_own_first_play_rule() -> None:
    game = TreeGame([8] * 8)
    for below, at_root, widths in (("loss", "parent", (8, 1)), ("parent", "loss", (1, 8))):
        evaluator = TableEvaluator(game, lambda path: 0.6 if len(path) % 2 == 0 else -0.6)
        options = quiet(fpu=below, fpu_root=at_root, turn_discount=1.0, c_puct=0.1)
        search = Search(game, evaluator, options)
        result = search.run((), simulations=8)
        assert int((result.visits > 0).sum()) == widths[0]
        second = [node for node in search.tree(max_depth=2).nodes if node["depth"] == 2]
        assert len(second) == (0 if widths[0] == 8 else 7)


@pytest.mark.technique("S4")
def test_virtual_loss_spreads_the_leaves_of_one_batch() -> None:
    game = native("connect4")
    sizes = {}
    for virtual_loss in (0, 1):
        evaluator = CountingEvaluator(7)
        options = quiet(leaves_per_tree=7, virtual_loss=virtual_loss)
        search = Search(game, evaluator, options)
        result = search.run(game.initial(), simulations=70)
        sizes[virtual_loss] = evaluator.batches
        assert int(result.visits.sum()) == 70
        search.check_invariants()  # every virtual loss is taken back
        if virtual_loss == 0:
            assert result.counters["collisions"] > 30
        else:
            assert list(result.visits) == [10] * 7
    assert sizes[1][:2] == [1, 7]
    assert max(sizes[0]) == 1


@pytest.mark.technique("S4")
@pytest.mark.parametrize("virtual_loss", [1, 3])
def test_a_leaf_in_flight_counts_as_that_many_lost_visits(virtual_loss: int) -> None:
    priors = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
    game = TreeGame([2] * 5)
    evaluator = TableEvaluator(game, policies={(): priors.tolist()})
    options = quiet(leaves_per_tree=16, virtual_loss=virtual_loss)
    search = Search(game, evaluator, options)
    stored = search.run((), simulations=0).prior
    result = search.run((), simulations=16)

    flights = np.zeros(5)  # the first batch, by the definition: until an action comes twice
    while True:
        visits = virtual_loss * flights
        q = np.where(flights > 0, -1.0, 0.0)
        u = float(options.c_puct) * stored * math.sqrt(visits.sum()) / (1 + visits)
        index = int(np.argmax(q + u))
        if flights[index]:
            break
        flights[index] += 1
    assert evaluator.batches[1] == int(flights.sum())
    assert {path[0] for path in evaluator.asked[1 : 1 + evaluator.batches[1]]} == set(
        np.flatnonzero(flights)
    )
    assert int(result.visits.sum()) == 16


@pytest.mark.technique("S10")
def test_a_value_loses_the_turn_discount_at_every_ply() -> None:
    game = TreeGame([[[2]]])
    values = {(): 0.0, (0,): 0.0, (0, 0): 0.0, (0, 0, 0): -0.8}
    options = quiet(turn_discount=0.9, auto_extend=False)
    search = Search(game, TableEvaluator(game, values), options)
    search.run((), simulations=3)
    sums = {n["depth"]: n["q"] * n["visits"] for n in search.tree(max_depth=3).nodes}
    # For the choosers: +0.8 at the leaf, and so on with changing signs.
    assert [sums[d] for d in (3, 2, 1, 0)] == pytest.approx([0.8, -0.72, 0.648, 0.5832 * 1.0])


@pytest.mark.technique("S10")
def test_a_draw_stays_a_draw_under_the_turn_discount() -> None:
    game = TreeGame([[[DRAW]]])
    result = Search(game, TableEvaluator(game), quiet(turn_discount=0.5)).run((), simulations=5)
    assert result.value == 0.0


@pytest.mark.technique("S10")
def test_quicker_wins_are_worth_more() -> None:
    game = native("tictactoe")
    now, later = (game.parse_position(p) for p in ("XX./OO./...", "XO./.../..."))
    options = SearchOptions(turn_discount=0.9, cache_mib=0)
    quick = Search(game, HashEvaluator(), options).run(now, simulations=5000)
    slow = Search(game, HashEvaluator(), options).run(later, simulations=5000)
    assert quick.proven is not None and slow.proven is not None
    assert quick.value == pytest.approx(0.9**1)
    assert slow.value == pytest.approx(slow.proven.result * 0.9**slow.proven.distance)
    assert slow.proven.distance > 1


@pytest.mark.technique("S17")
@pytest.mark.parametrize(("compression", "decay"), [(0.05, 1.0), (0.3, 0.5)])
def test_prior_compression_flattens_priors_by_its_formula(compression: float, decay: float) -> None:
    game = native("connect4")
    options = quiet(prior_compression=compression, prior_compression_decay=decay)
    search = Search(game, HashEvaluator(3), options)
    for before, index in stepped(search, game.initial(), 80):
        x = compression  # depth 1
        priors = (before.prior + x) / (1 + len(before.prior) * x)
        scores = puct_scores(before, options, priors)
        assert scores[index] == pytest.approx(scores.max(), abs=1e-12)


@pytest.mark.technique("S17")
def test_prior_compression_decays_with_depth() -> None:
    game = TreeGame([[2] * 6])  # the root has one action; what counts happens at depth 2
    sharp = (0.9, 0.02, 0.02, 0.02, 0.02, 0.02)
    spread = {}
    for decay in (0.0, 1.0, 9.0):
        options = quiet(prior_compression=0.5, prior_compression_decay=decay, auto_extend=False)
        evaluator = TableEvaluator(game, policies={(0,): sharp})
        search = Search(game, evaluator, options)
        search.run((), simulations=60)
        visits = [n["visits"] for n in search.tree(max_depth=2).nodes if n["depth"] == 2]
        spread[decay] = max(visits) / sum(visits)
    assert spread[0.0] < spread[1.0] < spread[9.0]


@pytest.mark.technique("S17")
@pytest.mark.parametrize("gamma", [0.5, 0.8])
def test_slower_averaging_moves_the_mean_by_its_formula(gamma: float) -> None:
    game = native("othello")
    options = quiet(averaging_power=gamma, turn_discount=1.0)
    search = Search(game, HashEvaluator(1), options)
    before = search.run(game.initial(), simulations=0)
    for _ in range(80):
        after = search.run(game.initial(), simulations=1)
        i = int(np.argmax(after.visits - before.visits))
        n, q = int(before.visits[i]), float(before.q[i])
        weight = n**gamma + 1 if n else 1.0
        value = q + (float(after.q[i]) - q) * weight  # what this simulation brought back
        assert -1.0 - 1e-9 <= value <= 1.0 + 1e-9
        moved = before.value + (value - before.value) / (before.root_visits**gamma + 1)
        assert after.value == pytest.approx(moved, abs=1e-9)
        before = after


@pytest.mark.technique("S17")
def test_branching_balance_scales_u_by_its_formula() -> None:
    game = native("othello")
    rng = random.Random(4)
    options = quiet(branching_power=0.7, branching_balance=1.3)
    for seed in range(3):
        state = random_position(game, rng, most=30)
        search = Search(game, HashEvaluator(seed), options)
        for before, index in stepped(search, state, 60):
            known = {}
            for i in np.flatnonzero(before.visits).tolist():
                child = game.play(state, int(before.actions[i]))
                if game.outcome(child) is None:
                    known[i] = len(game.legal_actions(child))
            priors = before.prior.copy()
            for i, own in known.items():
                mean = sum(known.values()) / len(known)
                priors[i] *= (mean / own / 1.3) ** 0.7
            scores = puct_scores(before, options, priors)
            assert scores[index] == pytest.approx(scores.max(), abs=1e-12)


def test_the_lab_is_off_by_default() -> None:
    defaults = SearchOptions()
    assert defaults.prior_compression == 0.0
    assert defaults.averaging_power == 1.0
    assert defaults.branching_power == 0.0
