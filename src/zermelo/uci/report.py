"""The lines that tell a program what the search has found: `info`, and one line on every move.

Nothing here changes anything: lines are made from a result and from figures about the run.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from zermelo.search import ActionRow, SearchOptions, SearchResult
from zermelo.search.thinking import depth_of, simulations_of
from zermelo.uci.options import Settings
from zermelo.uci.scores import permille, score


@dataclass(frozen=True)
class Figures:
    """What there is to say about the run besides its result."""

    seconds: float  # since `go`
    simulations: int  # of this search; the tree may hold more visits from before
    evaluations: int
    depth: int  # mean depth of the simulations
    seldepth: int
    hashfull: int  # permille
    tbhits: int


def figures(
    result: SearchResult, seconds: float, visits_before: int, hashfull: int, tbhits: int
) -> Figures:
    """Reads the counters; the expected line stands in where the core does not count depths yet."""
    deepest = int(result.counters["max_depth"])
    return Figures(
        seconds=seconds,
        simulations=simulations_of(result, visits_before),
        evaluations=int(result.counters["evaluations"]),
        depth=depth_of(result),
        seldepth=max(1, deepest or len(result.pv)),
        hashfull=hashfull,
        tbhits=tbhits,
    )


def order(
    result: SearchResult, allowed: Collection[int] = (), played: int | None = None
) -> list[int]:
    """Numbers of the rows, the best first: as played, then by visits, then by prior."""
    best = result.best_action if played is None else played
    actions, visits, prior = (
        column.tolist() for column in (result.actions, result.visits, result.prior)
    )
    kept = [i for i in range(len(actions)) if not allowed or actions[i] in allowed]
    return sorted(kept, key=lambda i: (actions[i] != best, -visits[i], -prior[i]))


def info_lines(
    result: SearchResult,
    run: Figures,
    settings: Settings,
    allowed: Collection[int] = (),
    played: int | None = None,
) -> list[str]:
    """One `info` line for each of the best moves, as many as MultiPV says.

    `played` is the move that the engine plays, once that is known; it comes first.
    """
    milliseconds = int(run.seconds * 1000)
    rate = 1 / run.seconds if run.seconds > 0 else 0.0
    head = (
        f"info depth {run.depth} seldepth {run.seldepth} time {milliseconds} "
        f"nodes {result.root_visits}"
    )
    tail = f"hashfull {run.hashfull} nps {round(run.simulations * rate)}"
    if settings["UCI_ShowEPS"]:
        tail += f" eps {round(run.evaluations * rate)}"
    tail += f" tbhits {run.tbhits}"
    lines = []
    for number, index in enumerate(order(result, allowed, played)[: settings["MultiPV"]], start=1):
        row = result.row(index)
        lines.append(
            f"{head} {_scores(result, row, settings)} {tail} multipv {number} pv {' '.join(row.pv)}"
        )
    return lines


def _scores(result: SearchResult, row: ActionRow, settings: Settings) -> str:
    """`score cp|mate [wdl] [movesleft]` of one move; one never tried has the root's value."""
    q, wdl = row.q, row.wdl
    if not row.visits and row.certain is None:
        q = result.value
        wdl = ((1 + q) / 2, 0.0, (1 - q) / 2)
    mate = row.certain.mate if row.certain else None
    if mate is None and row.certain is not None:
        q = 0.0  # a proven draw
    text = (
        f"score cp {score(settings['ScoreType'], q, wdl)}" if mate is None else f"score mate {mate}"
    )
    if settings["UCI_ShowWDL"]:
        text += " wdl {} {} {}".format(*permille(wdl))
    if settings["UCI_ShowMovesLeft"] and row.certain is not None:
        text += f" movesleft {(row.certain.distance + 1) // 2}"
    return text


# --- one line on every move -----------------------------------------------------------------------


def move_stats(result: SearchResult, options: SearchOptions) -> list[str]:
    """`info string` lines, the least visited move first, and the root's own last."""
    visits = result.visits
    total = int(visits.sum())
    base, factor = float(options.c_puct_base), float(options.c_puct_factor)
    growth = math.log((total + base) / base)
    scale = (float(options.c_puct) + factor * growth) * math.sqrt(max(total, 1))
    bonus = scale * result.prior / (1 + visits)
    untried = _first_play(result, options)
    q = np.where(visits > 0, result.q, untried)
    own = getattr(result, "network_values", None)  # of each child; NaN where it was not evaluated
    lines = []
    for i in np.lexsort((q + bonus, visits)).tolist():
        row = result.row(i)
        value = math.nan if own is None else float(own[i])
        if row.certain is not None:
            value = float(row.certain.result)
        head = f"{row.text:<5} ({row.action:<4}) {_counts(row.visits, row.prior)}"
        known = row.visits > 0 or row.certain is not None
        stats = _stats(row.wdl, row.certain.distance if row.certain else None, float(q[i]), known)
        tail = f"(U: {bonus[i]:6.5f}) (S: {q[i] + bonus[i]:8.5f}) {_value(value)}"
        lines.append(f"info string {head} {stats} {tail}" + (" (T)" if row.certain else ""))
    proven = result.proven
    seen = float(result.prior[visits > 0].sum())
    stats = _stats(_root_wdl(result), proven.distance if proven else None, result.value, True)
    own_value = getattr(result, "network_value", math.nan)
    head = f"node  ({len(visits):>4}) {_counts(result.root_visits, seen)}"
    lines.append(f"info string {head} {stats} {_value(own_value)}" + (" (T)" if proven else ""))
    return lines


def _counts(visits: int, prior: float) -> str:
    """No visit is under way when a line is printed after a search: (+ 0)."""
    return f"N: {visits:>7} (+ 0) (P: {prior * 100:5.{1 if prior >= 0.99995 else 2}f}%)"


def _stats(wdl: tuple[float, float, float], plies: int | None, q: float, known: bool) -> str:
    moves = f"{plies:4.1f}" if plies is not None else " -.-"
    if not known:
        return f"(WL:  -.-----) (D: -.---) (M: {moves}) (Q: {q:8.5f})"
    return f"(WL: {wdl[0] - wdl[2]:8.5f}) (D: {wdl[1]:5.3f}) (M: {moves}) (Q: {q:8.5f})"


def _value(value: float) -> str:
    return "(V:  -.----)" if math.isnan(value) else f"(V: {value:7.4f})"


def _first_play(result: SearchResult, options: SearchOptions) -> float:
    """What the search takes an untried root move for."""
    kind = options.fpu if options.fpu_root == "same" else options.fpu_root
    seen = float(result.prior[result.visits > 0].sum())
    reduced = result.value - float(options.fpu_reduction) * math.sqrt(seen)
    return {"zero": 0.0, "parent": result.value, "reduced": reduced, "loss": -1.0}[str(kind)]


def _root_wdl(result: SearchResult) -> tuple[float, float, float]:
    """Of the position: its value, with the draws of its moves weighted by their visits."""
    total = int(result.visits.sum())
    if not total:
        return (1 + result.value) / 2, 0.0, (1 - result.value) / 2
    draws = [result.row(i).wdl[1] * int(n) for i, n in enumerate(result.visits) if n]
    draw = min(sum(draws) / total, 1 - abs(result.value))
    return (1 - draw + result.value) / 2, draw, (1 - draw - result.value) / 2
