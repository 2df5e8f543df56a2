"""Tries an installed wheel as a newcomer would: the commands that a light installation has.

Usage: PYTHON-OF-THE-ENVIRONMENT tools/try_wheel.py

Run by the Python of an environment in which only the wheel is installed, in a directory without the
source. Prints what each command took; exit code 1 names the first that does not do what it should.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time

COMMANDS = (  # arguments, input, and a text that the output must have
    (["--version"], "", "zermelo "),
    (["games"], "", "connect4"),
    (["play", "connect4", "--side", "second"], "quit\n", "connect4.onnx"),
    (["play", "chess"], "quit\n", "chess.safetensors"),
    (["uci"], "uci\nisready\nposition startpos\ngo nodes 200\nquit\n", "bestmove "),
    (["analyse", "connect4", "--simulations", "200", "--json"], "", '"best"'),
    (["analyse", "chess", "--simulations", "500", "--json"], "", '"best"'),
    (
        [
            "match",
            "search?weights=connect4&simulations=20",
            "random",
            "--game",
            "connect4",
            "--games",
            "2",
        ],
        "",
        "Elo",
    ),
    (["doctor", "."], "", ""),
    (["train", "tictactoe"], "", ""),
)
REFUSED = {"doctor": "is not a run", "train": "zermelo[train]"}  # in one sentence, with code 2


def main() -> int:
    """Exit code 1 if something does not work."""
    with tempfile.TemporaryDirectory() as empty:
        place = "import zermelo; print(zermelo.__file__)"
        print(_run(["-c", place], "", empty)[1].strip())
        for arguments, typed, wanted in COMMANDS:
            started = time.monotonic()
            code, text = _run(["-m", "zermelo", *arguments], typed, empty)
            refusal = REFUSED.get(arguments[0], "")
            good = (code == 2 and refusal in text) if refusal else (code == 0 and wanted in text)
            if not good or "Traceback" in text:
                print(f"FAILED zermelo {' '.join(arguments)} (code {code}):\n{text}")
                return 1
            print(f"{time.monotonic() - started:6.2f} s  zermelo {' '.join(arguments)}")
    return 0


def _run(arguments: list[str], typed: str, place: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, *arguments], input=typed, capture_output=True, text=True,
        check=False, cwd=place, timeout=300,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


if __name__ == "__main__":
    sys.exit(main())
