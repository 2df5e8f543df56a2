"""The rows of the table of evidence: what is compared, with whom, on what, how often.

Every technique of tools/techniques.py has at least one. Names are stable: results are kept by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

# Both sides of a match, unless a row says otherwise: the network of the package, an even search.
PLAYERS = {
    "chess": "chess.safetensors",
    "connect4": "connect4.onnx",
    "othello6": "othello_size6.onnx",
}
BASE = {
    "chess": "gumbel=off&fpu=reduced&fpu_reduction=0.33&turn_discount=1&lcb_z=0",
    "connect4": "gumbel=off&fpu=reduced&turn_discount=1&precision=f32",
    "othello6": "gumbel=off&fpu=reduced&turn_discount=1&precision=f32",
}
OPENINGS = {"chess": "random:6", "connect4": "random:4", "othello6": "random:6"}


@dataclass(frozen=True)
class Match:
    """One network with one option against itself with another."""

    name: str
    technique: str
    game: str
    ours: str
    theirs: str
    games: int = 1000
    simulations: int = 200
    claim: str = ""  # of the sources

    def search(self, own: str) -> str:
        """A side's options: the base, less what it sets itself."""
        base = f"simulations={self.simulations}&{BASE[self.game]}&{own}"
        chosen = dict(part.split("=", 1) for part in base.split("&"))
        return "&".join(f"{name}={value}" for name, value in chosen.items())

    @property
    def command(self) -> list[str]:
        """Without the places of networks and results."""
        sides = [f"{PLAYERS[self.game]}?{self.search(own)}" for own in (self.ours, self.theirs)]
        return [
            "zermelo", "match", *sides, "--games", str(self.games),
            "--openings", OPENINGS[self.game], "--max-plies", "300", "--resign", "0.95,3",
        ]  # fmt: skip


@dataclass(frozen=True)
class Learning:
    """Runs from nothing for the same time, with and without; their last networks then meet."""

    name: str
    technique: str
    game: str
    ours: tuple[str, ...]
    theirs: tuple[str, ...] = ()
    minutes: int = 10
    seeds: int = 3
    games: int = 400
    simulations: int = 100
    claim: str = ""


@dataclass(frozen=True)
class Tested:
    """What has no strength of its own: it holds or it does not, as its tests say."""

    name: str
    technique: str
    claim: str = ""


Row: TypeAlias = Match | Learning | Tested

GAMES = ("chess", "connect4", "othello6")


def _matches(technique: str, what: str, ours: str, theirs: str, **rest: Any) -> list[Row]:
    """The same on every game."""
    return [
        Match(f"{technique}-{what}-{game}", technique, game, ours, theirs, **rest) for game in GAMES
    ]


def _learning(technique: str, what: str, *ours: str, theirs: tuple[str, ...] = ()) -> list[Row]:
    games = {"connect4": "connect4", "othello6": "othello?size=6"}
    return [
        Learning(f"{technique}-{what}-{short}", technique, game, ours, theirs)
        for short, game in games.items()
    ]


def _tested(*techniques: str) -> list[Row]:
    return [Tested(f"{technique}-tests", technique) for technique in techniques]


ROWS: tuple[Row, ...] = (
    *_tested("S1"),
    *_matches("S2", "c", "c_puct=1.5", "c_puct=3"),
    *_matches("S3", "fpu", "fpu_reduction=0.33", "fpu=zero"),
    *_matches(
        "S4", "loss", "leaves_per_tree=8&virtual_loss=1", "leaves_per_tree=8&virtual_loss=3"
    ),
    *_matches("S5", "reuse", "tree_reuse=on", "tree_reuse=off"),
    *_learning("S6", "renoise", theirs=("search.renoise=off",)),
    *_learning("S7", "noise", theirs=("search.dirichlet_epsilon=0",)),
    *_learning("S8", "discount", theirs=("search.keep_fraction=1",)),
    *_learning("S9", "minimum", theirs=("search.min_root_visits=0",)),
    *_matches("S10", "discount", "turn_discount=0.99", "turn_discount=1"),
    *_matches("S11", "solver", "solver=on", "solver=off", games=10_000, simulations=100,
              claim="+3.06 at 100 visits"),
    *_matches("S12", "extend", "auto_extend=on", "auto_extend=off", games=10_000, simulations=100,
              claim="+1.70 at 100 visits"),
    Match("S13-repetition-chess", "S13", "chess", "repetition_draw=on", "repetition_draw=off"),
    *_tested("S14"),
    *_learning("S15", "forced", "search.gumbel=off", "search.forced_playouts=2",
               theirs=("search.gumbel=off",)),
    *_learning("S16", "gumbel", theirs=("search.gumbel=off",)),
    *_matches("S17", "priors", "prior_compression=0.01", "prior_compression=0"),
    *_matches("S17", "averaging", "averaging_power=0.9", "averaging_power=1"),
    *_matches("S17", "branching", "branching_power=0.5", "branching_power=0"),
    *_matches("S18", "leaves", "leaves_per_tree=8", "leaves_per_tree=1"),
    *_matches("S19", "threads", "threads=2", "threads=1"),
    *_tested("S20", "S21"),
    *_matches("S22", "visits", "leaves_per_tree=8&virtual_loss_kind=visit&max_collisions=8",
              "leaves_per_tree=8", claim="+101 and +30, other engines"),
    *_matches("S23", "bound", "lcb_z=1.96", "lcb_z=0", claim="about +70 at 1,600 visits"),
    *_matches("S24", "spread", "spread_weight=0.85", "spread_weight=0",
              claim="+50 to +75 together with another, +19 alone"),
    *_matches("S25", "backup", "backup=regularised", "backup=mean", claim="+43 at 2,000 nodes"),
    *_matches("S26", "imputed", "fpu=imputed", "fpu=reduced"),
    *_matches("S27", "growth", "c_puct=1.745&c_puct_factor=3.894&c_puct_base=38739",
              "c_puct=1.745"),
    *_matches("S27", "root", "policy_temperature_root=1.4", "policy_temperature_root=0"),
    *_matches("S28", "impurity", "impurity_slope=1.57", "impurity_slope=0", claim="+14 and +7"),
    *_matches("S29", "proof", "proof_weight=0.1", "proof_weight=0"),
    *_learning("P1", "cap", theirs=("selfplay.full_search_probability=1",)),
    *_learning("P2", "resign", theirs=("selfplay.resign_calibrated=off",)),
    *_learning("P3", "temperature", theirs=("selfplay.temperature_plies=0",)),
    *_learning("P4", "progressive", theirs=("selfplay.progressive_fraction=0",)),
    *_learning("P5", "openings", theirs=("selfplay.opening_share=0",)),
    *_tested("P6", "P7"),
    *_learning("P8", "regret", "selfplay.regret_share=0.5"),
    *_learning("P9", "stop", "search.gumbel=off", "search.stop_gain=0.0005",
               "search.stop_interval=20", "search.stop_minimum=20", theirs=("search.gumbel=off",)),
    *_tested("T1", "T2"),
    *_learning("T3", "blend", theirs=("train.value_blend=0",)),
    *_learning("T4", "merged", theirs=("replay.deduplicate=off",)),
    *_learning("T5", "symmetries", theirs=("replay.symmetries=off",)),
    *_learning("T6", "window", theirs=("replay.window_start=30", "replay.window_max=30")),
    *_tested("T7", "T8", "T9"),
    *_learning("T10", "cycle", theirs=("train.one_cycle=off",)),
    *_learning("T11", "passes", theirs=("train.passes=2",)),
    *_tested("T12"),
    *_learning("T13", "smaller", theirs=("network.blocks=2",)),
    *_tested("T14"),
    *_learning("T15", "heads", "train.reply_weight=0.15", "train.soft_policy_weight=1",
               "train.future_weight=0.3"),
    *_tested("T16"),
    *_learning("T17", "kind", "network.kind=sparse"),
    *_tested("E1", "E2", "E3", "E4", "E5", "E6"),
)  # fmt: skip
