"""Files that work on another machine needs: networks, and games written in Python.

What is named by a path here is sent along as bytes and put into a directory of its own there. Texts
that name such a file are spelled anew. Knows no Ray: luggage is plain data.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import weakref
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from zermelo.games.parameters import split_spec
from zermelo.games.python_file import looks_like_file
from zermelo.matches.contestants import network_of
from zermelo.network.places import named_heads, weights_file
from zermelo.players.registry import with_settings


@dataclass(frozen=True)
class Luggage:
    """Files by the name that a text has for them, as it was typed: elsewhere it means nothing."""

    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)  # file name, content

    @classmethod
    def of(cls, game: str, players: Iterable[str] = ()) -> Luggage:
        """What these texts name."""
        files = {}
        if (place := game_file(game)) is not None:
            files[place] = (Path(place).name, Path(place).read_bytes())
        for spec in players:
            if (network := network_of(spec)) is not None:
                file = weights_file(network)
                files[_told(spec)] = (file.name, file.read_bytes())
        return cls(files)

    def unpack(self) -> Unpacked:
        """Writes all of it into a directory that goes away with the result."""
        return Unpacked(self)


class Unpacked:
    """Luggage on this machine's disk. Keep it as long as the files are used."""

    def __init__(self, luggage: Luggage) -> None:
        directory = tempfile.mkdtemp(prefix="zermelo-luggage-")
        weakref.finalize(self, shutil.rmtree, directory, ignore_errors=True)
        self._places: dict[str, str] = {}
        for named, (name, content) in luggage.files.items():
            place = Path(directory) / hashlib.sha256(named.encode()).hexdigest()[:16]
            place.mkdir()
            (place / name).write_bytes(content)
            self._places[named] = str(place / name)

    def game(self, text: str) -> str:
        """The text of the same game as it lies here."""
        place = game_file(text)
        if place is None or place not in self._places:
            return text
        return self._places[place] + text[len(place) :]

    def player(self, spec: str) -> str:
        """The text of the same player."""
        name, given = split_spec(spec)
        told = _told(spec)
        if told not in self._places:
            return spec
        _, heads = named_heads(told)
        here = self._places[told] + (f"#{heads}" if heads else "")
        if "weights" in given:
            return with_settings(name, given | {"weights": here})
        return with_settings(here, given)


def _told(spec: str) -> str:
    """What a player's text says where its network may stand."""
    name, given = split_spec(spec)
    return given.get("weights", name)


def game_file(text: str) -> str | None:
    """The Python file that a game's text names."""
    if not looks_like_file(text):
        return None
    place = text.partition("?")[0]
    return place if place.endswith(".py") else place.rpartition(":")[0]
