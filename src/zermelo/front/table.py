"""A run's metrics as a table: one row per iteration, one column per figure.

Knows neither what the figures mean nor where they come from. NumPy always; pandas where it is
installed.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo.errors import UserError, nearest

SHOWN = 12  # columns of a summary
ROWS, WIDTH = 5, 100  # of one in text: the newest rows, and characters of a line


class MetricsTable:
    """`table["loss"]` is a column; `table.array` a structured array; `table.frame()` pandas'.

    A column is named by its place in the metrics, `train/training/loss`, or by the end of that if
    only one column ends so. What an iteration did not measure is nan.

    >>> table = MetricsTable([{"iteration": 1, "train": {"loss": 2.5}}])
    >>> table.columns, table["loss"].tolist()
    (('iteration', 'train/loss'), [2.5])
    """

    def __init__(self, entries: Iterable[Mapping[str, Any]], telling: Sequence[str] = ()) -> None:
        """`telling` are patterns of the columns that a summary shows first."""
        rows = [dict(_figures(entry, "")) for entry in entries]
        names = list(dict.fromkeys(name for row in rows for name in row))
        names.sort(key=lambda name: name != "iteration")  # which comes first; others stay
        kinds = [(name, np.int64 if name == "iteration" else np.float64) for name in names]
        self.array: NDArray[np.void] = np.zeros(len(rows), dtype=kinds)
        for name, kind in kinds:
            missing = 0 if kind is np.int64 else np.nan
            self.array[name] = [row.get(name, missing) for row in rows]
        told = [name for pattern in telling for name in names if fnmatchcase(name, pattern)]
        self._summed_up = list(dict.fromkeys([*names[:1], *told, *names]))[:SHOWN]

    @property
    def columns(self) -> tuple[str, ...]:
        """All names, `iteration` first."""
        return self.array.dtype.names or ()

    def __getitem__(self, name: str) -> NDArray[Any]:
        return np.asarray(self.array[self._column(name)])

    def __len__(self) -> int:
        return len(self.array)

    def __contains__(self, name: object) -> bool:
        return name in self.columns or len(self._ending(str(name))) == 1

    def frame(self) -> Any:
        """A pandas DataFrame by iteration; a UserError where pandas is not installed."""
        if importlib.util.find_spec("pandas") is None:
            raise UserError("a data frame needs the package 'pandas'; `array` needs none")
        table: Any = importlib.import_module("pandas").DataFrame(self.array)
        return table.set_index("iteration") if "iteration" in self.columns else table

    def __repr__(self) -> str:
        title = f"<MetricsTable, {len(self)} iterations, {len(self.columns)} columns>"
        return "\n".join([title, *self._summary()])

    def _repr_html_(self) -> str:
        names = self._summed_up
        head = "".join(f"<th>{name}</th>" for name in names)
        lines = (
            "".join(f"<td>{row[name]:,.4g}</td>" for name in names)  # of any number
            for row in self.array
        )
        return f"<table><tr>{head}</tr>" + "".join(f"<tr>{x}</tr>" for x in lines) + "</table>"

    def _summary(self) -> list[str]:
        """The newest rows, of the columns of a summary as many as a line has room for."""
        lines: list[str] = []
        for name in self._summed_up:
            cells = [name, *(f"{value:,.4g}" for value in self.array[name][-ROWS:])]
            width = max(map(len, cells))
            if lines and len(lines[0]) + 2 + width > WIDTH:
                break
            begun = [f"{line}  " for line in lines] or [""] * len(cells)
            lines = [line + f"{cell:>{width}}" for line, cell in zip(begun, cells, strict=True)]
        return lines

    def _column(self, name: str) -> str:
        if name in self.columns:
            return name
        found = self._ending(name)
        if len(found) == 1:
            return found[0]
        if found:
            raise UserError(f"several figures end in '{name}': {', '.join(found)}")
        raise UserError(f"there is no figure '{name}'; {nearest(name, self.columns)}")

    def _ending(self, name: str) -> list[str]:
        return [column for column in self.columns if column.endswith(f"/{name}")]


def _figures(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, float]]:
    """Numbers by the names of the tables that they are in."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _figures(value, f"{prefix}{name}/")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{prefix}{name}", value
