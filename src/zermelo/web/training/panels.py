"""Which figures of a run are shown together, under which names, and how they are written.

Pure tables: the page, the comparison of runs and the report all draw these panels. What a run does
not have is left out, so each panel is there or not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

# How numbers are written: plain 1.234, share 12.3 %, count 12,345, rate 12,345/s, elo +120.
Form = str


@dataclass(frozen=True)
class Curve:
    """A series by its tag in the metrics; `margin` is the tag of half its 95 % interval."""

    tag: str
    name: str
    margin: str = ""


@dataclass(frozen=True)
class Panel:
    """A chart: one question that a person has."""

    id: str
    section: str
    title: str
    note: str  # what is good, or what it is, in a few words
    form: Form
    curves: tuple[Curve, ...]
    zero: bool = False  # the axis begins at 0

    def of(self, tags: Iterable[str]) -> Panel | None:
        """With the curves that there are; None without any."""
        known = set(tags)
        curves = tuple(curve for curve in self.curves if curve.tag in known)
        if not curves:
            return None
        return replace(self, curves=curves)


STRENGTH, LEARNING, PLAYING, REPLAY = "Strength", "Learning", "Self-play", "Replay and machine"

_FIXED = (
    Panel("elo", STRENGTH, "Elo ladder", "above the first checkpoint, with 95 % intervals", "elo",
          (Curve("evaluate/ladder.elo", "Elo", "evaluate/ladder.margin"),)),
    Panel("loss", LEARNING, "Loss", "lower is better; held-out games are not trained on", "plain",
          (Curve("train/training/loss", "training"), Curve("train/held_out/loss", "held out"))),
    Panel("policy_loss", LEARNING, "Policy loss", "the policy against the search's", "plain",
          (Curve("train/training/policy_loss", "training"),
           Curve("train/held_out/policy_loss", "held out"))),
    Panel("value_loss", LEARNING, "Value loss", "how far the value is from the results", "plain",
          (Curve("train/training/value_loss", "training"),
           Curve("train/held_out/value_loss", "held out"))),
    Panel("accuracy", LEARNING, "Policy accuracy", "the network's first choice is the search's",
          "share", (Curve("train/training/policy_accuracy", "training"),
                    Curve("train/held_out/policy_accuracy", "held out"))),
    Panel("calibration", LEARNING, "Value calibration error",
          "between predicted and real results; lower is better", "plain",
          (Curve("train/training/value_calibration_error", "training"),
           Curve("train/held_out/value_calibration_error", "held out")), zero=True),
    Panel("learning_rate", LEARNING, "Learning rate", "the highest of each iteration", "plain",
          (Curve("train/learning_rate", "learning rate"),), zero=True),
    Panel("gradient", LEARNING, "Gradient norm", "mean and largest of an iteration", "plain",
          (Curve("train/gradient_norm", "mean"), Curve("train/gradient_norm_max", "largest")),
          zero=True),
    Panel("games", PLAYING, "Games per second", "of self-play, all workers together", "rate",
          (Curve("selfplay/games_per_second", "games"),), zero=True),
    Panel("evaluations", PLAYING, "Searched per second", "simulations and network evaluations",
          "rate", (Curve("selfplay/simulations_per_second", "simulations"),
                   Curve("selfplay/evaluations_per_second", "evaluations")), zero=True),
    Panel("cache", PLAYING, "Cache hits", "positions that did not need the network", "share",
          (Curve("selfplay/cache_hit_share", "found in the cache"),), zero=True),
    Panel("outcomes", PLAYING, "Outcomes", "of self-play games", "share",
          (Curve("selfplay/first_win_share", "first wins"), Curve("selfplay/draw_share", "drawn"),
           Curve("selfplay/second_win_share", "second wins")), zero=True),
    Panel("plies", PLAYING, "Game length", "in plies", "plain",
          (Curve("selfplay/mean_plies", "plies"),)),
    Panel("unique", PLAYING, "Different games", "share that nobody else played", "share",
          (Curve("selfplay/unique_games_share", "different"),), zero=True),
    Panel("resignation", PLAYING, "Resignation audit",
          "games played on: how many resigners would not have lost", "share",
          (Curve("resign/resign_false_share", "wrong"),
           Curve("selfplay/resigned_share", "games resigned")), zero=True),
    Panel("window", REPLAY, "Window", "samples that training draws from", "count",
          (Curve("window/samples", "samples"), Curve("window/merged", "different positions")),
          zero=True),
    Panel("duplicates", REPLAY, "Duplicates", "samples whose position was there already", "share",
          (Curve("window/duplicates", "duplicates"),), zero=True),
    Panel("seconds", REPLAY, "Seconds per iteration", "where the time goes", "plain",
          (Curve("selfplay/seconds", "self-play, all workers"), Curve("train/seconds", "training"),
           Curve("evaluate/seconds", "yardsticks")), zero=True),
    Panel("memory", REPLAY, "Memory", "of all processes", "bytes", (Curve("memory", "memory"),),
          zero=True),
)  # fmt: skip

_EXACT = ("keeps_value", "keeps_score", "policy_keeps_value", "policy_keeps_score", "solved",
          "policy_solved", "never_loses")  # fmt: skip
_WORDS = {
    "keeps_value": "keeps the result", "keeps_score": "keeps the score",
    "policy_keeps_value": "network alone, keeps the result",
    "policy_keeps_score": "network alone, keeps the score", "solved": "solved",
    "policy_solved": "network alone, solved", "never_loses": "never loses",
}  # fmt: skip


def panels_for(tags: Iterable[str]) -> list[Panel]:
    """Those that a run has figures for, in the order of the sections."""
    tags = list(tags)
    found = [panel for each in (*_FIXED, *_yardsticks(tags)) if (panel := each.of(tags))]
    order = (STRENGTH, LEARNING, PLAYING, REPLAY)
    return sorted(found, key=lambda panel: order.index(panel.section))


def _yardsticks(tags: list[str]) -> list[Panel]:
    """Names of yardsticks are the run's own: a game's, an opponent's, a suite's file."""
    exact: list[Curve] = []
    scores: list[Curve] = []
    for tag in tags:
        place, _, key = tag.partition("/")
        if place != "evaluate":
            continue
        name, _, last = key.rpartition(".")
        if last in _EXACT:
            exact.append(Curve(tag, f"{name}: {_WORDS[last]}"))
        elif last == "score" and name != "ladder":
            scores.append(Curve(tag, f"against {name}"))
    if len({curve.name.partition(": ")[0] for curve in exact}) == 1:
        exact = [replace(curve, name=curve.name.partition(": ")[2]) for curve in exact]
    exact.sort(key=lambda curve: _EXACT.index(curve.tag.rpartition(".")[2]))
    return [
        Panel("exact", STRENGTH, "Exact yardsticks", "held against a solver or solutions", "share",
              tuple(exact[:8])),
        Panel("opponents", STRENGTH, "Opponents", "points per game against fixed players", "share",
              tuple(scores[:8])),
        Panel("perfect", STRENGTH, "Perfect player beaten", "games won from the empty board",
              "count", (Curve("evaluate/perfect.wins", "won"),
                        Curve("evaluate/perfect.games", "played")), zero=True),
    ]  # fmt: skip
