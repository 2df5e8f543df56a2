"""A process that plays games of a match: `python -m zermelo.matches.worker`, started by `workers`.

Its first message describes the match, each further one is a game, and it answers with one for each
game that ends. It ends when its channel does, so also when the process that started it was killed.
"""

from __future__ import annotations

import os
import sys
import threading

from zermelo.games import game as find_game
from zermelo.matches.adjudicate import AdjudicateOptions
from zermelo.matches.hall import Hall
from zermelo.matches.pairing import Task
from zermelo.matches.play_game import Contestants
from zermelo.processes.channel import Channel, Message
from zermelo.processes.serve import failure, serve


def description(game: str, contestants: Contestants, adjudication: AdjudicateOptions) -> Message:
    """What the first message says; only players that a text can name."""
    return {
        "game": game,
        "specs": list(contestants.specs),
        "names": list(contestants.names),
        "boards": contestants.boards,
        "adjudication": vars(adjudication),
    }


def work(message: Message, channel: Channel) -> None:
    """Until our owner hangs up; then at once, in the middle of a search too."""
    try:
        hall = _hall(message)
    except Exception as error:
        channel.send(failure(error, _name(message)))
        return
    channel.send({"ready": os.getpid()})
    threading.Thread(target=_listen, args=(hall, channel), daemon=True).start()
    while not channel.closed:
        found = hall.take()
        if isinstance(found, Exception):
            channel.send(failure(found, _name(message)))
        else:
            record, timing = found
            channel.send({"record": record.to_json(), "timing": timing.to_json()})
    _leave()


def main() -> int:
    """The process."""
    return serve(work, _name)


def _name(first: Message) -> str:
    return f"match worker of {first['game']}"


def _hall(message: Message) -> Hall:
    contestants = Contestants(
        tuple(message["specs"]), tuple(message["names"]), int(message["boards"])
    )
    adjudication = AdjudicateOptions(**message["adjudication"])
    return Hall(find_game(message["game"]), contestants, adjudication)


def _listen(hall: Hall, channel: Channel) -> None:
    while (message := channel.receive(None)) is not None:
        hall.put(Task.from_dict(message))
    _leave()


def _leave() -> None:
    """At once, also out of a long search, and with all engines."""
    if "zermelo.players.uci_engine" in sys.modules:
        from zermelo.players.uci_engine import end_all_engines

        end_all_engines()
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
