"""A long session with the engine as a process, led by python-chess's client."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import chess
import chess.engine
import pytest
from chess.engine import Limit

from zermelo.uci.options import all_rows

SICILIAN = ["e2e4", "c7c5", "g1f3", "d7d6", "d2d4", "c5d4", "f3d4", "g8f6", "b1c3", "a7a6"]
FIXED = {"Threads": 1, "Seed": 3}


def after(moves: list[str]) -> chess.Board:
    board = chess.Board()
    for move in moves:
        board.push_uci(move)
    return board


@contextmanager
def engine(*arguments: str) -> Iterator[chess.engine.SimpleEngine]:
    command = [sys.executable, "-m", "zermelo.uci", *arguments]
    with chess.engine.SimpleEngine.popen_uci(command, timeout=60) as client:
        yield client


class Script:
    """Counts the steps; each fails loudly if the client does not accept the answer."""

    def __init__(self, client: chess.engine.SimpleEngine) -> None:
        self.client = client
        self.steps = 0

    def play(self, board: chess.Board, limit: Limit, **rest: object) -> chess.engine.PlayResult:
        self.steps += 1
        result = self.client.play(board, limit, info=chess.engine.INFO_ALL, **rest)  # type: ignore[arg-type]
        assert result.move is not None and result.move in board.legal_moves
        if result.ponder is not None:
            board = board.copy()
            board.push(result.move)
            assert result.ponder in board.legal_moves
        return result

    def analyse(
        self, board: chess.Board, limit: Limit, lines: int, **rest: object
    ) -> list[chess.engine.InfoDict]:
        self.steps += 1
        found = self.client.analyse(board, limit, multipv=lines, **rest)  # type: ignore[call-overload]
        assert len(found) == min(lines, board.legal_moves.count())
        for info in found:
            moved = board.copy()
            for move in info["pv"]:
                assert move in moved.legal_moves
                moved.push(move)
        return list(found)

    def configure(self, **options: object) -> None:
        self.steps += 1
        self.client.configure(options)  # type: ignore[arg-type]


def test_a_client_leads_a_session_of_more_than_forty_steps() -> None:
    with engine() as client:
        script = Script(client)
        for row in all_rows():
            assert client.options[row.name].type == ("string" if row.kind == "float" else row.kind)
        client.ping()
        script.configure(**FIXED)
        opening, sicilian = chess.Board(), after(SICILIAN)
        # Every form of `go`.
        for limit in (
            Limit(nodes=300),
            Limit(depth=3),
            Limit(time=0.05),
            Limit(mate=1, time=0.1),
            Limit(nodes=100, depth=50, time=5),
            Limit(white_clock=3, black_clock=3),
            Limit(white_clock=3, black_clock=3, white_inc=0.05, black_inc=0.05),
            Limit(white_clock=2, black_clock=2, remaining_moves=5),
            Limit(white_clock=0.02, black_clock=0.02),
        ):
            script.play(opening, limit)
            script.play(sicilian, limit)
        # A game goes on: trees are kept, and only given moves are searched.
        board = chess.Board()
        for _ in range(6):
            board.push(script.play(board, Limit(nodes=400), game="first").move or chess.Move.null())
        only = [chess.Move.from_uci("a2a3"), chess.Move.from_uci("h2h4")]
        assert script.play(opening, Limit(nodes=50), root_moves=only).move in only
        # Several lines, win, draw and loss, and lines on every move.
        script.configure(UCI_ShowWDL=True, VerboseMoveStats=True, ScoreType="WDL_mu")
        for lines in (1, 3, 500):
            infos = script.analyse(sicilian, Limit(nodes=500), lines)
            assert [info["multipv"] for info in infos] == list(range(1, len(infos) + 1))
            assert all(info["wdl"].relative.total() == 1000 for info in infos)
        script.configure(VerboseMoveStats=False, ScoreType="centipawn", LogLiveStats=True)
        script.analyse(opening, Limit(time=0.2), 2)
        script.configure(LogLiveStats=False, CPuct="2.5", FpuStrategy="reduced", MinibatchSize=4)
        script.play(opening, Limit(nodes=200))
        # Certain results.
        mate = chess.Board("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1")
        result = script.play(mate, Limit(nodes=5000))
        assert result.move == chess.Move.from_uci("d1d8")
        assert result.info["score"].relative == chess.engine.Mate(1)
        # Chess960, with castling.
        fischer = chess.Board.from_chess960_pos(345)
        script.play(fischer, Limit(nodes=200))
        castles = chess.Board("4k3/8/8/8/8/8/8/RK6 w A - 0 1", chess960=True)
        move = chess.Move.from_uci("b1a1")
        assert script.play(castles, Limit(nodes=50), root_moves=[move]).move == move
        # Endless, stopped at any time; pondering, hit and missed.
        for wait in range(3):
            script.steps += 1
            with client.analysis(sicilian, multipv=2) as analysis:
                for count, info in enumerate(analysis):
                    if "pv" in info and count >= wait:
                        break
            best = analysis.wait()
            assert best.move is not None and best.move in sicilian.legal_moves
        board = chess.Board()
        for hit in (True, False, True):
            result = script.play(
                board, Limit(white_clock=2, black_clock=2), ponder=True, game="pondering"
            )
            assert result.move is not None
            board.push(result.move)
            replies = list(board.legal_moves)
            reply = result.ponder if hit and result.ponder else replies[0]
            board.push(reply)
        script.play(board, Limit(nodes=100), game="pondering")
        client.ping()
        assert script.steps >= 40


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_new_game_has_the_same_node_counts(threads: str) -> None:
    with engine("--set", f"Threads={threads}") as client:
        games = []
        for number in range(2):
            counts = []
            for moves in ([], SICILIAN[:2], SICILIAN[:4]):
                info = client.analyse(after(moves), Limit(nodes=700), game=number)
                counts.append(info["nodes"])
            games.append(counts)
        assert games[0] == games[1] == [700, 700, 700]
