"""Exact results of Connect Four positions: from the solver, or from where they were kept.

Early positions take the solver seconds each, so what it found can be kept in a file and is never
computed again. Mirror images share an entry. A line of the file is a position and its result
(`......./... +1`), or the exact score of each column (`- 1 -2 ...`), always the mover's.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from zermelo import _core
from zermelo.errors import UserError
from zermelo.games import game as find_game
from zermelo.games.protocol import State, value_for

DATA = Path(__file__).resolve().parents[1] / "data"
OPENING_FILE = DATA / "connect4_opening.txt"  # scores of the positions of perfect play
COLUMNS = 7
TABLE_MIB = 64  # of each solver

Progress = Callable[[int, int], None]  # how many are done, of how many


def sign(score: float) -> int:
    """+1, 0 or -1."""
    return (score > 0) - (score < 0)


def default_cache() -> Path:
    """Where this user's results are kept."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "zermelo" / "connect4_results.txt"


class Connect4Labels:
    """Results and scores of any position. Several threads may not call it at once."""

    def __init__(
        self, cache: Path | None = None, threads: int = 1, opening: Path | None = OPENING_FILE
    ) -> None:
        """`cache` is read now and added to; `threads` solve what is asked for at once.

        `opening` is a file of the same form that is only read.
        """
        self._game: Any = find_game("connect4")
        self._cache = cache
        self._threads = max(1, threads)
        self._local = threading.local()  # a solver for each thread
        self._results: dict[str, int] = {}
        self._scores: dict[str, tuple[int | None, ...]] = {}
        self.solved = 0  # positions that were not known
        if opening is not None and opening.is_file():
            self._read(opening)
        if cache is not None:
            _make_folder(cache)
            if cache.is_file():
                self._read(cache)

    def result(self, state: State) -> int:
        """+1, 0 or -1 for the player to move under best play; finished games have one too."""
        outcome = self._game.outcome(state)
        if outcome is not None:
            return value_for(outcome, self._game.player(state))
        key, _ = self._key(state)
        if key not in self._results:
            self._keep_result(key, int(self._solver().solve_weak(state)))
        return self._results[key]

    def result_after(self, state: State, column: int) -> int:
        """The result of a column, for the player to move in `state`."""
        if self._key(state)[0] in self._scores:
            return sign(self.scores(state)[column])
        return -self.result(self._game.play(state, column))

    def results(self, states: Sequence[State], progress: Progress | None = None) -> list[int]:
        """The results of many positions; those that are not known are shared out to threads."""
        unknown: dict[str, State] = {}
        for state in states:
            if self._game.outcome(state) is None:
                key, _ = self._key(state)
                if key not in self._results:
                    unknown.setdefault(key, state)
        # The easy ones first: an interrupted run has then the most to go on with.
        order = sorted(unknown.items(), key=lambda item: -self._game.ply(item[1]))
        for done, (key, result) in enumerate(self._solve_all(order), 1):
            self._keep_result(key, result)
            if progress is not None:
                progress(done, len(order))
        return [self.result(state) for state in states]

    def scores(self, state: State) -> dict[int, int]:
        """The exact score of each legal column; the game must not be over."""
        key, mirrored = self._key(state)
        if key not in self._scores:
            found = tuple(self._solver().analyse(state))
            self._keep_scores(key, found[::-1] if mirrored else found)
        scores = self._scores[key]
        listed = enumerate(scores[::-1] if mirrored else scores)
        return {column: score for column, score in listed if score is not None}

    def score(self, state: State) -> int:
        """The exact score of a position whose game is not over."""
        key, _ = self._key(state)
        if key in self._scores:
            return max(self.scores(state).values())
        return int(self._solver().solve(state))

    def _solver(self) -> _core.Connect4Solver:
        if not hasattr(self._local, "solver"):
            self._local.solver = _core.Connect4Solver(table_mib=TABLE_MIB)
        solver: _core.Connect4Solver = self._local.solver
        return solver

    def _solve_all(self, wanted: Sequence[tuple[str, State]]) -> Iterable[tuple[str, int]]:
        def solve(item: tuple[str, State]) -> tuple[str, int]:
            return item[0], int(self._solver().solve_weak(item[1]))

        if self._threads == 1 or len(wanted) < 2:
            yield from map(solve, wanted)
            return
        pool = ThreadPoolExecutor(self._threads)
        try:
            for done in as_completed([pool.submit(solve, item) for item in wanted]):
                yield done.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _key(self, state: State) -> tuple[str, bool]:
        """The text of the position or of its mirror image, and whether it is the image's."""
        text = str(self._game.position_text(state))
        image = "/".join(row[::-1] for row in text.split("/"))
        return (image, True) if image < text else (text, False)

    # ---- the file -------------------------------------------------------------------------------

    def _keep_result(self, key: str, result: int) -> None:
        self._results[key] = result
        self.solved += 1
        self._append(f"{key} {result:+d}")

    def _keep_scores(self, key: str, scores: tuple[int | None, ...]) -> None:
        self._scores[key] = scores
        self._results.setdefault(key, sign(max(s for s in scores if s is not None)))
        self.solved += 1
        self._append(scores_line(key, scores))

    def _append(self, line: str) -> None:
        if self._cache is not None:
            # One write of a short line to a file opened for appending: others may do so too.
            with self._cache.open("a") as file:
                file.write(line + "\n")

    def _read(self, path: Path) -> None:
        """Lines that a killed process left torn, or that are no entry, are passed over."""
        for line in path.read_text(errors="replace").splitlines():
            key, *fields = line.split()[:9] or [""]
            try:
                if len(fields) == 1:
                    self._results[key] = sign(int(fields[0]))
                elif len(fields) == COLUMNS and not key.startswith("#"):
                    scores = read_scores(fields)
                    self._scores[key] = scores
                    self._results[key] = sign(max(s for s in scores if s is not None))
            except ValueError:
                continue


def scores_line(position: str, scores: Iterable[int | None]) -> str:
    """A position with the score of each column; full columns are `-`."""
    return " ".join([position, *("-" if score is None else str(score) for score in scores)])


def read_scores(fields: Sequence[str]) -> tuple[int | None, ...]:
    """What `scores_line` wrote after the position."""
    return tuple(None if field == "-" else int(field) for field in fields)


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"results cannot be kept in '{path}': {error.strerror}") from None
