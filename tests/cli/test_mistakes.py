"""Whose mistake it is: one sentence and 2 for the user's, a traceback and 70 for ours."""

from __future__ import annotations

import errno
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from zermelo import __version__
from zermelo._core import RefusedError
from zermelo.cli import main
from zermelo.cli.mistakes import sentence_for
from zermelo.errors import UserError
from zermelo.network.runtimes import installed_backends
from zermelo.search import SearchOptions
from zermelo.selfplay import local_pool

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_game.py"
Captured = pytest.CaptureFixture[str]
CHECK = ("check", "tictactoe")
PAIR = ("rollout?simulations=5", "random", "--openings", "start")


@pytest.fixture
def fail_with(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes `zermelo check` raise an error."""

    def set_up(error: Exception) -> None:
        def check_game(*_: object, **__: object) -> None:
            raise error

        monkeypatch.setattr("zermelo.cli.check.check_game", check_game)

    return set_up


def sentence(capsys: Captured, *arguments: str) -> str:
    """Of a mistake of the user."""
    assert main(arguments) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("zermelo: ")
    assert shown.count("\n") == 1
    return shown.removeprefix("zermelo: ").rstrip("\n")


def fault(capsys: Captured, *arguments: str) -> list[str]:
    """The lines about a fault of ours."""
    assert main(arguments) == 70
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("Traceback")
    return lines


def broken_game(folder: Path, sound: str, broken: str) -> str:
    """The example with a fault in it."""
    source = EXAMPLE.read_text()
    assert sound in source
    path = folder / "broken_game.py"
    path.write_text(source.replace(sound, broken, 1))
    return str(path)


def test_a_refusal_is_one_sentence(capsys: Captured, fail_with: Any) -> None:
    fail_with(UserError("this cannot\nbe done"))
    assert sentence(capsys, *CHECK) == "this cannot be done"


def test_a_refusal_of_the_core_is_one_sentence(capsys: Captured) -> None:
    with pytest.raises(RefusedError) as caught:
        SearchOptions(c_puct=-4.0)
    assert not isinstance(caught.value, UserError)
    found = sentence(capsys, "analyse", "tictactoe", "--set", "c_puct=-4")
    assert found.startswith("option 'c_puct' cannot be '-4'")


@pytest.mark.parametrize(
    "error",
    [
        ValueError("not enough values to unpack"),
        KeyError("policy"),
        ZeroDivisionError("division by zero"),
        RuntimeError("the process died"),
        json.JSONDecodeError("Expecting value", "x", 0),
        FileNotFoundError(errno.ENOENT, "No such file or directory", "/nowhere/of/ours"),
        OSError("a library's"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_everything_else_is_our_fault_and_says_what_to_report(
    capsys: Captured, fail_with: Any, error: Exception
) -> None:
    fail_with(error)
    lines = fault(capsys, *CHECK)
    assert f"{type(error).__name__}: {error}" in lines[-2]
    assert lines[-1].startswith("zermelo: this is a fault of Zermelo, not yours; please report")
    assert "'zermelo check tictactoe'" in lines[-1]
    assert __version__ in lines[-1]


def test_the_traceback_is_shown_when_it_is_asked_for(capsys: Captured) -> None:
    for arguments in (("--traceback", "check", "nosuch"), ("check", "nosuch", "--traceback")):
        assert main(arguments) == 2
        lines = capsys.readouterr().err.splitlines()
        assert lines[0].startswith("Traceback")
        assert lines[-1].startswith("zermelo: there is no game 'nosuch'")
    assert main(["--help"]) == 0
    assert "--traceback" in capsys.readouterr().out


def test_a_command_that_does_well_does_not_mind_being_asked_for_a_traceback(
    capsys: Captured,
) -> None:
    assert main(["--traceback", *CHECK, "--games", "1"]) == 0
    assert main([*CHECK, "--games", "1", "--traceback"]) == 0
    assert capsys.readouterr().err == ""


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("named", ["{}", "--set=weights={}", "{}?simulations=8", "rollout?book={}"])
@pytest.mark.parametrize("inside", ["", "/checkpoints/000001"])
def test_a_file_that_the_user_named_is_one_sentence(
    tmp_path: Path, named: str, inside: str
) -> None:
    file = f"{tmp_path}/net{inside}"
    error = FileNotFoundError(errno.ENOENT, "No such file or directory", file)
    words = sentence_for(error, ("match", "random", named.format(tmp_path / "net")))
    assert words == f"'{file}': No such file or directory"
    assert sentence_for(error, ("match", "random", "rollout")) is None


def test_files_of_runs_are_the_users_too() -> None:
    error = FileNotFoundError(errno.ENOENT, "No such file or directory", "runs/7/metrics.jsonl")
    assert sentence_for(error, ("train", "tictactoe")) is not None


@pytest.mark.parametrize(
    ("number", "file", "words"),
    [
        (errno.ENOSPC, None, "No space left on device"),
        (errno.ENOSPC, "/elsewhere/0.shard", "'/elsewhere/0.shard': No space left on device"),
        (errno.EACCES, "/elsewhere", "'/elsewhere': Permission denied"),
    ],
)
def test_what_the_machine_refuses_is_one_sentence(
    capsys: Captured, fail_with: Any, number: int, file: str | None, words: str
) -> None:
    text = words.rpartition(": ")[2]
    fail_with(OSError(number, text) if file is None else OSError(number, text, file))
    assert sentence(capsys, *CHECK) == words


# --- games of the user ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["ValueError", "ZeroDivisionError"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("play", "{}", "--against", "random"),
        ("analyse", "{}", "--simulations", "50"),
        ("analyse", "{}", "--simulations", "50", "--threads", "2"),
        ("match", *PAIR, "--game", "{}", "--games", "2"),
        ("match", *PAIR, "--game", "{}", "--games", "2", "--concurrency", "2"),
    ],
    ids=["play", "one thread", "two threads", "match", "processes"],
)
def test_a_fault_in_a_game_file_names_its_line(
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    kind: str,
    arguments: tuple[str, ...],
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n" * 9))
    path = broken_game(
        tmp_path,
        "        board = list(state[0])\n",
        f"        raise {kind}('of\\nmy own')\n        board = list(state[0])\n",
    )
    line = 1 + Path(path).read_text().splitlines().index(f"        raise {kind}('of\\nmy own')")
    found = sentence(capsys, *(word.format(path) for word in arguments))
    assert found.startswith(f"{path} line {line}: ")
    assert found.endswith(f"{kind}: of my own")


def test_a_game_refuses_a_text_with_a_value_error(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = broken_game(
        tmp_path,
        "    def _target(",
        "    def parse_action(self, state, text):\n"
        "        return {'go': self.legal_actions(state)[0]}.get(text) or int(text)\n\n"
        "    def parse_position(self, text):\n"
        "        raise ValueError('nothing can be read')\n\n"
        "    def _target(",
    )
    monkeypatch.setattr("sys.stdin", io.StringIO("there\ngo\nquit\n"))
    assert main(["play", path, "--against", "random"]) == 0
    shown = capsys.readouterr()
    assert "invalid literal for int() with base 10: 'there'. Type 'moves'" in shown.out
    assert shown.err == ""
    assert sentence(capsys, "perft", path, "1", "--position", "x") == "nothing can be read"


# --- other processes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault_of_worker", "code", "words"),
    [
        ("1 // 0", 70, "ZeroDivisionError: integer division or modulo by zero; see "),
        ("os.kill(os.getpid(), 9)", 2, "it was killed by signal 9; see "),
    ],
    ids=["ours", "killed"],
)
def test_workers_that_fail_for_good_end_self_play(
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    fault_of_worker: str,
    code: int,
    words: str,
) -> None:
    script = (
        "import os; from zermelo.processes.serve import serve; "
        f"serve(lambda *_: {fault_of_worker}, lambda _: 'worker')"
    )
    monkeypatch.setattr(local_pool, "COMMAND", (sys.executable, "-c", script))
    arguments = ["selfplay", "tictactoe", "--out", str(tmp_path), "--samples", "5"]
    backend = f"selfplay.backend={installed_backends()[0]}"
    settings = ["--workers", "1", "--set", backend, "--set", "selfplay.precision=f32"]
    assert main([*arguments, *settings]) == code
    lines = capsys.readouterr().err.splitlines()
    assert ("Traceback (most recent call last):" in lines) == (code == 70)
    assert words in lines[-1 if code == 2 else -2]
