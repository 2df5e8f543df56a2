"""Runs as the page reads them: lists, curves, games, judgements, comparison; bad input; news."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from web_server import Server, page, running

from zermelo.cli import main
from zermelo.config import RunConfig
from zermelo.runs.directory import Run
from zermelo.runs.status import Status, StatusFile
from zermelo.web.settings import WebSettings

HOSTILE = "<img src=x onerror=alert(1)>&amp;"


@pytest.fixture(scope="module")
def runs(watched: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs: one that learned, its copy with other settings, and one that cannot be read."""
    folder = tmp_path_factory.mktemp("shown")
    shutil.copytree(watched, folder / "watched")
    shutil.copytree(watched, folder / HOSTILE)
    text = (folder / HOSTILE / "run.toml").read_text()
    (folder / HOSTILE / "run.toml").write_text(text.replace("batch = 32", "batch = 64"))
    (folder / "broken").mkdir()
    (folder / "broken" / "run.toml").write_text("[game")
    return folder


@pytest.fixture(scope="module")
def shown(runs: Path) -> Iterator[Server]:
    with running(WebSettings(runs=(runs,))) as server:
        yield server


def get(server: Server, path: str = "", code: int = 200, **query: Any) -> Any:
    with server.client() as client:
        answer = client.get(f"/api/runs{path}", params=query)
    assert answer.status_code == code, answer.text
    return answer.json()


def ids(server: Server) -> dict[str, str]:
    return {row["name"]: row["id"] for row in get(server)["runs"]}


def test_every_run_is_listed_and_a_bad_one_has_its_reason(shown: Server) -> None:
    rows = {row["name"]: row for row in get(shown)["runs"]}
    assert rows.keys() == {"watched", HOSTILE, "broken"}
    good = rows["watched"]
    assert (good["game"], good["iteration"], good["iterations"]) == ("tictactoe", 8, 8)
    assert good["error"] is None
    assert len(good["sketch"]) == 8
    assert good["elo"] is not None
    assert "not valid TOML" in rows["broken"]["error"]
    assert "path" not in good


def test_an_overview_has_status_ladder_doctor_and_log(shown: Server) -> None:
    found = get(shown, f"/{ids(shown)['watched']}")
    assert found["run"]["ended"] == "done"
    assert found["last"]["iteration"] == 8
    assert found["reading"] == {"unread": 0, "lines": 12, "iteration": 8}
    assert [rung["checkpoint"] for rung in found["ladder"]] == [0, 2, 4, 6, 8]
    assert found["ladder"][0]["elo"] == 0
    doctor = get(shown, f"/{ids(shown)['watched']}/findings")["doctor"]
    assert {finding["verdict"] for finding in doctor} <= {"healthy", "ill", "unknown"}
    assert "made by zermelo" in found["log"][0]
    assert "Elo" in found["headline"]


def test_panels_have_curves_with_intervals_where_there_are_some(shown: Server) -> None:
    panels = {p["id"]: p for p in get(shown, f"/{ids(shown)['watched']}/panels")["panels"]}
    assert {"elo", "loss", "exact", "opponents", "games", "cache", "window"} <= panels.keys()
    loss = panels["loss"]["curves"][0]
    assert loss["x"] == list(range(1, 9))
    assert loss["mean"][-1] < loss["mean"][0]
    elo = panels["elo"]["curves"][0]
    assert elo["interval"]
    assert all(a < b < c for a, b, c in zip(elo["low"], elo["mean"], elo["high"], strict=True))


def test_a_game_is_shown_with_the_numbers_of_its_searches(shown: Server) -> None:
    id_ = ids(shown)["watched"]
    listed = get(shown, f"/{id_}/games")
    assert listed["iterations"] == list(range(8))
    first = listed["games"][0]
    game = get(shown, f"/{id_}/games/{first['shard']}/{first['number']}")
    assert len(game["plies"]) == first["plies"] + 1
    moves = [ply["played"] for ply in game["plies"][:-1]]
    assert moves[:8] == first["opening"]
    assert [ply["board"]["move"] for ply in game["plies"][1:]] == moves
    searched = [ply["search"] for ply in game["plies"] if ply["search"]]
    assert searched
    assert sum(searched[0]["shares"].values()) == pytest.approx(1.0, abs=1e-3)
    older = get(shown, f"/{id_}/games", before=1)["games"]
    assert {row["iteration"] for row in older} == {1}


def test_checkpoints_judge_any_position(shown: Server) -> None:
    id_ = ids(shown)["watched"]
    found = get(shown, f"/{id_}/checkpoints")
    assert found["checkpoints"] == list(range(9))
    tactic = found["tactics"][0]
    assert tactic["last"] > tactic["first"]
    moves = ",".join(tactic["moves"])
    first, last = (get(shown, f"/{id_}/judge", checkpoint=each, moves=moves) for each in (0, 8))
    assert first["shares"][tactic["best"]] == pytest.approx(tactic["first"], abs=1e-4)
    assert last["shares"][tactic["best"]] == pytest.approx(tactic["last"], abs=1e-4)
    searched = get(shown, f"/{id_}/judge", checkpoint=0, moves=moves, simulations=100)
    assert searched["shares"][tactic["best"]] > first["shares"][tactic["best"]]
    place = get(shown, f"/{id_}/position", moves="b2,a1")
    assert place["moves"] == ["b2", "a1"]
    assert len(place["legal"]) == 7


def test_runs_are_laid_over_each_other_with_the_settings_that_differ(shown: Server) -> None:
    known = ids(shown)
    found = get(shown, "/compare", run=[known["watched"], known[HOSTILE]])
    assert [run["name"] for run in found["runs"]] == ["watched", HOSTILE]
    assert found["settings"] == [{"name": "train.batch", "values": [32, 64]}]
    loss = next(panel for panel in found["panels"] if panel["title"] == "Loss")
    assert [curve["run"] for curve in loss["curves"]] == [known["watched"], known[HOSTILE]]


def test_settings_tell_what_was_chosen_and_what_it_means(shown: Server) -> None:
    sections = get(shown, f"/{ids(shown)['watched']}/settings")["sections"]
    rows = {(s["name"], row["key"]): row for s in sections for row in s["rows"]}
    assert rows["train", "batch"]["value"] == 32
    assert rows["train", "batch"]["changed"]
    assert not rows["train", "value_weight"]["changed"]
    assert rows["loop", "iterations"]["meaning"]


def test_a_thorough_examination_has_more_checks(shown: Server) -> None:
    id_ = ids(shown)["watched"]
    quick = get(shown, f"/{id_}/findings")["doctor"]
    assert len(get(shown, f"/{id_}/doctor")["doctor"]) > len(quick)


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/nothing", {}),
        ("/..%2f..%2fetc", {}),
        ("/nothing/panels", {}),
        ("/ID/panels", {"points": 0}),
        ("/ID/panels", {"points": "x"}),
        ("/ID/games/run.toml/0", {}),
        ("/ID/games/it000000-w00-000000.zshard/999999", {}),
        ("/ID/games/it000000-w00-000000.zshard/x", {}),
        ("/ID/games/it999999-w00-000000.zshard/0", {}),
        ("/ID/games", {"before": -1}),
        ("/ID/judge", {}),
        ("/ID/judge", {"checkpoint": 77}),
        ("/ID/judge", {"checkpoint": -1}),
        ("/ID/judge", {"checkpoint": 0, "simulations": 10**9}),
        ("/ID/judge", {"checkpoint": 0, "moves": "a1,a1"}),
        ("/ID/judge", {"checkpoint": 0, "moves": "x" * 300}),
        ("/ID/judge", {"checkpoint": 0, "moves": "a1," * 2000}),
        ("/ID/judge", {"checkpoint": 0, "moves": "a1,b1,a2,b2,a3"}),
        ("/ID/position", {"moves": "<script>"}),
        ("/compare", {}),
        ("/compare", {"run": ["ID"] * 9}),
        ("/compare", {"run": ["ID", "nothing"]}),
        ("/compare", {"run": ["BROKEN"]}),
        ("/BROKEN/settings", {}),
        ("/BROKEN/games", {}),
        ("/BROKEN/checkpoints", {}),
        ("/BROKEN/report", {}),
    ],
)
def test_what_cannot_be_done_is_told_in_a_sentence(
    shown: Server, path: str, query: dict[str, Any]
) -> None:
    known = ids(shown)

    def named(text: Any) -> Any:
        if isinstance(text, list):
            return [named(each) for each in text]
        if not isinstance(text, str):
            return text
        return text.replace("ID", known["watched"]).replace("BROKEN", known["broken"])

    with shown.client() as client:
        answer = client.get(
            f"/api/runs{named(path)}", params={k: named(v) for k, v in query.items()}
        )
    assert 400 <= answer.status_code < 500, answer.text
    assert answer.json()["reason"]


def test_names_and_texts_that_are_no_utf_8_spoil_no_page(
    watched: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = tmp_path / os.fsdecode(b"\xff")
    shutil.copytree(watched, odd)
    status = json.loads((watched / "status.json").read_text())
    texts = dict.fromkeys(("ended", "health", "stage", "waiting_for"), "x\ud800y")
    (odd / "status.json").write_text(json.dumps(status | texts))
    with (odd / "metrics" / "metrics.jsonl").open("a") as file:
        file.write(json.dumps({"iteration": 9, "a\ud800": {"b\ud800": 1.0}}) + "\n")
    with running(WebSettings(runs=(tmp_path,))) as server:
        (run,) = get(server)["runs"]
        assert (run["name"], run["ended"]) == ("?", "x?y")
        assert get(server, f"/{run['id']}")["status"]["stage"] == "x?y"
        assert get(server, f"/{run['id']}/panels")["panels"]
        assert get(server, f"/{run['id']}/settings")
    assert main(["report", str(odd), "-o", str(tmp_path / "report.html")]) == 0


def test_a_refusal_does_not_tell_where_the_run_lies(watched: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(watched, run)
    shard = max((run / "replay").glob("*.zshard"))
    shard.write_bytes(b"nothing")
    with running(WebSettings(runs=(tmp_path,))) as server:
        id_ = ids(server)["run"]
        reason = get(server, f"/{id_}/games/{shard.name}/0", code=422)["reason"]
    assert shard.name in reason
    assert str(tmp_path) not in reason


def test_a_broken_run_is_still_shown(shown: Server) -> None:
    found = get(shown, f"/{ids(shown)['broken']}")
    assert found["run"]["error"]
    doctor = get(shown, f"/{ids(shown)['broken']}/findings")["doctor"]
    assert doctor[0]["verdict"] == "unknown"
    assert get(shown, f"/{ids(shown)['broken']}/panels")["panels"] == []


def test_trainings_are_neither_started_nor_stopped_without_leave(shown: Server) -> None:
    id_ = ids(shown)["watched"]
    with shown.client() as client:
        for path, body in (
            ("", {"game": "tictactoe"}),
            (f"/{id_}/stop", {}),
            (f"/{id_}/continue", {}),
        ):
            answer = client.post(f"/api/runs{path}", json=body)
            assert answer.status_code == 403
            assert "--allow-train" in answer.json()["reason"]
    assert not get(shown)["may_train"]


def test_with_leave_a_training_is_started_watched_and_stopped(tmp_path: Path) -> None:
    settings = WebSettings(runs=(tmp_path,), allow_train=True)
    with running(settings) as server, server.client() as client:
        for order in (
            {"game": "nothing"},
            {"game": "../x"},
            {"game": "tictactoe", "name": "../x"},
        ):
            assert 400 <= client.post("/api/runs", json=order).status_code < 500
        order = {"game": "tictactoe", "name": "mine", "duration": "1m"}
        answer = client.post("/api/runs", json=order)
        assert answer.json() == {"started": "mine"}
        assert client.post("/api/runs", json=order).status_code == 409
        until = time.monotonic() + 60
        while not any(row["alive"] and row["doing"] for row in get(server)["runs"]):
            assert time.monotonic() < until
            time.sleep(0.2)
        (row,) = get(server)["runs"]
        assert client.post(f"/api/runs/{row['id']}/continue").status_code == 409
        assert client.post(f"/api/runs/{row['id']}/stop").status_code == 200
        while any(row["alive"] for row in get(server)["runs"]):
            assert time.monotonic() < until
            time.sleep(0.2)
        assert client.post(f"/api/runs/{row['id']}/stop").status_code == 409


def test_who_watches_a_run_hears_of_what_it_does_and_of_new_figures(tmp_path: Path) -> None:
    config = RunConfig.from_tables({"game": {"name": "tictactoe"}})
    run = Run.create(tmp_path / "now", config)
    status = Status(str(run.path), "tictactoe", 10, stage="self-play")
    file = StatusFile(run.path)
    file.write(status, at_once=True)

    async def visit(server: Server) -> None:
        async with page(server) as visitor:
            id_ = ids(server)["now"]
            assert (await visitor.ask(type="training.watch", run=id_))["type"] == "done"
            status.waiting_for = "5 samples"
            file.write(status, at_once=True)
            news = await visitor.event("training.news")
            assert news["doing"] == "self-play, waiting for 5 samples"
            run.metrics.mkdir()
            line = json.dumps({"iteration": 1, "train": {"training": {"loss": 1.5}}})
            (run.metrics / "metrics.jsonl").write_text(line + "\n")
            while (news := await visitor.event("training.news"))["lines"] == 0:
                pass
            assert news["run"] == id_
            refused = await visitor.ask(type="training.watch", run="nothing")
            assert refused["code"] == 404
            assert (await visitor.ask(type="training.watch", run=None))["type"] == "done"

    with running(WebSettings(runs=(tmp_path,))) as server:
        asyncio.run(visit(server))
        assert server.ask({"type": "training.watch", "run": "x"})["code"] == 400
    run.unlock()


def test_many_watch_one_run_and_all_hear_the_last_news(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "now", RunConfig.from_tables({"game": {"name": "tictactoe"}}))
    run.metrics.mkdir()

    async def visit(server: Server) -> None:
        id_ = ids(server)["now"]
        async with asyncio.timeout(60):
            sockets: list[tuple[Any, Any]] = []
            for _ in range(50):
                manager = page(server)
                sockets.append((manager, await manager.__aenter__()))
            for _, visitor in sockets:
                await visitor.ask(type="training.watch", run=id_)
            (run.metrics / "metrics.jsonl").write_text('{"iteration": 1, "loss": 1}\n')
            for manager, visitor in sockets:
                assert (await visitor.event("training.news"))["lines"] == 1
                await manager.__aexit__(None, None, None)

    with running(WebSettings(runs=(tmp_path,))) as server:
        asyncio.run(visit(server))
    run.unlock()
