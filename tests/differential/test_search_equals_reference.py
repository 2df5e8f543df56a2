"""The native search is `reference/puct.py`, visit for visit."""

import itertools
import random
from typing import Any

import pytest
from native_games import native

from zermelo import _core, reference
from zermelo.search import Search, SearchOptions, SearchResult
from zermelo.testing import HashEvaluator

GAMES = [
    "tictactoe",
    "connect4",
    "othello?size=6",
    "othello",
    "hex?size=5&swap=on",
    "checkers",
    "chess",
]

# Every value of every option that the reference knows, in rotation: any two meet sooner or later.
CHOICES: dict[str, list[Any]] = {
    "c_puct": [1.5, 0.7, 3.0],
    "c_puct_factor": [0.0, 2.0],
    "c_puct_base": [19652.0, 50.0],
    "c_puct_root": [0.0, 2.5],
    "c_puct_factor_root": [-1.0, 0.0, 1.0],
    "impurity_slope": [0.0, 1.57, 0.5],
    "impurity_base": [0.463, 1.0],
    "impurity_most": [2.26, 1.2],
    "spread_weight": [0.0, 0.85, 0.3],
    "spread_prior": [0.4, 0.1],
    "spread_prior_visits": [2.0, 0.0, 20.0],
    "backup": ["mean", "mean", "regularised"],
    "backup_shrinkage": [3.0, 0.0],
    "lcb_z": [0.0, 1.96, 0.3],
    "lcb_visit_share": [0.15, 0.5, 0.0],
    "lcb_min_visits": [1, 10],
    "fpu": ["zero", "parent", "reduced", "loss", "imputed"],
    "fpu_root": ["same", "zero", "parent", "reduced", "loss", "imputed"],
    "fpu_reduction": [0.1, 0.5],
    "fpu_slope": [0.15, 0.0, 0.6],
    "turn_discount": [0.99, 1.0, 0.9],
    "moves_left_slope": [0.0, 0.003, 0.02],
    "moves_left_cap": [0.0345, 0.3],
    "moves_left_threshold": [0.8, 0.0, 0.3],
    "proof_weight": [0.0, 0.1, 1.0],
    "proof_threshold": [0.5, -1.0, 0.0],
    "draw_score": [0.0, 0.0, -0.3, 0.7],
    "solver": [True, False],
    "auto_extend": [True, False],
    "repetition_draw": [True, False],
    "min_root_visits": [0, 1, 3],
    "dirichlet_epsilon": [0.0, 0.25, 0.6],
    "virtual_loss": [1, 0, 3],
    "virtual_loss_kind": ["loss", "visit"],
    "max_collisions": [1, 2, 5],
    "leaves_share": [0.0, 0.1, 0.25],
    "policy_temperature": [1.0, 1.4, 0.7],
    "policy_temperature_root": [0.0, 1.4, 3.0],
    "stop_gain": [0.0, 0.003, 0.0003],
    "stop_interval": [7, 20],
    "stop_minimum": [1, 30],
}


def random_position(game: Any, rng: random.Random) -> Any:
    """A position that is not over, from a random game; late ones are as likely as early ones."""
    while True:
        states = [game.initial()]
        while (actions := game.legal_actions(states[-1])) and len(states) < 200:
            states.append(game.play(states[-1], rng.choice(actions)))
        ongoing = [s for s in states if game.outcome(s) is None]
        if ongoing:
            return rng.choice(ongoing)


def visits_by_action(actions: Any, visits: Any) -> dict[int, int]:
    return dict(zip(map(int, actions), map(int, visits), strict=True))


def compare(name: str, seed: int, simulations: int, leaves: int = 1, moves: int = 1) -> None:
    """Searches a random position with random options, and again after each of `moves` - 1 moves."""
    rng = random.Random(f"{name} {seed}")
    game = native(name)
    state = random_position(game, rng)
    chosen = {key: rng.choice(values) for key, values in CHOICES.items()}
    chosen["leaves_per_tree"] = leaves
    evaluator = HashEvaluator(rng.randrange(1000))
    native_options = SearchOptions(
        **chosen,
        dirichlet_alpha=0.3,
        cache_mib=rng.choice([0, 1]) if leaves == 1 else 0,  # what is cached waits for no batch
        seed=seed,
        keep_fraction=1.0,
        cache_symmetry=False,
    )
    search = Search(game, evaluator, native_options)

    def told(rules: Any, position: Any, actions: Any) -> tuple[Any, ...]:
        plies = evaluator.plies_left(rules, position)
        return (*evaluator(rules, position, actions), evaluator.draw(rules, position), plies)

    samples = _core.Random(seed)
    root: reference.Node | None = None
    for move in range(moves):
        full = rng.random() < 0.5
        where = f"{name} seed {seed} move {move} {game.position_text(state)} {chosen} full={full}"
        result = search.run(state, simulations=simulations, full=full)

        # Noise and forced root visits belong to full searches, impurity and bounds to others.
        absent = ("impurity_slope", "lcb_z") if full else ("min_root_visits",)
        options = reference.Options(**{**chosen, **dict.fromkeys(absent, 0)})
        noise = None
        if full and chosen["dirichlet_epsilon"] > 0:
            noise = samples.dirichlet(0.3, len(result.actions))
        root = reference.search(game, state, told, simulations, options, noise, root)
        assert_equal(result, root, options, where)
        search.check_invariants()

        action = result.best_action
        after = game.play(state, action)
        if game.outcome(after) is not None:
            return
        search.advance(action)
        flips = game.player(after) != game.player(state)
        root = reference.advance(root, action, flips)
        if flips and chosen["draw_score"]:  # its values hold what draws were worth to the other
            root = None
        state = after


def assert_equal(
    result: SearchResult, root: reference.Node, options: reference.Options, where: str
) -> None:
    expected = {child.action: child.visits for child in root.children}
    assert visits_by_action(result.actions, result.visits) == expected, where
    assert result.root_visits == root.visits, where
    proven = tuple(result.proven) if result.proven else None
    assert proven == root.certain, where
    for child, q in zip(root.children, result.q, strict=True):
        if child.visits:
            assert q == child.q(options.turn_discount, options.draw_score), where
    assert result.best_action == reference.best_action(root, options), where


@pytest.mark.technique("S10", "S19", "S23", "S24", "S25", "S26", "S27", "S28", "S29")
@pytest.mark.parametrize("name", GAMES)
def test_visits_values_and_proofs_equal_the_reference(name: str) -> None:
    for seed in range(25):
        compare(name, seed, simulations=40 + seed * 4)


@pytest.mark.technique("S5", "S22")
@pytest.mark.parametrize("name", GAMES)
def test_mini_batches_and_reused_trees_equal_the_reference(name: str) -> None:
    for seed in range(100, 115):
        compare(name, seed, simulations=40 + seed % 7 * 10, leaves=2 + seed % 9, moves=3)


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.timeout(3000)
def test_visits_values_and_proofs_equal_the_reference_at_length(name: str) -> None:
    for seed in range(1000, 2000):
        compare(name, seed, simulations=100, leaves=1 + seed % 2 * (seed % 13), moves=1 + seed % 3)


@pytest.mark.technique("S18")
def test_many_boards_give_each_board_the_visits_it_has_alone() -> None:
    rng = random.Random(5)
    game = native("connect4")
    states = [random_position(game, rng) for _ in range(40)]
    for threads, batch in itertools.product((1, 2), (1, 7, 64)):
        options = SearchOptions(threads=threads, batch=batch, cache_mib=1, cache_symmetry=False)
        together = Search(game, HashEvaluator(), options).run_many(states, simulations=80)
        for state, result in zip(states, together, strict=True):
            alone = Search(game, HashEvaluator(), SearchOptions(cache_mib=0)).run(
                state, simulations=80
            )
            assert list(result.visits) == list(alone.visits)


def test_a_python_game_is_searched_like_its_native_twin() -> None:
    class Twin:
        """Tic-tac-toe through a Python object: every call goes through the protocol."""

        name = "twin"
        num_actions = 9
        observation_shape = (2, 3, 3)

        def __init__(self) -> None:
            self.native = native("tictactoe")

        def __getattr__(self, attribute: str) -> Any:
            return getattr(self.native, attribute)

    twin = Twin()
    for seed in range(10):
        rng = random.Random(seed)
        state = random_position(twin.native, rng)
        exact = SearchOptions(
            cache_symmetry=False
        )  # games in Python share images for networks only
        a = Search(twin, HashEvaluator(seed), exact).run(state, simulations=150)
        b = Search(twin.native, HashEvaluator(seed), exact).run(state, simulations=150)
        assert list(a.visits) == list(b.visits)
        assert list(a.actions) == list(b.actions)
    assert _core.PyGame(twin).perft(twin.initial(), 5) == twin.native.perft(twin.initial(), 5)
