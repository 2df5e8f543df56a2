"""Tablebases and books, with stand-ins for the files: none are shipped."""

from __future__ import annotations

import struct
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import chess
import chess.polyglot
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from uci_talk import Fake, Talk, infos

import zermelo
from zermelo.errors import UserError
from zermelo.players import chess_tablebase as tablebase
from zermelo.players.chess_book import Book
from zermelo.players.chess_tablebase import Tablebase, TablebaseEvaluator, board_of
from zermelo.uci import workshop


class Prober:
    """Answers as python-chess's `syzygy.Tablebase` does, from a table by board and side."""

    def __init__(self, wdl: Any, dtz: Any = lambda board: 1) -> None:
        self.wdl, self.dtz, self.asked = wdl, dtz, 0

    def probe_wdl(self, board: chess.Board) -> int:
        self.asked += 1
        if chess.popcount(board.occupied) > 5 or board.castling_rights:
            raise KeyError("no such table")
        return int(self.wdl(board))

    def probe_dtz(self, board: chess.Board) -> int:
        return int(self.dtz(board))


def queen_wins(board: chess.Board) -> int:
    """For whoever has the queen."""
    white, black = (bool(board.pieces(chess.QUEEN, side)) for side in chess.COLORS)
    result = 2 * (int(white) - int(black))
    return result if board.turn else -result


def distance(board: chess.Board) -> int:
    """Plies: how far the bare king is from the corner, with the sign of the result."""
    king = board.king(chess.BLACK)
    assert king is not None
    return 2 * chess.square_distance(king, chess.A8) + 1


@pytest.mark.parametrize("encoder", ["compact", "lc0", "lc0_3", "lc0_133"])
@given(seed=st.integers(0, 10_000))
@settings(max_examples=40)
def test_an_observation_gives_the_position_back(encoder: str, seed: int) -> None:
    game: Any = zermelo.game(f"chess?encoder={encoder}")
    random = np.random.default_rng(seed)
    state = game.parse_position("4k3/1p4p1/8/2P2P2/2p2p2/8/1P4P1/4K3 w - - 0 1")
    for _ in range(int(random.integers(1, 30))):
        if game.outcome(state) is not None:
            break
        state = game.play(state, int(random.choice(game.legal_actions(state))))
    board = chess.Board(game.position_text(state))
    shown = game.observe(state)
    found = board_of(shown, encoder)
    assert found is not None
    expected = board if board.turn else board.mirror()
    turns = (chess.flip_horizontal, chess.flip_vertical, chess.flip_anti_diagonal)
    for turn, made in zip(turns, shown[112:, 0, 0], strict=False):
        expected = expected.transform(turn) if made else expected
    assert found.board_fen() == expected.board_fen()
    assert found.halfmove_clock == expected.halfmove_clock
    if expected.has_legal_en_passant():
        assert found.ep_square == expected.ep_square
    else:
        assert not found.has_legal_en_passant()


def test_a_position_in_which_somebody_may_castle_is_not_probed() -> None:
    for encoder in ("compact", "lc0", "lc0_4"):
        game: Any = zermelo.game(f"chess?encoder={encoder}")
        state = game.parse_position("4k3/8/8/8/8/8/8/4K2R w K - 0 1")
        assert board_of(game.observe(state), encoder) is None


def evaluate(fen: str, tablebase: Tablebase, inner: Any = None) -> list[float]:
    game: Any = zermelo.game("chess")
    evaluator = TablebaseEvaluator(inner, tablebase, "compact", game.num_actions)
    policy, value = evaluator(np.asarray(game.observe(game.parse_position(fen)))[None])
    assert policy.shape == (1, 1858)
    return [float(x) for x in value[0]]


def test_few_pieces_have_their_exact_value_for_the_mover_of_either_colour() -> None:
    tables = Tablebase("", Prober(queen_wins), 5)
    assert evaluate("4k3/8/8/8/8/8/8/Q3K3 w - - 0 1", tables) == [1, 0, 0]
    assert evaluate("4k3/8/8/8/8/8/8/Q3K3 b - - 0 1", tables) == [0, 0, 1]
    assert evaluate("q3k3/8/8/8/8/8/8/4K3 b - - 0 1", tables) == [1, 0, 0]
    assert evaluate("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", tables) == [0, 1, 0]
    assert tables.hits == 4


def test_more_pieces_and_missing_tables_are_left_to_the_network() -> None:
    tables = Tablebase("", Prober(queen_wins), 7)
    start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    assert evaluate(start, tables, Fake(0.2)) == pytest.approx([0.6, 0, 0.4])
    six = "4k3/ppp5/8/8/8/8/8/Q3K3 w - - 0 1"  # no table: KeyError
    assert evaluate(six, tables, Fake(0.2)) == pytest.approx([0.6, 0, 0.4])
    assert tables.hits == 0


def test_a_running_counter_is_trusted_only_where_it_cannot_matter() -> None:
    tables = Tablebase("", Prober(queen_wins), 5)
    running = "4k3/8/8/8/8/8/8/Q3K3 w - - 7 1"
    assert evaluate(running, tables, Fake(0.2)) == pytest.approx([0.6, 0, 0.4])
    assert evaluate("4k3/8/8/8/8/8/8/R3K3 w - - 7 1", tables) == [0, 1, 0]
    spoiled = Tablebase("", Prober(lambda board: 1 if board.turn else -1), 5)  # a cursed win
    assert evaluate("4k3/8/8/8/8/8/8/Q3K3 w - - 0 1", spoiled, Fake(0.2)) == [0, 1, 0]


def test_a_position_is_probed_once() -> None:
    prober = Prober(queen_wins)
    tables = Tablebase("", prober, 5)
    for _ in range(5):
        evaluate("4k3/8/8/8/8/8/8/Q3K3 w - - 0 1", tables)
    assert (prober.asked, tables.hits) == (1, 5)


def test_threads_that_ask_together_do_not_take_positions_from_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class SlowKey(bytes):
        """Lets other threads in whenever it is looked up."""

        def __hash__(self) -> int:
            time.sleep(0)
            return super().__hash__()

    monkeypatch.setattr(tablebase, "REMEMBERED", 2)
    tables = Tablebase("", Prober(queen_wins), 5)
    board = chess.Board("4k3/8/8/8/8/8/8/Q3K3 w - - 0 1")
    keys = [SlowKey(bytes([number])) for number in range(4)]

    def ask(first: int) -> list[int | None]:
        return [tables.value(keys[(first + i) % 4], board) for i in range(500)]

    with ThreadPoolExecutor(4) as threads:
        found = [value for values in threads.map(ask, range(4)) for value in values]
    assert found == [1] * 2000
    assert tables.hits == 2000


def test_the_root_keeps_the_quickest_wins_the_slowest_losses_and_every_draw() -> None:
    board = chess.Board("8/8/8/3k4/8/8/8/Q3K3 w - - 0 1")
    tables = Tablebase("", Prober(queen_wins, distance), 5)
    kept = tables.root_moves(board)
    assert kept  # every move that keeps the queen wins, all equally soon by this table
    lost = [move for move in board.legal_moves if move not in kept]
    for move in kept:
        board.push(move)
        assert queen_wins(board) == -2
        board.pop()
    black = chess.Board("8/8/8/3k4/8/8/8/Q3K3 b - - 0 1")
    slow = tables.root_moves(black)
    furthest = max(chess.square_distance(move.to_square, chess.A8) for move in black.legal_moves)
    assert {chess.square_distance(move.to_square, chess.A8) for move in slow} == {furthest}
    assert all(move in board.legal_moves for move in lost)
    drawn = Tablebase("", Prober(lambda _board: 0), 5)
    assert len(drawn.root_moves(board)) == board.legal_moves.count()


def test_a_win_that_the_fifty_moves_spoil_is_a_draw_at_the_root() -> None:
    tables = Tablebase("", Prober(queen_wins, lambda _board: 30), 5)
    late = chess.Board("8/8/8/3k4/8/8/8/Q3K3 w - - 80 60")
    assert len(tables.root_moves(late)) == late.legal_moves.count()  # no move wins any more


def test_a_mate_is_kept_first_and_a_missing_table_keeps_everything() -> None:
    tables = Tablebase("", Prober(queen_wins, lambda _board: 5), 5)
    mate = chess.Board("k7/8/1K6/8/8/8/8/7Q w - - 0 1")
    kept = {move.uci() for move in tables.root_moves(mate)}
    assert kept == {m.uci() for m in mate.legal_moves if mates(mate, m)}
    full = chess.Board()
    assert tables.root_moves(full) == []
    six = chess.Board("4k3/ppp5/8/8/8/8/8/Q3K3 w - - 0 1")
    assert Tablebase("", Prober(queen_wins), 7).root_moves(six) == []


def mates(board: chess.Board, move: chess.Move) -> bool:
    board.push(move)
    found = board.is_checkmate()
    board.pop()
    return found


def test_the_engine_plays_by_the_tables_and_counts_their_hits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def opened(_path: str) -> Tablebase:
        return Tablebase("", Prober(queen_wins, lambda b: 1 if b.peek().to_square == 1 else 9), 5)

    monkeypatch.setattr(workshop, "_open_tablebase", opened)
    with Talk(SyzygyPath="/tables") as talk:
        lines = talk.ask("position fen 8/8/8/3k4/8/8/8/Q3K3 w - - 0 1", "go nodes 200")
        assert lines[-1].startswith("bestmove a1b1")
        assert int(infos(lines)[-1]["tbhits"]) > 20
        # What a person asks for is not taken away.
        assert talk.bestmove("go nodes 50 searchmoves e1e2") == "e1e2"


def test_folders_without_tables_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no folder"):
        Tablebase(str(tmp_path / "nowhere"))
    with pytest.raises(UserError, match="no tables"):
        Tablebase(str(tmp_path))
    with Talk(SyzygyPath=tmp_path) as talk:
        assert any("error SyzygyPath" in line for line in talk.ready())
        assert talk.ask("position startpos", "go nodes 5")


def write_book(path: Path, entries: list[tuple[chess.Board, str, int]]) -> None:
    rows = []
    for board, uci, weight in entries:
        move = chess.Move.from_uci(uci)
        coded = move.to_square | move.from_square << 6
        rows.append(struct.pack(">QHHI", chess.polyglot.zobrist_hash(board), coded, weight, 0))
    path.write_bytes(b"".join(sorted(rows)))


def test_a_book_is_followed_by_its_weights_and_only_in_games(tmp_path: Path) -> None:
    path = tmp_path / "book.bin"
    start = chess.Board()
    write_book(path, [(start, "a2a4", 3), (start, "h2h4", 1), (start, "e2e4", 0)])
    book = Book(str(path), seed=1)
    chosen = [str(book.choose(start)) for _ in range(400)]
    assert set(chosen) == {"a2a4", "h2h4"}
    assert 250 < chosen.count("a2a4") < 350
    book.close()
    with Talk(BookFile=path) as talk:
        assert talk.bestmove("position startpos", "go movetime 50") in ("a2a4", "h2h4")
        assert talk.bestmove("go nodes 50 searchmoves c2c4") == "c2c4"
        talk.send("go infinite")
        talk.until("info depth")
        talk.ask("stop")
        talk.send("setoption name OwnBook value false")
        assert talk.bestmove("go nodes 50") not in ("h2h4",)
        assert not any("from the book" in line for line in talk.spoken.lines[-3:])


def test_a_book_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with Talk(BookFile=tmp_path / "none.bin") as talk:
        assert any("error BookFile" in line for line in talk.ready())
        assert talk.ask("position startpos", "go nodes 5")
