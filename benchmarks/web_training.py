"""How quick the training views are with a long run and with many runs.

Usage: python benchmarks/web_training.py [--lines 10000] [--runs 1000]

Makes a run with a line of 100 figures per iteration (a million points) and a folder of small runs,
serves both by `zermelo web`, and asks as the page does: the list, a run's first look, its charts,
and the charts again after a new line. With Chromium also the time until the first chart is drawn.
Prints JSON; times are in seconds. The exit code is 1 if the first chart takes more than 2 s, an
update more than 0.2 s, or the list more than 2 s.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from zermelo.config import RunConfig
from zermelo.runs.directory import Run

CHROMIUM = Path("/usr/bin/chromium")
LOSS = "train/training/loss"


def entry(iteration: int) -> str:
    """A line of metrics with 100 figures, most of which the page shows."""
    loss = 1.5 + 20.0 / (iteration + 10) + (iteration * 7919 % 100) / 1000
    some = {f"figure_{i}": (iteration * (i + 3)) % 1000 / 7 for i in range(60)}
    speeds = ("games", "evaluations", "simulations", "moves", "samples")
    return json.dumps(
        {
            "iteration": iteration,
            "time": 1.7e9 + iteration,
            "seconds": 10.0 * iteration,
            "train": {
                "training": {"loss": loss, "policy_loss": loss / 2, "value_loss": loss / 3},
                "held_out": {"loss": loss + 0.1},
                "learning_rate": 0.001,
                "gradient_norm": 0.5,
                **some,
            },
            "selfplay": {f"{name}_per_second": 100.0 + iteration % 9 for name in speeds}
            | {f"count_{i}": i for i in range(20)},
            "window": {"samples": 1000 + iteration, "duplicates": 0.3, "merged": 700},
            "memory": 1 << 30,
        }
    )


def made(path: Path, lines: int) -> Path:
    """A run that has done so many iterations."""
    run = Run.create(path, RunConfig.from_tables({"game": {"name": "connect4"}}))
    run.metrics.mkdir()
    with (run.metrics / "metrics.jsonl").open("w") as file:
        for iteration in range(1, lines + 1):
            file.write(entry(iteration) + "\n")
    run.unlock()
    return path


@contextlib.contextmanager
def served(folder: Path) -> Iterator[httpx.Client]:
    """The page as a process of its own."""
    command = [sys.executable, "-m", "zermelo", "web", str(folder), "--port", "0"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[3]
        with httpx.Client(base_url=address, timeout=60, trust_env=False) as client:
            client.get("/")
            yield client
    finally:
        process.terminate()
        process.wait(10)


def timed(client: httpx.Client, path: str) -> tuple[float, Any]:
    """How long an answer took, and the answer."""
    started = time.perf_counter()
    answer = client.get(path)
    spent = time.perf_counter() - started
    answer.raise_for_status()
    return round(spent, 3), answer.json()


def long_run(folder: Path, lines: int) -> dict[str, Any]:
    """One run with very many points."""
    path = made(folder / "long", lines)
    size = (path / "metrics" / "metrics.jsonl").stat().st_size
    with served(folder) as client:
        _, found = timed(client, "/api/runs")
        id_ = found["runs"][0]["id"]
        first, _ = timed(client, f"/api/runs/{id_}")
        charts, found = timed(client, f"/api/runs/{id_}/panels")
        whole, looks = first + charts, 1
        while found["reading"]["unread"]:
            more, found = timed(client, f"/api/runs/{id_}/panels")
            whole, looks = whole + more, looks + 1
        updates = []
        for number in range(10):
            with (path / "metrics" / "metrics.jsonl").open("a") as file:
                file.write(entry(lines + number + 1) + "\n")
            spent, found = timed(client, f"/api/runs/{id_}/panels")
            updates.append(spent)
        drawn = first_chart(str(client.base_url), id_)
    loss = next(panel for panel in found["panels"] if panel["id"] == "loss")["curves"][0]
    assert loss["x"][-1] == lines + 10
    return {
        "points": lines * 100,
        "mib": round(size / 2**20, 1),
        "first_look": first,
        "first_charts": charts,
        "all_read_after": round(whole, 3),
        "looks": looks,
        "update_worst": max(updates),
        "chart_points": len(loss["x"]),
        "first_chart_drawn": drawn,
    }


def first_chart(address: str, id_: str) -> float | None:
    """Until a browser has drawn the first chart; None without one."""
    if not CHROMIUM.exists():
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        page = browser.new_page()
        started = time.perf_counter()
        page.goto(f"{address}#/training/{id_}")
        page.wait_for_selector(".chart-series path.chart-line", state="attached")
        spent = time.perf_counter() - started
        browser.close()
    return round(spent, 3)


def many_runs(folder: Path, count: int) -> dict[str, Any]:
    """A list of very many."""
    for number in range(count):
        made(folder / f"run-{number:04d}", 5)
    with served(folder) as client:
        first, found = timed(client, "/api/runs")
        again = [timed(client, "/api/runs")[0] for _ in range(5)]
    assert len(found["runs"]) == count
    return {"runs": count, "first_list": first, "again_worst": max(again)}


def main() -> int:
    """Both, in folders that are removed afterwards."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=1_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as many:
        found = {
            "long_run": long_run(Path(one), given.lines),
            "many_runs": many_runs(Path(many), given.runs),
        }
    print(json.dumps(found, indent=2))
    long, many = found["long_run"], found["many_runs"]
    drawn = long["first_chart_drawn"]
    slow = (drawn is not None and drawn > 2) or long["update_worst"] > 0.2
    return slow or many["first_list"] > 2


if __name__ == "__main__":
    sys.exit(main())
