"""Ctrl-C as impatient people press it: a second one ends at once, whenever it comes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from harmed_runs import children, is_running, shards, start, until

from zermelo.processes.child import module_command

Record = Callable[[str, object], None]


def test_three_quick_ones_end_training_at_once(tmp_path: Path, record_property: Record) -> None:
    run = tmp_path / "run"
    process = start(run)
    until(lambda: len(list(children(process.pid))) == 2)
    time.sleep(0.3)
    workers = list(children(process.pid))
    for _ in range(3):
        process.send_signal(signal.SIGINT)
        time.sleep(0.01)
    began = time.monotonic()
    process.communicate(timeout=10)
    assert process.returncode == 130
    record_property("training, three quick ones (s)", f"{time.monotonic() - began:.1f}")
    until(lambda: not any(map(is_running, workers)), 10.0)


def test_a_second_one_ends_a_training_that_is_stopping(
    tmp_path: Path, record_property: Record
) -> None:
    run = tmp_path / "run"
    process = start(run)
    until(lambda: shards(run) > 0)
    workers = list(children(process.pid))
    for worker in workers:
        subprocess.run(["kill", "-STOP", str(worker)], check=True)  # so that stopping takes long
    process.send_signal(signal.SIGINT)
    time.sleep(1.0)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    process.communicate(timeout=10)
    taken = time.monotonic() - began
    assert taken < 3.0
    record_property("training, the second (s)", f"{taken:.1f}")
    assert process.returncode == 130
    until(lambda: not any(map(is_running, workers)), 10.0)


def test_one_ends_the_page_with_its_searches(record_property: Record) -> None:
    websockets = pytest.importorskip("websockets.sync.client")
    command = [*module_command("zermelo"), "web", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = process.stdout.readline().split()[3].rstrip("/").replace("http", "ws")
    with websockets.connect(f"{address}/ws", proxy=None) as page:
        line: dict[str, object] = {"game": "othello", "start": None, "moves": []}
        for message in (
            {"type": "hello", "version": 1},
            {"type": "analyse.start", "line": line, "network": "rollout"},
        ):
            page.send(json.dumps(message | {"id": 1}))
        while json.loads(page.recv(30))["type"] != "analyse.frame":
            pass
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        _, said = process.communicate(timeout=60)
    taken = time.monotonic() - began
    assert taken < 10.0
    assert process.returncode in (0, 130)
    assert "Traceback" not in said
    record_property("page with a search (s)", f"{taken:.1f}")


@pytest.mark.parametrize("after", [0.2, 1.0])
def test_one_while_modules_are_imported_shows_no_traceback(after: float) -> None:
    code = (
        "import sys, zermelo.cli as cli; print('in', flush=True); "
        "sys.exit(cli.main(['train', 'no such game']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert "Traceback" not in said


@pytest.mark.parametrize(
    "command", [["-m", "zermelo", "games"], ["-m", "zermelo.uci"]], ids=["zermelo", "uci"]
)
def test_one_while_the_package_itself_is_imported_shows_no_traceback(
    command: list[str], record_property: Record
) -> None:
    tried = 0
    for after in (0.0, 0.01, 0.02, 0.03, 0.05, 0.08):
        process = subprocess.Popen(
            [sys.executable, "-X", "importtime", *command],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stderr is not None
        for line in process.stderr:
            if "numpy" in line:
                break
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert "Traceback" not in said
        tried += 1
    record_property("tried", tried)


def test_programs_that_import_the_package_keep_their_own_way_to_show_errors() -> None:
    code = "import sys, zermelo; sys.exit(sys.excepthook is not sys.__excepthook__)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0
