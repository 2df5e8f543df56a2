"""`bench`: the same positions, searched with the same number of nodes, and how long that took.

Owns the positions, which `zermelo bench chess` takes too. With one thread the nodes and moves are
the same each time, so that two machines or two builds can be compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from zermelo.games.notation import parse_position
from zermelo.search import Limits, LiveSearch

NODES = 800  # of each position, unless the command says otherwise
# Openings, middlegames and endgames of many kinds; the first is the start position.
CHESS_POSITIONS = (
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
    "rnbqkb1r/pp2pppp/3p1n2/8/3NP3/2N5/PPP2PPP/R1BQKB1R b KQkq - 2 5",
    "r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N2N2/PP2BPPP/R1BQ1RK1 w - - 0 9",
    "r2q1rk1/1b2bppp/p1n1pn2/1p6/3P4/1BN2N2/PP2QPPP/R1BR2K1 w - - 0 14",
    "2rq1rk1/pb1n1ppN/4p3/1pb5/3P1Pn1/P1N5/1PQ1B1PP/R1B2RK1 b - - 0 16",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "8/pp2k1pp/2p1p3/3pP1P1/3P1K2/1PP4P/P7/8 w - - 0 30",
    "3r2k1/5ppp/1p6/p1p5/P1P1R3/1P4P1/5PKP/8 b - - 2 28",
    "8/8/1p2k1p1/3p3p/1p1P1P1P/1P2PK2/8/8 w - - 3 54",
)


def bench_lines(live: LiveSearch, nodes: int, stopped: Callable[[], bool]) -> Iterator[str]:
    """Searches every position from nothing; the totals come last, also after a stop."""
    visits, seconds = 0, 0.0
    for number, position in enumerate(CHESS_POSITIONS, start=1):
        if stopped():
            break
        live.forget()
        live.follow(parse_position(live.game, position))
        started = time.perf_counter()
        result = live.run(Limits(nodes=nodes), lambda _: live.stop() if stopped() else None)
        seconds += time.perf_counter() - started
        visits += result.root_visits
        place = f"{number} of {len(CHESS_POSITIONS)}"
        yield f"info string bench {place}: {result.root_visits} nodes, {result.best.text}"
    live.forget()
    yield f"Total time (ms) : {round(seconds * 1000)}"
    yield f"Nodes searched  : {visits}"
    yield f"Nodes/second    : {round(visits / seconds) if seconds else 0}"
