"""The training views in a real browser: what a visitor sees and clicks; nobody else is asked."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_training import HOSTILE, ids
from web_server import Server, running

from zermelo.cli import main
from zermelo.config import RunConfig
from zermelo.runs.directory import Run
from zermelo.runs.status import Status, StatusFile
from zermelo.web.settings import WebSettings

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = Path("/usr/bin/chromium")
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="there is no /usr/bin/chromium")
expect = playwright.expect


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def folder(watched: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("browsed")
    shutil.copytree(watched, place / "watched")
    shutil.copytree(watched, place / HOSTILE)
    text = (place / HOSTILE / "run.toml").read_text()
    (place / HOSTILE / "run.toml").write_text(text.replace("batch = 32", "batch = 64"))
    (place / "broken").mkdir()
    (place / "broken" / "run.toml").write_text("[game")
    return place


@pytest.fixture(scope="module")
def shown(folder: Path) -> Iterator[Server]:
    with running(WebSettings(runs=(folder,))) as server:
        yield server


class Visit:
    """A page that keeps what went wrong on it."""

    def __init__(self, browser: Any, server: Server, **options: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}} | options)
        self.page = self.context.new_page()
        self.server = server
        self.faults: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on(
            "console",
            lambda said: self.faults.append(said.text) if said.type == "error" else None,
        )
        self.page.on("request", self._asked)

    def _asked(self, request: Any) -> None:
        ours = (self.server.url, self.server.url.replace("http", "ws"), "data:", "blob:")
        if not request.url.startswith(ours):
            self.faults.append(f"asked for {request.url}")

    def open(self, address: str) -> Any:
        self.page.goto(f"{self.server.url}/#/training{address}")
        return self.page

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        self.context.close()
        if kind is None:
            assert self.faults == []


def overflow(page: Any) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def test_runs_are_listed_and_a_hostile_name_is_only_a_name(browser: Any, shown: Server) -> None:
    with Visit(browser, shown) as visit:
        page = visit.open("")
        expect(page.locator(".run-card")).to_have_count(3)
        expect(page.get_by_text(HOSTILE, exact=True)).to_be_visible()
        assert page.locator(".run-card img").count() == 0
        expect(page.locator(".run-card", has_text="broken")).to_contain_text("cannot be read")
        page.get_by_placeholder("Find a run").fill("watched")
        expect(page.locator(".run-card")).to_have_count(1)


def test_a_finished_run_shows_its_curves_and_a_pointer_reads_them(
    browser: Any, shown: Server
) -> None:
    with Visit(browser, shown) as visit:
        page = visit.open(f"/{ids(shown)['watched']}")
        chart = page.locator(".chart", has=page.get_by_role("heading", name="Loss", exact=True))
        expect(chart.locator("path.chart-line")).not_to_have_count(0)
        assert page.locator(".chart").count() >= 12
        expect(page.locator(".doctor")).to_contain_text("healthy")
        expect(page.locator(".ladder tbody tr")).to_have_count(5)
        chart.locator("svg.chart-plot").hover(position={"x": 60, "y": 60})
        expect(chart.locator(".chart-at")).to_contain_text("iteration 1")
        other = page.locator(".chart", has=page.get_by_role("heading", name="Cache hits"))
        expect(other.locator(".chart-at")).to_contain_text("iteration 1")
        chart.get_by_role("button", name="held out").click()
        expect(chart.locator(".chart-series")).to_have_count(1)
        page.get_by_role("button", name="Examine thoroughly").click()
        expect(page.locator(".doctor summary").first).to_contain_text("checks are healthy")


def test_a_run_in_progress_renews_itself(browser: Any, tmp_path: Path) -> None:
    run = Run.create(tmp_path / "now", RunConfig.from_tables({"game": {"name": "tictactoe"}}))
    status = Status(str(run.path), "tictactoe", 100, workers=2, stage="self-play")
    status.states = ["playing", "waiting for the new network"]
    file = StatusFile(run.path)
    file.write(status, at_once=True)
    run.metrics.mkdir()
    with running(WebSettings(runs=(tmp_path,))) as server, Visit(browser, server) as visit:
        page = visit.open(f"/{ids(server)['now']}")
        expect(page.locator(".tag.live")).to_be_visible()
        expect(page.get_by_role("heading", name="No iteration is finished")).to_be_visible()
        expect(page.locator(".workers")).to_contain_text("waiting for the new network")
        status.waiting_for = "5 of 90 samples"
        file.write(status, at_once=True)
        expect(page.locator(".run-now")).to_contain_text("waiting for 5 of 90 samples")
        for iteration in (1, 2, 3):
            entry = {"iteration": iteration, "train": {"training": {"loss": 2.0 / iteration}}}
            with (run.metrics / "metrics.jsonl").open("a") as metrics:
                metrics.write(json.dumps(entry) + "\n")
        status.iteration = 3
        file.write(status, at_once=True)
        chart = page.locator(".chart", has=page.get_by_role("heading", name="Loss", exact=True))
        expect(chart.locator(".chart-value")).to_have_text("0.667")
        expect(page.locator(".run-now")).to_contain_text("Iteration 3 of 100")
        run.unlock()
        expect(page.locator(".run-head .tag", has_text="stopped")).to_be_visible()


def test_a_run_on_a_cluster_shows_its_nodes_and_which_of_them_starve(
    browser: Any, tmp_path: Path
) -> None:
    run = Run.create(tmp_path / "far", RunConfig.from_tables({"game": {"name": "tictactoe"}}))
    run.metrics.mkdir()
    status = Status(str(run.path), "tictactoe", 100, workers=5, stage="training")
    status.nodes = [
        {"name": "10.0.0.1 (abc)", "actors": 2, "samples_per_second": 120.0, "idle_share": 0.0},
        {"name": "10.0.0.2 (def)", "actors": 3, "samples_per_second": 80.0, "idle_share": 0.4},
    ]
    status.dashboard = "http://127.0.0.1:8265"
    StatusFile(run.path).write(status, at_once=True)
    with running(WebSettings(runs=(tmp_path,))) as server, Visit(browser, server) as visit:
        page = visit.open(f"/{ids(server)['far']}")
        nodes = page.locator(".workers li")
        expect(nodes.first).to_have_text("10.0.0.1 (abc): 2 actors, 120 samples/s")
        expect(nodes.last).to_contain_text("80 samples/s, waiting for work 40% of the time")
        link = page.get_by_role("link", name="Ray's dashboard")
        expect(link).to_have_attribute("href", "http://127.0.0.1:8265")
    run.unlock()


def test_a_sample_game_is_clicked_through_with_numbers_on_each_move(
    browser: Any, shown: Server
) -> None:
    with Visit(browser, shown) as visit:
        page = visit.open(f"/{ids(shown)['watched']}/games")
        expect(page.locator(".viewer .board")).to_be_visible()
        expect(page.locator(".shares li").first).to_be_visible()
        page.get_by_role("button", name="First position").click()
        page.keyboard.press("ArrowRight")
        expect(page.get_by_text("1 of ")).to_be_visible()
        expect(page.locator(".viewer .pieces > g")).to_have_count(1)
        page.get_by_role("button", name="Last position").click()
        expect(page.get_by_role("heading", name="The end")).to_be_visible()
        page.locator(".game-row").nth(3).click()
        expect(page.locator(".game-row[aria-current]")).to_have_count(1)
        page.get_by_label("Games of iteration").select_option("0")
        expect(page.locator(".game-row").first).to_contain_text("it. 0")


def test_the_slider_shows_what_each_checkpoint_thinks(browser: Any, shown: Server) -> None:
    with Visit(browser, shown) as visit:
        page = visit.open(f"/{ids(shown)['watched']}/learning")
        expect(page.locator(".viewer h2").first).to_contain_text("Checkpoint 8 plays")
        expect(page.locator(".tag", has_text="sees it")).to_be_visible()
        slider = page.get_by_label("Checkpoint", exact=True)
        slider.focus()
        page.keyboard.press("Home")
        expect(page.locator(".viewer h2").first).to_contain_text("Checkpoint 0 plays")
        expect(page.locator(".chart .chart-at")).to_contain_text("checkpoint 0")
        page.get_by_role("button", name="From the start").click()
        expect(page.get_by_text("The beginning of the game")).to_be_visible()
        page.locator(".viewer .shares-board:not(.small) .board").click()  # its middle
        expect(page.locator("p.mono", has_text="b2")).to_be_visible()
        page.get_by_label("How it is judged").select_option("50")
        expect(page.locator(".shares li").first).to_be_visible()


def test_runs_are_chosen_and_compared(browser: Any, shown: Server) -> None:
    with Visit(browser, shown) as visit:
        page = visit.open("")
        for name in ("watched", HOSTILE):
            page.get_by_label(f"Compare {name}", exact=True).check()
        page.get_by_role("button", name="Compare 2").click()
        expect(page.get_by_role("heading", name="Settings that differ")).to_be_visible()
        expect(page.get_by_role("row", name="train.batch")).to_contain_text("64")
        chart = page.locator(".chart", has=page.get_by_role("heading", name="Loss", exact=True))
        expect(chart.locator(".chart-series")).to_have_count(2)
        assert page.locator("main img").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_fits_a_phone_in_both_colours(browser: Any, shown: Server, scheme: str) -> None:
    known = ids(shown)
    views = ["", *(f"/{known['watched']}{end}" for end in ("", "/games", "/learning", "/settings"))]
    views.append(f"/compare?run={known['watched']}&run={known[HOSTILE]}")
    phone = {"viewport": {"width": 390, "height": 844}, "color_scheme": scheme}
    with Visit(browser, shown, **phone) as visit:
        for view in views:
            page = visit.open(view)
            expect(page.locator(".sheet").first).to_be_visible()
            expect(page.locator(".waiting")).to_have_count(0)
            assert overflow(page) <= 0, view
            assert page.evaluate("document.documentElement.dataset.theme") == scheme


@pytest.mark.parametrize(
    "view", ["/nothing", "/nothing/games", "/compare?run=x&run=y", "/WATCHED/x"]
)
def test_what_is_not_there_is_said_on_the_page(browser: Any, shown: Server, view: str) -> None:
    with Visit(browser, shown) as visit:
        page = visit.open(view.replace("WATCHED", ids(shown)["watched"]))
        expect(page.get_by_role("alert")).to_contain_text("There is no such")
        visit.faults = [fault for fault in visit.faults if "404" not in fault]


def test_a_report_draws_its_charts_and_asks_for_nothing(
    browser: Any, shown: Server, folder: Path, tmp_path: Path
) -> None:
    assert main(["report", str(folder / HOSTILE), "-o", str(tmp_path / "out.html")]) == 0
    with Visit(browser, shown) as visit:
        asked: list[str] = []
        visit.page.on("request", lambda request: asked.append(request.url))
        visit.page.goto((tmp_path / "out.html").as_uri())
        expect(visit.page.locator(".chart .chart-series path.chart-line")).not_to_have_count(0)
        assert visit.page.locator(".chart").count() >= 12
        assert asked == [(tmp_path / "out.html").as_uri()]
        visit.faults = [fault for fault in visit.faults if "asked for file" not in fault]


def test_the_picture_of_the_documents_is_taken(
    browser: Any, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """ZERMELO_PICTURES=docs/images keeps it; ZERMELO_RUN names another run than the tests'."""
    run = Path(os.environ.get("ZERMELO_RUN") or request.getfixturevalue("watched"))
    output = Path(os.environ.get("ZERMELO_PICTURES", tmp_path)) / "training.png"
    size = {"viewport": {"width": 1280, "height": 820}, "color_scheme": "light"}
    with running(WebSettings(runs=(run,))) as server, Visit(browser, server, **size) as visit:
        page = visit.open(f"/{ids(server)[run.name]}")
        expect(page.locator(".chart-series path.chart-line")).not_to_have_count(0)
        expect(page.locator(".doctor summary").first).to_be_visible()
        page.screenshot(path=str(output))
    assert output.stat().st_size > 20_000
