"""Real processes: they answer, end when they are hung up on, and their deaths are noticed."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from zermelo.errors import UserError
from zermelo.processes.child import Child, hearing, how_it_ended, module_command
from zermelo.processes.memory import memory_of
from zermelo.processes.serve import error_of

SCRIPT = """
import os, sys
from zermelo.errors import UserError
from zermelo.processes.serve import serve

def work(first, channel):
    print("a library prints")
    while (message := channel.receive(None)) is not None:
        if message["do"] == "refuse":
            raise UserError("not like this")
        if message["do"] == "fail":
            raise KeyError("lost")
        if message["do"] == "die":
            os._exit(7)
        channel.send({"heard": message, "of": first["name"]})

sys.exit(serve(work, lambda first: first["name"]))
"""
COMMAND = (sys.executable, "-c", SCRIPT)


def test_a_process_answers_and_ends_when_it_is_hung_up_on(
    capfd: pytest.CaptureFixture[str],
) -> None:
    child = Child(COMMAND, {"name": "one"})
    child.channel.send({"do": "talk"})
    assert child.channel.receive(60.0) == {"heard": {"do": "talk"}, "of": "one"}
    assert child.bury(60.0) == 0
    out, err = capfd.readouterr()
    assert (out, err) == ("", "a library prints\n")


@pytest.mark.parametrize(
    ("order", "kind", "words"),
    [("refuse", UserError, "not like this"), ("fail", RuntimeError, "KeyError: 'lost'")],
)
def test_a_failure_is_told_and_only_one_of_ours_leaves_a_traceback(
    tmp_path: Path, order: str, kind: type[Exception], words: str
) -> None:
    with (tmp_path / "log").open("ab") as log:
        child = Child(COMMAND, {"name": "one"}, log=log)
    child.channel.send({"do": order})
    message = child.channel.receive(60.0)
    assert message is not None
    error = error_of(message)
    assert type(error) is kind
    assert str(error) == words
    assert child.channel.receive(60.0) is None
    assert child.channel.closed
    assert child.bury() == 1
    text = (tmp_path / "log").read_text()
    assert ("Traceback" in text, " one\n" in text) == (kind is RuntimeError,) * 2


def test_deaths_are_heard_and_have_words() -> None:
    one, other = (Child(COMMAND, {"name": name}) for name in ("one", "other"))
    assert hearing([one, other], 0.0) == []
    one.channel.send({"do": "die"})
    other.channel.send({"do": "talk"})
    assert other.channel.receive(60.0) is not None
    assert hearing([one], 60.0) == [one]
    assert one.channel.receive() is None
    assert how_it_ended(one.bury()) == "it ended with code 7"
    os.kill(other.pid, signal.SIGKILL)
    assert hearing([other], 60.0) == [other]
    assert how_it_ended(other.bury()) == "it was killed by signal 9"


def test_a_process_that_does_not_end_in_time_is_killed() -> None:
    child = Child((sys.executable, "-c", "import time; time.sleep(600)"), {})
    assert child.bury(0.1) == -signal.SIGKILL


def test_a_handler_may_kill_a_process_whose_end_is_waited_for() -> None:
    child = Child((sys.executable, "-c", "import time; time.sleep(600)"), {})

    def kill(number: int, frame: object) -> None:
        child.kill()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, kill)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGUSR1))
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            child.bury()
    finally:
        signal.signal(signal.SIGUSR1, before)
        timer.join()
    assert child.kill() == -signal.SIGKILL


def test_what_it_inherits_and_its_environment_are_given(tmp_path: Path) -> None:
    script = "import os, sys; os.write(int(sys.argv[1]), os.environ['OF_TEST'].encode())"
    with (tmp_path / "file").open("wb") as file:
        command = (sys.executable, "-c", script, str(file.fileno()))
        child = Child(command, {}, inherit=(file.fileno(),), environment={"OF_TEST": "here"})
        assert child.bury() == 0
    assert (tmp_path / "file").read_text() == "here"


def test_a_file_of_the_working_directory_takes_no_modules_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('the wrong one')\n")
    (tmp_path / "zermelo.py").write_text("raise SystemExit('the wrong one')\n")
    monkeypatch.chdir(tmp_path)
    first: dict[str, Any] = {"game": "nothing", "specs": [], "names": [], "boards": 1}
    child = Child(module_command("zermelo.matches.worker"), first)
    message = child.channel.receive(60.0)
    assert message is not None
    assert "adjudication" in str(error_of(message))
    assert child.bury(60.0) == 0


def test_memory_is_that_of_the_processes_that_live() -> None:
    assert memory_of([os.getpid()]) > 1 << 20


def test_memory_of_processes_that_have_gone_is_nothing() -> None:
    assert memory_of([2**22 + 1]) == 0
