"""Requests and their replies over the socket and by HTTP."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from web_server import Page, Server, page

PERSON: dict[str, Any] = {"opponent": None}


def line(game: str, *moves: str, start: str | None = None) -> dict[str, Any]:
    return {"game": game, "start": start, "moves": list(moves)}


def test_every_game_is_offered_with_a_board_that_can_be_drawn(server: Server) -> None:
    welcome = server.ask({"type": "hello", "version": 1})
    games = {game["id"]: game for game in welcome["games"]}
    assert {game.partition("?")[0] for game in games} == {
        "connect4", "tictactoe", "othello", "hex", "checkers", "chess",
    }  # fmt: skip
    for game in games.values():
        shape = game["shape"]
        assert len(game["board"]["cells"]) == shape["rows"] * shape["columns"]
        assert game["opponents"]
        assert game["networks"]
    assert [level["number"] for level in welcome["levels"]] == list(range(1, 11))


def test_a_page_of_another_version_is_told_to_load_again(server: Server) -> None:
    answer = server.ask({"type": "hello", "version": 99})
    assert (answer["type"], answer["code"]) == ("refused", 426)


def test_a_line_is_shown_board_by_board(server: Server) -> None:
    answer = server.ask({"type": "line", "line": line("chess", "e2e4", "e7e5", "g1f3")})
    assert [board["label"] for board in answer["boards"]] == [None, "e4", "e5", "Nf3"]
    assert answer["boards"][3]["last"] == [62, 45]
    assert answer["position"]["board"]["turn"] == 1
    assert answer["position"]["outcome"] is None
    assert len(answer["position"]["legal"]) == 29


@pytest.mark.parametrize(
    ("asked", "code", "word"),
    [
        ({"type": "line", "line": line("chess", "e2e5")}, 422, "e2e5"),
        ({"type": "line", "line": line("nonsense")}, 404, "game"),
        ({"type": "line", "line": line("../../etc/passwd")}, 404, "game"),
        ({"type": "line", "line": line("chess", start="not a position")}, 422, ""),
        ({"type": "what"}, 400, "what"),
        ({"type": "line"}, 400, "line"),
        ({"type": "judge", "line": line("chess"), "network": "/etc/passwd"}, 404, "network"),
        ({"type": "exact", "line": line("chess")}, 422, "perfect"),
        ({"type": "play.open", "session": "x"}, 404, "remembered"),
        ({"type": "analyse.tree", "search": "x", "path": []}, 404, "search"),
        ({"type": "read", "game": "chess", "text": "1. e4 Ke4"}, 422, ""),
        ({"type": "read", "game": "chess", "text": f"1. e4 ${'9' * 5000} e5"}, 422, "damaged"),
        ({"type": "read", "game": "chess", "text": '[Variant "Atomic"]\n\n1. e4 *'}, 422, "Atomic"),
        ({"type": "judge", "line": line("connect4"), "network": "rollout", "simulations": 999999},
         422, "simulations"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_with_a_reason(
    server: Server, asked: dict[str, Any], code: int, word: str
) -> None:
    answer = server.ask(asked)
    assert (answer["type"], answer["code"]) == ("refused", code)
    assert word in answer["reason"]


def test_a_short_search_finds_the_winning_move(server: Server) -> None:
    asked = line("tictactoe", start="XX./OO./...")
    answer = server.ask({"type": "judge", "line": asked, "network": "rollout", "simulations": 100})
    assert answer["rows"][0]["move"] == "c3"
    assert (answer["proven"], answer["distance"]) == (1, 1)


def test_the_perfect_answer_counts_the_plies(server: Server) -> None:
    asked = line("connect4", *"4455111111")
    answer = server.ask({"type": "exact", "line": asked})
    assert answer["moves"]["6"] == [1, 3]


def test_pgn_fen_and_moves_are_read_and_written(server: Server) -> None:
    pgn = '[White "<script>alert(1)</script>"]\n[Black "B"]\n\n1. e4 e5 2. Nf3 *'
    read = server.ask({"type": "read", "game": "chess", "text": pgn})
    assert read["line"]["moves"] == ["e2e4", "e7e5", "g1f3"]
    assert read["title"].startswith("<script>")  # a text, which the page shows as one
    written = server.ask({"type": "write", "line": read["line"]})
    assert "2. Nf3" in written["pgn"]
    fen = server.ask({"type": "read", "game": "chess", "text": written["position"]})
    assert fen["line"]["start"] == written["position"]
    columns = server.ask({"type": "read", "game": "connect4", "text": "4455"})
    assert columns["line"]["moves"] == ["4", "4", "5", "5"]


def visit(server: Server, scenario: Any) -> None:
    async def run() -> None:
        async with page(server) as visitor:
            await scenario(visitor)

    asyncio.run(run())


def test_an_opponent_answers_and_a_stale_move_is_refused(server: Server) -> None:
    async def scenario(visitor: Page) -> None:
        seats = [PERSON, {"opponent": "random"}]
        board = await visitor.ask(type="play.new", line=line("connect4"), seats=seats)
        session, number = board["session"], board["number"]
        moved = await visitor.ask(type="play.move", session=session, number=number, move="4")
        assert moved["line"]["moves"] == ["4"]
        assert moved["thinking"]
        answered = await visitor.event("play.board")
        assert len(answered["line"]["moves"]) == 2
        stale = await visitor.ask(type="play.move", session=session, number=number, move="4")
        assert stale["code"] == 409
        wrong = await visitor.ask(
            type="play.move", session=session, number=answered["number"], move="99"
        )
        assert wrong["code"] == 422
        back = await visitor.ask(type="play.undo", session=session)
        assert back["line"]["moves"] == []
        empty = await visitor.ask(type="play.undo", session=session)
        assert empty["code"] == 409
        again = await visitor.ask(type="play.open", session=session)
        assert again["session"] == session

    visit(server, scenario)


@pytest.mark.parametrize("opponent", ["rollout", "perfect", "shipped-tictactoe"])
def test_a_game_against_each_kind_of_opponent_ends(server: Server, opponent: str) -> None:
    async def scenario(visitor: Page) -> None:
        seat = {"opponent": opponent, "level": 3 if opponent != "perfect" else None}
        board = await visitor.ask(type="play.new", line=line("tictactoe"), seats=[seat, seat])
        while board["position"]["outcome"] is None:
            board = await visitor.event("play.board")
        assert not board["failure"]

    visit(server, scenario)


def test_a_live_search_streams_until_it_is_stopped_and_can_be_looked_into(server: Server) -> None:
    async def scenario(visitor: Page) -> None:
        started = await visitor.ask(
            type="analyse.start", line=line("othello"), network="rollout", slot="a"
        )
        search = started["search"]
        first = await visitor.event("analyse.frame")
        second = await visitor.event("analyse.frame")
        assert second["visits"] > first["visits"]
        assert second["path"]
        assert sum(row["visits"] for row in second["rows"]) > 0
        root = await visitor.ask(type="analyse.tree", search=search, path=[])
        assert sum(child["chosen"] for child in root["children"]) == 1
        below = await visitor.ask(
            type="analyse.tree", search=search, path=[root["children"][0]["move"]]
        )
        assert below["visits"] == pytest.approx(root["children"][0]["visits"], rel=0.5)
        await visitor.ask(type="analyse.stop", search=search)
        frame = first
        while not frame["final"]:
            frame = await visitor.event("analyse.frame")
        assert frame["stop"] == "stopped"
        again = await visitor.ask(type="analyse.tree", search=search, path=[])
        assert again["visits"] == frame["visits"]

    visit(server, scenario)


def test_a_restricted_search_looks_at_the_chosen_moves_only(server: Server) -> None:
    async def scenario(visitor: Page) -> None:
        await visitor.ask(
            type="analyse.start", line=line("connect4"), network="rollout", allowed=["1", "7"]
        )
        await visitor.event("analyse.frame")
        frame = await visitor.event("analyse.frame")
        searched = {row["move"] for row in frame["rows"] if row["visits"] > 1}
        assert searched == {"1", "7"}

    visit(server, scenario)
