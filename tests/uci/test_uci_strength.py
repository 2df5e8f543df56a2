"""`UCI_LimitStrength` and `UCI_Elo`."""

from __future__ import annotations

import pytest
from uci_talk import Fake, Talk, infos, loading

from zermelo.players.levels import rated_level
from zermelo.search import SearchOptions
from zermelo.uci.networks import Network
from zermelo.uci.options import find


def limited(elo: int, **options: object) -> Talk:
    chosen = {"UCI_LimitStrength": True, "UCI_Elo": elo, **options}
    return Talk(load=loading(Fake()), WeightsFile="fake", **chosen)


def test_a_rating_limits_the_nodes_of_a_move_but_not_of_an_analysis() -> None:
    elo = 1200
    with limited(elo) as talk:
        lines = talk.ask("position startpos", "go movetime 5000")
        assert infos(lines)[-1]["nodes"] == str(rated_level(elo).simulations)
        assert infos(talk.ask("go nodes 3"))[-1]["nodes"] == str(rated_level(elo).simulations)
        talk.send("ucinewgame", "position startpos moves e2e4", "go infinite")
        talk.until("info depth")
        analysed = infos(talk.send("stop").until("bestmove"))
        mated = talk.ask("position fen 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "go mate 1")
        assert mated[-1].startswith("bestmove d1d8")
        assert analysed


def test_weak_ratings_vary_and_the_engine_at_its_best_does_not() -> None:
    def moves(**options: object) -> set[str]:
        chosen = {"UCI_Elo": find("UCI_Elo").low, **options}
        with Talk(load=loading(Fake()), WeightsFile="fake", **chosen) as talk:
            asked = ("ucinewgame", "position startpos", "go nodes 50")
            return {talk.bestmove(*asked) for _ in range(12)}

    assert len(moves(UCI_LimitStrength=True)) > 1
    assert moves() == {"e2e4"}
    assert len(moves(UCI_LimitStrength=True, Seed=7)) == 1


def test_the_line_that_is_shown_begins_with_the_move_that_is_played() -> None:
    with limited(int(find("UCI_Elo").low)) as talk:
        for _ in range(8):
            lines = talk.ask("ucinewgame", "position startpos", "go movetime 100")
            assert infos(lines)[-1]["pv"].split()[0] == lines[-1].split()[1]


def test_searchmoves_hold_for_weak_ratings_too() -> None:
    with limited(int(find("UCI_Elo").low)) as talk:
        for _ in range(8):
            go = "go movetime 100 searchmoves a2a3 h2h3"
            assert talk.bestmove("ucinewgame", "position startpos", go) in ("a2a3", "h2h3")


@pytest.mark.parametrize("text", ["100", "9999"])
def test_a_rating_beyond_the_range_is_the_nearest(text: str) -> None:
    row = find("UCI_Elo")
    assert row.read(text) == (row.low if text == "100" else row.high)


def test_a_level_chooses_by_visits_though_the_network_has_a_gumbel_root() -> None:
    def load(path: str, backend: str, precision: str) -> Network:
        own = SearchOptions(gumbel=True)
        return Network(Fake(), "compact", f"network {path}", trained=True, search=own)

    with Talk(load=load, WeightsFile="fake", UCI_Elo=1800, UCI_LimitStrength=True) as talk:
        talk.ask("position startpos", "go nodes 400")
        live = talk.session._engine._workshop.live
        assert live is not None
        assert not live.options.gumbel
