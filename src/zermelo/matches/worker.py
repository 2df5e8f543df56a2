"""A process that plays games of a match: `python -m zermelo.matches.worker`, started by `workers`.

It reads a line of JSON that describes the match, then one line for each game, and answers with one
line for each game that ends. It ends when its input ends, so also when the process that started it
was killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from typing import Any, BinaryIO

from zermelo.errors import UserError
from zermelo.games import game as find_game
from zermelo.games.python_file import place_in_game_file
from zermelo.matches.adjudicate import AdjudicateOptions
from zermelo.matches.hall import Hall
from zermelo.matches.pairing import Task
from zermelo.matches.play_game import Contestants


def description(
    game: str, contestants: Contestants, adjudication: AdjudicateOptions
) -> dict[str, Any]:
    """What the first line says; only players that a text can name."""
    return {
        "game": game,
        "specs": list(contestants.specs),
        "names": list(contestants.names),
        "boards": contestants.boards,
        "adjudication": vars(adjudication),
    }


def main() -> None:
    """Until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started us
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a game or player prints must not look like an answer
    first_line = sys.stdin.buffer.readline()
    if not first_line:
        return
    try:
        hall = _hall(json.loads(first_line))
    except Exception as error:
        _send(answers, _failure(error))
        return
    _send(answers, {"ready": os.getpid()})
    threading.Thread(target=_listen, args=(hall,), daemon=True).start()
    while True:
        found = hall.take()
        if isinstance(found, Exception):
            _send(answers, _failure(found))
        else:
            record, timing = found
            _send(answers, {"record": record.to_json(), "timing": timing.to_json()})


def _failure(error: Exception) -> dict[str, Any]:
    """One sentence for the person who asked, also about a fault in a game's own Python file."""
    if isinstance(error, UserError):
        return {"refused": str(error)}
    place = place_in_game_file(error)
    return {"broken": str(error)} if place is None else {"refused": f"{place}: {error}"}


def _hall(message: dict[str, Any]) -> Hall:
    contestants = Contestants(
        tuple(message["specs"]), tuple(message["names"]), int(message["boards"])
    )
    adjudication = AdjudicateOptions(**message["adjudication"])
    return Hall(find_game(message["game"]), contestants, adjudication)


def _listen(hall: Hall) -> None:
    for line in sys.stdin.buffer:
        hall.put(Task.from_dict(json.loads(line)))
    _leave()


def _send(answers: BinaryIO, answer: dict[str, Any]) -> None:
    try:
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()
    except BrokenPipeError:
        _leave()


def _leave() -> None:
    """At once, also out of a long search, and with all engines."""
    if "zermelo.players.uci_engine" in sys.modules:
        from zermelo.players.uci_engine import end_all_engines

        end_all_engines()
    os._exit(0)


if __name__ == "__main__":
    main()
