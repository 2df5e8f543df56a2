"""What the engine does with a `go`, and what can go wrong meanwhile."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import chess
import pytest
from move_lines import MOVE_LINE
from uci_talk import Fake, Talk, infos, loading

KIWIPETE = "fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
BACK_RANK = "fen 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"


@pytest.mark.technique("E4")
@pytest.mark.parametrize(
    "go",
    [
        "go nodes 200",
        "go depth 3",
        "go movetime 50",
        "go wtime 2000 btime 2000",
        "go wtime 2000 btime 2000 winc 20 binc 20 movestogo 3",
        "go wtime 1 btime 1",
        "go wtime -100 btime -100",
        "go movetime 0",
        "go nodes 0",
        "go nodes -5",
        "go depth 0",
        "go nodes 50 depth 99 movetime 100000",
        "go searchmoves a2a3 nodes 50",
        "go nodes",
        "go wtime banana",
    ],
)
def test_every_form_of_go_gets_one_legal_bestmove(go: str) -> None:
    with Talk() as talk:
        move = talk.bestmove(f"position {KIWIPETE}", go)
        assert chess.Move.from_uci(move) in chess.Board(KIWIPETE[4:]).legal_moves
        talk.ready()
        assert sum(line.startswith("bestmove") for line in talk.spoken.lines) == 1


@pytest.mark.technique("E4")
def test_nodes_are_searched_exactly() -> None:
    with Talk(load=loading(Fake()), WeightsFile="fake", Threads=2, MinibatchSize=8) as talk:
        for nodes in (1, 2, 50, 333):
            lines = talk.ask("ucinewgame", "position startpos", f"go nodes {nodes}")
            assert infos(lines)[-1]["nodes"] == str(nodes)


def test_an_infinite_search_answers_only_when_it_is_stopped() -> None:
    with Talk() as talk:
        talk.send(f"position {BACK_RANK}", "go infinite")
        found = talk.until("info depth")  # the mate is proven at once, and shown
        assert "score mate 1" in found[-1]
        time.sleep(0.05)
        assert not any(line.startswith("bestmove") for line in talk.spoken.lines)
        assert talk.bestmove("stop") == "d1d8"


def test_a_plain_go_is_infinite() -> None:
    with Talk() as talk:
        talk.send("position startpos", "go")
        talk.until("info depth")
        assert talk.send("stop").until("bestmove")


def test_isready_is_answered_during_a_search() -> None:
    with Talk() as talk:
        talk.send("position startpos", "go infinite")
        talk.ready()
        assert talk.session._engine.searching
        talk.ask("stop")


def test_a_go_during_a_go_ends_the_first_with_its_own_answer() -> None:
    with Talk() as talk:
        talk.send("position startpos", "go infinite", f"position {BACK_RANK}", "go nodes 100")
        first = talk.until("bestmove")[-1].split()[1]
        second = talk.until("bestmove")[-1].split()[1]
        assert chess.Move.from_uci(first) in chess.Board().legal_moves
        assert second == "d1d8"


def test_a_pondering_search_ends_after_ponderhit_on_our_own_time() -> None:
    with Talk() as talk:
        talk.send("position startpos moves e2e4", "go ponder wtime 300 btime 300")
        talk.until("info depth")
        time.sleep(0.05)
        assert not any(line.startswith("bestmove") for line in talk.spoken.lines)
        talk.send("ponderhit").until("bestmove")


def test_a_pondering_search_can_be_stopped_and_ponderhit_without_one_does_nothing() -> None:
    with Talk() as talk:
        talk.send("ponderhit", "stop", "position startpos", "go ponder nodes 50")
        talk.ask("stop")
        talk.send("ponderhit")
        talk.ready()


@pytest.mark.technique("E4")
def test_searchmoves_restrict_the_answer_and_illegal_ones_are_named() -> None:
    with Talk(MultiPV=500) as talk:
        lines = talk.ask("position startpos", "go nodes 300 searchmoves h2h3 e2e5 a2a4")
        assert lines[-1].split()[1] in ("h2h3", "a2a4")
        assert {info["pv"].split()[0] for info in infos(lines)} == {"h2h3", "a2a4"}
        assert "info string error searchmoves: not legal here: e2e5" in lines


def test_searchmoves_are_searched_even_where_the_tree_already_has_visits() -> None:
    with Talk(load=loading(Fake()), WeightsFile="fake", MinibatchSize=1, Threads=1) as talk:
        talk.ask("position startpos", "go nodes 500")
        before = int(infos(talk.spoken.lines)[-1]["nodes"])
        lines = talk.ask("go nodes 200 searchmoves a2a3 h2h3")
        assert int(infos(lines)[-1]["nodes"]) > before + 100
        assert lines[-1].split()[1] in ("a2a3", "h2h3")


def test_visits_of_other_moves_do_not_end_a_restricted_search() -> None:
    fake = Fake()
    with Talk(load=loading(fake), WeightsFile="fake", MinibatchSize=1, Threads=1) as talk:
        talk.ask("position startpos", "go nodes 500")
        fake.seconds = 0.002  # so that the search is looked at while it runs
        lines = talk.ask("go nodes 200 searchmoves a2a3")
        assert int(infos(lines)[-1]["nodes"]) > 600


def test_a_slow_network_is_not_asked_when_the_clock_has_no_time_for_it() -> None:
    fake = Fake(seconds=0.2)
    with Talk(load=loading(fake), WeightsFile="fake", MinibatchSize=4, Threads=1) as talk:
        talk.ask("position startpos", "go nodes 9")  # the root, and two batches
        calls = fake.calls
        for _ in range(4):
            talk.ask("go wtime 250 btime 250")
        assert fake.calls == calls
        assert 0.2 <= talk.session._engine._memory.lag < 0.5


@pytest.mark.technique("E4")
def test_go_mate_ends_when_the_mate_is_found() -> None:
    with Talk() as talk:
        fen = "fen r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1"  # mate in three
        lines = talk.ask(f"position {fen}", "go mate 3")
        assert infos(lines)[-1]["score"] == "mate 3"
        assert lines[-1].startswith("bestmove f6a6")


def test_a_proven_win_is_played_by_the_shortest_mate_and_a_proven_loss_is_said() -> None:
    with Talk() as talk:
        lines = talk.ask("position fen 7k/8/5KQ1/8/8/8/8/8 w - - 0 1", "go nodes 5000")
        assert infos(lines)[-1]["score"] == "mate 1"
        lines = talk.ask("position fen 7k/8/6K1/8/8/8/8/R7 b - - 0 1", "go nodes 100000")
        assert infos(lines)[-1]["score"] == "mate -1"
        lines = talk.ask("position fen k7/8/1K6/8/8/8/8/7R b - - 0 1", "go nodes 100000")
        assert infos(lines)[-1]["score"] == "mate -1"


def test_draws_by_repetition_and_fifty_moves_are_seen() -> None:
    # A network that likes every position of the mover: only certain draws are worth 0.
    with Talk(load=loading(Fake(value=0.6)), WeightsFile="fake", MinibatchSize=1) as talk:
        late = "position fen 7k/8/8/8/8/8/R7/K7 w - - {} 80"
        assert infos(talk.ask(late.format(99), "go nodes 50"))[-1]["score"] == "cp 0"
        assert infos(talk.ask(late.format(9), "go nodes 50"))[-1]["score"] != "cp 0"
        twice = "position startpos moves g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1"
        third = talk.ask(twice, "go nodes 50 searchmoves f6g8")
        assert infos(third)[-1]["score"] == "cp 0"
        other = talk.ask(twice, "go nodes 50 searchmoves f6e4")
        assert infos(other)[-1]["score"] != "cp 0"


def test_a_position_without_moves_has_no_bestmove() -> None:
    with Talk() as talk:
        mated = talk.ask("position fen R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1", "go nodes 10")
        assert mated[-2:] == ["info depth 0 score mate 0", "bestmove (none)"]
        stuck = talk.ask("position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "go movetime 10")
        assert stuck[-2:] == ["info depth 0 score cp 0", "bestmove (none)"]


@pytest.mark.parametrize(
    "position",
    [
        "startpos moves g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8",  # the third time
        "fen 7k/8/8/8/8/8/R7/K7 w - - 120 80",
        "fen 8/8/4k3/8/8/4K3/8/8 w - - 0 1",
    ],
)
def test_a_game_that_a_rule_has_drawn_is_played_on_when_asked(position: str) -> None:
    with Talk() as talk:
        move = talk.bestmove(f"position {position}", "go nodes 50")
        rest = position.removeprefix("fen ").partition(" moves ")
        board = chess.Board() if rest[0] == "startpos" else chess.Board(rest[0])
        for played in rest[2].split():
            board.push_uci(played)
        assert chess.Move.from_uci(move) in board.legal_moves


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("frobnicate", "unknown command 'frobnicate'"),
        ("setoption name Nothing value 3", "there is no option 'Nothing'"),
        ("setoption name CPuct value high", "option CPuct is a number, not 'high'"),
        ("setoption name CPuct value inf", "option CPuct is a number, not 'inf'"),
        ("setoption name Threads value \u0663", "option Threads is a number"),
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "kings"),
        ("position startpos moves e2e4 e2e4", "not a legal move"),
        ("go depth x nodes 5", "go depth needs a number"),
        ("setoption name BookFile value /nowhere/book.bin", ""),
    ],
)
def test_mistakes_are_named_and_the_engine_lives_on(line: str, reason: str) -> None:
    with Talk() as talk:
        talk.send("position startpos moves e2e4", line)
        talk.ready()
        talk.send("stop")
        said = [text for text in talk.spoken.lines if text.startswith("info string error")]
        if reason:
            assert len(said) == 1
            assert reason in said[0]
        # A position that could not be read leaves the one before.
        talk.ask("go nodes 5")
        assert (
            chess.Move.from_uci(talk.bestmove("go nodes 5"))
            in chess.Board("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1").legal_moves
        )


def test_without_a_network_it_says_so_and_plays() -> None:
    with Talk() as talk:
        assert any("no network is loaded" in line for line in talk.ready())
        assert talk.ask("position startpos", "go nodes 20")


def test_a_network_that_cannot_be_loaded_is_named_and_done_without() -> None:
    with Talk(WeightsFile="/nowhere/net.pb.gz") as talk:
        lines = talk.ready()
        assert any("error there is no network '/nowhere/net.pb.gz'" in line for line in lines)
        assert any("no network is loaded" in line for line in lines)
        assert talk.ask("position startpos", "go nodes 20")


@pytest.mark.technique("E4")
def test_multipv_shows_as_many_lines_as_there_are_moves_best_first() -> None:
    with Talk(load=loading(Fake()), WeightsFile="fake", MultiPV=500) as talk:
        lines = talk.ask("position startpos", "go nodes 400")
        shown = infos(lines)[-20:]
        assert [info["multipv"] for info in shown] == [str(i) for i in range(1, 21)]
        assert shown[0]["pv"].split()[0] == "e2e4" == lines[-1].split()[1]
        assert len({info["pv"].split()[0] for info in shown}) == 20


@pytest.mark.technique("E4")
def test_info_lines_have_all_their_fields_in_their_order() -> None:
    fields = (
        r"info depth \d+ seldepth \d+ time \d+ nodes \d+ score (cp|mate) -?\d+ wdl \d+ \d+ \d+"
        r"( movesleft \d+)? hashfull \d+ nps \d+ eps \d+ tbhits 0 multipv 1 pv( [a-h][1-8]\w+)+"
    )
    shown = {"UCI_ShowWDL": True, "UCI_ShowMovesLeft": True, "UCI_ShowEPS": True}
    with Talk(**shown) as talk:
        for position in ("startpos", BACK_RANK):
            lines = talk.ask(f"position {position}", "go nodes 500")
            assert re.fullmatch(fields, lines[-2]), lines[-2]
        assert " movesleft 1 " in lines[-2]
        win, draw, loss = map(int, infos(lines)[-1]["wdl"].split())
        assert (win, draw, loss) == (1000, 0, 0)


NODE_LINE = re.compile(
    r"info string node  \( +(?P<count>\d+)\) N: +(?P<n>\d+) \(\+ 0\) \(P: +(?P<p>[\d.]+)%\) "
    r"\(WL: +[-.\d]+\) \(D: [-.\d]+\) \(M: +[-.\d]+\) \(Q: +[-.\d]+\) \(V: +[-.\d]+\)( \(T\))?"
)


def test_verbose_move_stats_have_the_shape_that_nibbler_reads() -> None:
    with Talk(load=loading(Fake()), WeightsFile="fake", VerboseMoveStats=True) as talk:
        lines = talk.ask("position startpos", "go nodes 300")
        stats = [line for line in lines if line.startswith("info string ")][-21:]
        moves = [MOVE_LINE.fullmatch(line) for line in stats[:-1]]
        assert all(moves), stats
        visits = [int(found["n"]) for found in moves if found]
        assert visits == sorted(visits)
        assert sum(visits) == 299
        last = moves[-1]
        assert last is not None
        assert (last["move"], last["index"]) == ("e2e4", "322")
        assert float(last["s"]) == pytest.approx(float(last["q"]) + float(last["u"]), abs=2e-5)
        node = NODE_LINE.fullmatch(stats[-1])
        assert node is not None
        assert (node["count"], node["n"]) == ("20", "300")
        assert lines[-1].startswith("bestmove")


def test_live_stats_come_with_every_info() -> None:
    with Talk(LogLiveStats=True) as talk:
        talk.send("position startpos", "go infinite")
        talk.until("info depth")
        talk.until("info string node")
        talk.ask("stop")


def test_black_to_move_is_scored_from_its_own_side() -> None:
    with Talk() as talk:
        lines = talk.ask("position fen 3r2k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1", "go nodes 100")
        assert infos(lines)[-1]["score"] == "mate 1"
        assert lines[-1].startswith("bestmove d8d1")


def test_chess960_castles_by_taking_the_rook() -> None:
    fen = "fen 4k3/8/8/8/8/8/8/RK6 w A - 0 1"
    with Talk(UCI_Chess960=True) as talk:
        assert talk.bestmove(f"position {fen}", "go nodes 50 searchmoves b1a1") == "b1a1"
        assert talk.ask(f"position {fen} moves b1a1", "go nodes 50")
    with Talk() as talk:
        usual = "fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
        assert talk.bestmove(f"position {usual}", "go nodes 50 searchmoves e1g1") == "e1g1"
        talk.send("setoption name UCI_Chess960 value true")
        assert talk.bestmove(f"position {usual}", "go nodes 50 searchmoves e1h1") == "e1h1"


# --- failures -------------------------------------------------------------------------------------


@pytest.mark.parametrize("nan", [False, True])
@pytest.mark.parametrize("fail_after", [0, 1, 5, 30])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_failing_evaluator_costs_one_error_line_and_no_bestmove(
    nan: bool, fail_after: int, threads: int, record_property: Callable[[str, object], None]
) -> None:
    fake = Fake(fail_after=fail_after, nan=nan)
    with Talk(load=loading(fake), WeightsFile="fake", Threads=threads) as talk:
        lines = talk.ask("position startpos", "go nodes 100000")
        taken = 1000 * (time.perf_counter() - fake.failed_at)
        assert taken < 1000  # a busy machine; the figure is for a quiet one
        kind = "NaN" if nan else "error"
        record_property(f"bestmove after {kind}, {threads} threads (ms)", f"{taken:.0f}")
        assert chess.Move.from_uci(lines[-1].split()[1]) in chess.Board().legal_moves
        assert sum("error" in line for line in lines) == 1
        if fail_after:  # the root's priors are known
            assert lines[-1].split()[1] == "e2e4"
        fake.fail_after = None
        lines = talk.ask("go nodes 1000")
        assert infos(lines)[-1]["nodes"] == "1000"


def test_perft_counts_by_root_move_and_can_be_stopped() -> None:
    with Talk() as talk:
        lines = talk.send("position startpos", "go perft 3").until("Nodes searched")
        assert lines[-1] == "Nodes searched: 8902"
        assert "e2e4: 600" in lines
        assert len([line for line in lines if ": " in line and "info" not in line]) == 21
        talk.send("go perft 20", "stop").until("info string error perft was stopped")
        assert talk.ask("go nodes 5")
