"""Sessions as they were: commands and answers of `tests/golden/uci/*.txt`.

After an intended change run `python tests/uci/test_uci_golden.py` to write the answers anew, and
say in the commit why they changed. Times and speeds are left out, and so are the reports that come
while a search runs: only its last is the same everywhere.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from uci_talk import Fake, Talk, loading

FOLDER = Path(__file__).parents[1] / "golden" / "uci"
FILES = sorted(FOLDER.glob("*.txt"))
WAITS = {"go": "bestmove", "isready": "readyok", "uci": "uciok", "stop": "bestmove"}
VARYING = re.compile(r"\b(time|nps|eps) \d+")


def replay(commands: list[str]) -> list[str]:
    """The commands with what the engine answers, each marked by > or <."""
    lines: list[str] = []
    with Talk(load=loading(Fake()), Threads=1, MinibatchSize=1) as talk:
        for command in commands:
            lines.append(f"> {command}")
            talk.send(command)
            word = command.split()[0]
            if command == "go infinite" or " ponder" in command:
                talk.until("info depth")
                continue
            wait = "Nodes searched" if "perft" in command else WAITS.get(word)
            if word == "ponderhit":
                wait = "bestmove"
            answer = talk.until(wait) if wait else talk.ready()[:-1]
            lines += [f"< {normal(line)}" for line in last_report(answer)]
    return lines


def last_report(answer: list[str]) -> list[str]:
    """Without the `info` lines that a later one of the same move line replaces."""
    reports = [i for i, line in enumerate(answer) if line.startswith("info depth")]
    last = reports[-1] if reports else 0
    while last and answer[last - 1].startswith("info depth") and " multipv 1 " not in answer[last]:
        last -= 1
    return [line for i, line in enumerate(answer) if i not in reports or i >= last]


def normal(line: str) -> str:
    return VARYING.sub(r"\1 *", line)


@pytest.mark.technique("E4")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_session_is_the_golden_one(path: Path) -> None:
    expected = path.read_text().splitlines()
    commands = [line[2:] for line in expected if line.startswith("> ")]
    assert replay(commands) == expected


def test_there_are_enough_steps() -> None:
    steps = sum(line.startswith("> ") for path in FILES for line in path.read_text().splitlines())
    assert steps >= 40


if __name__ == "__main__":
    for file in FILES:
        asked = [line[2:] for line in file.read_text().splitlines() if line.startswith("> ")]
        file.write_text("\n".join(replay(asked)) + "\n")
