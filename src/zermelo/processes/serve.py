"""The other end: what a process does that `Child` started. Its first message says what it is."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable

from zermelo.errors import UserError, users_sentence
from zermelo.processes.channel import Channel, Message


def serve(work: Callable[[Message, Channel], None], name: Callable[[Message], str]) -> int:
    """Works until there is nothing to do or our owner has gone; the exit code.

    Messages are on the standard streams; all that is printed goes to the error stream. `name`, made
    of the first message, is how the log calls us.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for our owner, who ends us
    channel = Channel(os.dup(0), os.dup(1))
    os.dup2(2, 1)  # what a library prints is no message
    first = channel.receive(None)
    if first is None:
        return 0
    try:
        work(first, channel)
    except Exception as error:
        channel.send(failure(error, name(first)))
        return 1
    return 0


def failure(error: Exception, name: str) -> Message:
    """What a process says when it cannot do its work; a fault of ours leaves a traceback."""
    sentence = users_sentence(error)
    if sentence is not None:
        return {"error": sentence, "by_user": True}
    print(time.strftime("%F %T"), name, file=sys.stderr)
    traceback.print_exception(error)
    return {"error": f"{type(error).__name__}: {error}", "by_user": False}


def error_of(message: Message) -> Exception | None:
    """A failure as its owner raises it; None if the message is none."""
    if "error" not in message:
        return None
    kind = UserError if message["by_user"] else RuntimeError
    return kind(message["error"])
