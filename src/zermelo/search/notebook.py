"""A search that is watched in a notebook: the board and the table, drawn anew while it runs.

`live.subscribe(NotebookView())`, or `search.run(state, seconds=10, progress=NotebookView())`. Needs
IPython, which a notebook has.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from zermelo.search.result import SearchResult

FRAMES_PER_SECOND = 4.0


class NotebookView:
    """A listener of a `LiveSearch`, or the `progress` of a `Search`: redraws one cell's output.

    `display` is IPython's function of that name: called with an object and `display_id=True` it
    returns a handle whose `update` shows another object in the same place.
    """

    def __init__(
        self,
        frames_per_second: float = FRAMES_PER_SECOND,
        display: Callable[..., Any] | None = None,
    ) -> None:
        if display is None:
            from IPython.display import display
        self._display: Any = display
        self._pause = 1.0 / frames_per_second  # seconds between two frames
        self._handle: Any = None
        self._drawn = 0.0

    def __call__(self, result: SearchResult) -> None:
        """Draws the search so far, unless the last frame is too young; its end in any case."""
        now = time.perf_counter()
        if result.final or self._handle is None or now - self._drawn >= self._pause:
            self.show(result)
            self._drawn = now

    def show(self, result: SearchResult) -> None:
        """Draws a result at once; the last one, say, when the search has ended."""
        picture = _Picture(result._repr_html_())
        if self._handle is None:
            self._handle = self._display(picture, display_id=True)
        else:
            self._handle.update(picture)


class _Picture:
    """HTML as it was when it was made: a result of a running search goes on changing."""

    def __init__(self, html: str) -> None:
        self._html = html

    def _repr_html_(self) -> str:
        return self._html
