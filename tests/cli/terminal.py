"""Commands as they are typed, in this process and in one of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from zermelo.cli import main

Captured = pytest.CaptureFixture[str]


def run(capsys: Captured, *arguments: str) -> str:
    """The standard output of a command that must succeed without a word on the other stream."""
    assert main(arguments) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    return shown.out


def fails(capsys: Captured, *arguments: str) -> str:
    """The one sentence of a command that must fail."""
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("zermelo: ")
    assert shown.err.count("\n") == 1
    assert "Traceback" not in shown.err
    return shown.err.removeprefix("zermelo: ").rstrip("\n")


def spawn(*arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "zermelo", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
