"""`bench` over UCI: the same work each time."""

from __future__ import annotations

from uci_talk import Fake, Talk, loading

from zermelo.uci.bench import CHESS_POSITIONS


def benched(talk: Talk, command: str) -> tuple[list[str], int]:
    """What each position came to, and the nodes in all."""
    lines = talk.send(command).until("Nodes/second")
    moves = [line for line in lines if line.startswith("info string bench")]
    return moves, next(int(line.split()[-1]) for line in lines if "Nodes searched" in line)


def test_the_bench_searches_every_position_alike_each_time() -> None:
    with Talk(load=loading(Fake()), WeightsFile="fake") as talk:
        first, nodes = benched(talk, "bench 50")
        assert len(first) == len(CHESS_POSITIONS)
        assert nodes == 50 * len(CHESS_POSITIONS)
        talk.ask("position startpos moves e2e4", "go nodes 200")
        assert benched(talk, "bench 50") == (first, nodes)
        assert benched(talk, "bench 60")[1] == 60 * len(CHESS_POSITIONS)


def test_a_bench_can_be_stopped_and_the_engine_plays_on() -> None:
    with Talk(load=loading(Fake(seconds=0.002)), WeightsFile="fake") as talk:
        talk.send("bench 1000000", "stop")
        assert benched(talk, "isready")[1] < 1000000
        assert talk.bestmove("position startpos", "go nodes 20") == "e2e4"


def test_a_bench_of_no_nodes_is_refused() -> None:
    with Talk() as talk:
        for line in ("bench x", "bench 0"):
            assert "bench takes a number of nodes" in talk.send(line).until("info")[-1]
