"""A process that plays games of a match: `python -m zermelo.evaluate.worker`, started by `workers`.

It reads a line of JSON that describes the match, then one line for each game, and answers each with
one line. It ends when its input ends, so also when the process that started it was killed.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from typing import Any, BinaryIO

from zermelo.errors import UserError
from zermelo.evaluate.adjudicate import AdjudicateOptions
from zermelo.evaluate.pairing import Task
from zermelo.evaluate.play_game import Contestants, Table
from zermelo.games import game as find_game


def description(
    game: str, contestants: Contestants, adjudication: AdjudicateOptions
) -> dict[str, Any]:
    """What the first line says; only players that a text can name."""
    return {
        "game": game,
        "specs": list(contestants.specs),
        "names": list(contestants.names),
        "adjudication": vars(adjudication),
    }


def main() -> None:
    """Until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started us
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a game or player prints must not look like an answer
    lines: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    table: Table | None = None
    while True:
        message = json.loads(lines.get())
        try:
            if table is None:
                table = _table(message)
                answer: dict[str, Any] = {"ready": os.getpid()}
            else:
                record, timing = table.play(Task.from_dict(message))
                answer = {"record": record.to_json(), "timing": timing.to_json()}
        except UserError as error:
            answer = {"refused": str(error)}
        except Exception as error:
            answer = {"broken": f"{type(error).__name__}: {error}"}
        _send(answers, answer)


def _table(message: dict[str, Any]) -> Table:
    contestants = Contestants(tuple(message["specs"]), tuple(message["names"]))
    adjudication = AdjudicateOptions(**message["adjudication"])
    return Table(find_game(message["game"]), contestants, adjudication)


def _listen(lines: queue.Queue[bytes]) -> None:
    for line in sys.stdin.buffer:
        lines.put(line)
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
