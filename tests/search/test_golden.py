"""Trees as they were: any change of the search's behaviour alters `tests/golden/search_trees.json`.

After an intended change run `python tests/search/test_golden.py` to write the file anew, and say in
the commit why the trees changed.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from native_games import native

from zermelo.search import Search, SearchOptions
from zermelo.testing import HashEvaluator

FILE = Path(__file__).parents[1] / "golden" / "search_trees.json"
GAMES = ["tictactoe", "connect4", "othello", "hex?size=7", "checkers", "chess"]
VARIANTS: dict[str, dict[str, Any]] = {
    "play": {},
    "batched": {"leaves_per_tree": 8, "virtual_loss": 2},
    "full": {"full": True},
    "gumbel": {"gumbel": True, "full": True},
    "lab": {"prior_compression": 0.1, "averaging_power": 0.8, "branching_power": 0.3},
}


def tree(name: str, variant: str) -> dict[str, Any]:
    """Two moves of the search's own choice; visits of every root action."""
    chosen = dict(VARIANTS[variant])
    full = chosen.pop("full", False)
    game = native(name)
    search = Search(game, HashEvaluator(7), SearchOptions(**chosen, seed=7, cache_mib=0))
    state, moves = game.initial(), []
    for _ in range(2):
        result = search.run(state, simulations=150, full=full)
        texts = [game.action_text(state, int(a)) for a in result.actions]
        visits = {t: int(n) for t, n in zip(texts, result.visits, strict=True) if n}
        moves.append({"best": result.best.text, "value": f"{result.value:+.6f}", "visits": visits})
        search.advance(result.best_action)
        state = game.play(state, result.best_action)
    return {"nodes": search.nodes_in_use, "moves": moves}


@pytest.mark.technique("S21")
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", GAMES)
def test_the_tree_is_the_golden_one(name: str, variant: str) -> None:
    assert tree(name, variant) == json.loads(FILE.read_text())[name][variant]


if __name__ == "__main__":
    trees = {name: {variant: tree(name, variant) for variant in VARIANTS} for name in GAMES}
    FILE.write_text(json.dumps(trees, indent=1) + "\n")
