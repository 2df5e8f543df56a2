"""An engine in this process, talked to line by line."""

from __future__ import annotations

import io
import threading
import time
from typing import Any

import numpy as np

from zermelo.uci import networks
from zermelo.uci.networks import Network
from zermelo.uci.options import Settings
from zermelo.uci.session import Session
from zermelo.uci.writer import Writer

PATIENCE = 60.0  # seconds; far beyond what anything here takes


class Spoken(io.BytesIO):
    """What the engine said, line by line, for a thread that waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.changed = threading.Condition()

    def write(self, data: Any) -> int:
        with self.changed:
            self.lines += bytes(data).decode().splitlines()
            self.changed.notify_all()
        return len(data)


class Talk:
    """`with Talk() as talk: ...`"""

    def __init__(self, load: Any = networks.load, own: Any = "", **options: object) -> None:
        self.spoken = Spoken()
        settings = Settings.defaults()
        for name, value in options.items():
            settings = settings.with_value(name, str(value).lower())
        self.session = Session(Writer(self.spoken), settings, load, own)
        self.heard = 0

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.session.close()

    def send(self, *lines: str) -> Talk:
        for line in lines:
            assert self.session.handle(line)
        return self

    def until(self, start: str) -> list[str]:
        """The lines since the last call, up to one that starts so."""
        with self.spoken.changed:

            def found() -> bool:
                return any(line.startswith(start) for line in self.spoken.lines[self.heard :])

            assert self.spoken.changed.wait_for(found, PATIENCE), self.spoken.lines[-20:]
            lines = self.spoken.lines[self.heard :]
            count = next(i for i, line in enumerate(lines, 1) if line.startswith(start))
            self.heard += count
            return lines[:count]

    def ask(self, *lines: str) -> list[str]:
        """Sends, and waits for the `bestmove`."""
        return self.send(*lines).until("bestmove")

    def bestmove(self, *lines: str) -> str:
        return self.ask(*lines)[-1].split()[1]

    def ready(self) -> list[str]:
        return self.send("isready").until("readyok")


def infos(lines: list[str]) -> list[dict[str, str]]:
    """The `info` lines with a move line, as fields."""
    found = []
    for line in lines:
        if line.startswith("info ") and " pv " in line:
            head, _, pv = line.removeprefix("info ").partition(" pv ")
            words = head.split()
            fields = {"pv": pv}
            at = 0
            while at < len(words):
                if words[at] == "score":
                    fields["score"] = " ".join(words[at + 1 : at + 3])
                    at += 3
                elif words[at] == "wdl":
                    fields["wdl"] = " ".join(words[at + 1 : at + 4])
                    at += 4
                else:
                    fields[words[at]] = words[at + 1]
                    at += 2
            found.append(fields)
    return found


class Fake:
    """A network that prefers some actions, is slow, fails or answers nonsense when told to."""

    def __init__(
        self,
        value: float = 0.1,
        fail_after: int | None = None,
        nan: bool = False,
        seconds: float = 0.0,
    ) -> None:
        self.value = value
        self.seconds = seconds  # that a batch takes
        self.fail_after = fail_after
        self.nan = nan
        self.calls = 0
        self.failed_at = 0.0  # when it first did

    def __call__(self, planes: Any) -> tuple[Any, Any]:
        self.calls += 1
        time.sleep(self.seconds)
        policy = np.zeros((len(planes), 1858), np.float32)
        policy[:, 322] = 3.0  # the mover's e2e4
        value = np.full(len(planes), self.value, np.float32)
        if self.fail_after is not None and self.calls > self.fail_after:
            self.failed_at = self.failed_at or time.perf_counter()
            if not self.nan:
                raise RuntimeError("the accelerator has gone away")
            value[:] = np.nan
        return policy, value


def loading(evaluator: Any, encoder: str = "compact") -> Any:
    """Stands in for `networks.load`."""

    def load(path: str, backend: str, precision: str) -> Network:
        return Network(evaluator, encoder, f"network {path}", trained=True)

    return load
