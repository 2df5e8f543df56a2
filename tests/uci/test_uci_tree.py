"""The engine's tree and memory from move to move."""

from __future__ import annotations

import chess
import pytest
from move_lines import MOVE_LINE
from uci_talk import Fake, Talk, infos, loading

KIWIPETE = "fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


def kept_visits(lines: list[str]) -> int:
    line = next(line for line in lines if "visits kept" in line)
    return int(line.split()[3])


def test_the_tree_is_kept_when_the_game_goes_on() -> None:
    with Talk() as talk:
        talk.send("debug on")
        lines = talk.ask("position startpos moves e2e4", "go nodes 3000")
        assert kept_visits(lines) == 1
        move, reply = lines[-1].split()[1], lines[-1].split()[3]
        lines = talk.ask(f"position startpos moves e2e4 {move} {reply}", "go nodes 3000")
        kept = kept_visits(lines)
        assert 1 < kept < 3000
        assert infos(lines)[-1]["nodes"] == "3000"


def test_the_tree_is_kept_when_the_game_comes_as_bare_fens() -> None:
    with Talk() as talk:
        talk.send("debug on")
        board = chess.Board()
        lines = talk.ask(f"position fen {board.fen()}", "go nodes 3000")
        for word in (1, 3):
            board.push_uci(lines[-1].split()[word])
        lines = talk.ask(f"position fen {board.fen()}", "go nodes 3000")
        assert kept_visits(lines) > 1


def test_the_tree_is_not_kept_for_a_position_that_only_looks_alike() -> None:
    with Talk() as talk:
        talk.send("debug on")
        talk.ask("position startpos moves g1f3 g8f6", "go nodes 500")
        # The same board, reached another way: the network sees another past.
        lines = talk.ask("position startpos moves g1h3 g8f6 h3g1 f6g8 g1f3 g8f6", "go nodes 500")
        assert kept_visits(lines) == 1
        lines = talk.ask("position startpos moves e2e4 e7e5", "go nodes 500")
        assert kept_visits(lines) == 1


def test_the_same_position_again_goes_on_where_it_stopped() -> None:
    with Talk() as talk:
        talk.send("debug on")
        talk.ask("position startpos", "go nodes 500")
        lines = talk.ask("position startpos", "go nodes 800")
        assert kept_visits(lines) == 500
        assert infos(lines)[-1]["nodes"] == "800"


def test_after_ucinewgame_everything_is_as_it_was_at_the_beginning() -> None:
    with Talk(load=loading(Fake()), WeightsFile="fake", Threads=1, VerboseMoveStats=True) as talk:
        games = []
        for _ in range(2):
            talk.send("ucinewgame")
            game = []
            for moves in ("", " moves e2e4 e7e5", " moves e2e4 e7e5 g1f3 b8c6"):
                game += talk.ask(f"position startpos{moves}", "go nodes 400")
            stats = [line for line in game if " N: " in line or line.startswith("bestmove")]
            games.append([*stats, *(info["nodes"] for info in infos(game)[-1:])])
        assert games[0] == games[1]
        assert len(games[0]) > 60


def test_an_option_that_changes_the_search_takes_effect_with_the_next_go() -> None:
    with Talk(load=loading(Fake()), WeightsFile="fake", VerboseMoveStats=True) as talk:

        def prior() -> float:
            lines = talk.ask("position startpos", "go nodes 100")
            found = MOVE_LINE.fullmatch(next(x for x in lines if " e2e4 " in x and "N:" in x))
            assert found is not None
            return float(found["p"])

        talk.send("setoption name PolicyTemperature value 1")
        assert prior() == pytest.approx(51.4, abs=0.1)  # e^3 / (e^3 + 19)
        talk.send("setoption name PolicyTemperature value 3")
        assert prior() == pytest.approx(12.5, abs=0.1)


def test_a_search_ends_when_it_exceeds_its_memory() -> None:
    with Talk(NNCacheSize=0, RamLimitMb=3) as talk:
        talk.send(f"position {KIWIPETE}", "go movetime 30000")
        talk.until("bestmove")
        assert int(infos(talk.spoken.lines)[-1]["time"]) < 29_000


def test_a_memory_limit_below_the_cache_leaves_room_for_the_tree() -> None:
    with Talk(RamLimitMb=200) as talk:
        lines = talk.ask(f"position {KIWIPETE}", "go nodes 60000")
        assert infos(lines)[-1]["nodes"] == "60000"
        said = "info string the cache takes at most 100 MiB, half of RamLimitMb"
        assert lines.count(said) == 1
        assert said not in talk.ask("go nodes 60100")
