"""Suites in files, and a player that answers as told."""

from pathlib import Path
from typing import Any

from zermelo.suites.files import read_suite
from zermelo.suites.solve import Answer, SuiteSolver

ROOT = Path(__file__).parents[2]
MATES = ROOT / "tests" / "data" / "mates"


class Scripted:
    """Plays the given actions, whatever the position."""

    name = "scripted"

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)

    def choose(self, game: Any, state: Any) -> int:
        return int(game.parse_action(state, self.texts.pop(0)))


def write(tmp_path: Path, text: str, name: str = "suite.txt") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def answers(path: Path, who: Any) -> list[Answer]:
    return list(SuiteSolver(read_suite(path), who).answers())
