"""Which trick matters: each option of the search on against off, as a match of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from zermelo.errors import UserError, nearest
from zermelo.games.protocol import Game
from zermelo.matches.contestants import add_settings, game_of, make_contestants
from zermelo.matches.match import MatchOptions, MatchResult, play_match
from zermelo.options import value_text
from zermelo.search import SearchOptions

Value = bool | int | float | str


@dataclass(frozen=True)
class Comparison:
    """Two searches that differ in one option, or in some that belong together."""

    option: str  # "solver", or "solver+auto_extend"
    first: dict[str, str]
    second: dict[str, str]

    @property
    def values(self) -> tuple[str, str]:
        """What differs, for a table."""
        sides = []
        for settings in (self.first, self.second):
            values = list(settings.values())
            sides.append(values[0] if len(set(values)) == 1 else "+".join(values))
        return sides[0], sides[1]


@dataclass(frozen=True)
class AblationRow:
    """One comparison and its match; figures are for the first value."""

    comparison: Comparison
    result: MatchResult

    @property
    def speed_ratio(self) -> float | None:
        """Simulations per second of the first value by those of the second; None if unknown."""
        first, second = self.result.speeds
        return first / second if first and second else None

    def to_dict(self) -> dict[str, Any]:
        """Plain values with stable keys, for JSON."""
        first, second = self.comparison.values
        head = {"option": self.comparison.option, "first_value": first, "second_value": second}
        return head | self.result.to_dict() | {"speed_ratio": self.speed_ratio}


def comparisons(text: str) -> list[Comparison]:
    """From `solver,fpu,turn_discount=1.0,solver+auto_extend`.

    A switch is compared on against off; a choice, its default with every other; a number, its
    default with AlphaZero's value. `=A:B` names the values to compare the default with.
    """
    found = []
    for item in filter(None, (part.strip() for part in text.split(","))):
        if "+" in item:
            found.append(_together(item))
        else:
            found += _alone(item)
    if not found:
        raise UserError("which options? Name some: --options solver,auto_extend,fpu")
    return found


def ablate(
    base: str,
    game: str | Game | None,
    pairs: Sequence[Comparison],
    options: MatchOptions,
    progress: Callable[[Comparison, MatchResult], None] | None = None,
) -> Iterator[AblationRow]:
    """Plays each comparison between two players that are `base` but for the option.

    A row comes as soon as its match is played; mistakes show before the first one. With a directory
    each match has its own in it, so an interrupted ablation goes on too.
    """
    matches = [[add_settings(base, pair.first), add_settings(base, pair.second)] for pair in pairs]
    for players in matches:
        make_contestants(players, game_of(players, game))
    for pair, players in zip(pairs, matches, strict=True):
        out = options.out and options.out / _folder(pair)

        def show(result: MatchResult, pair: Comparison = pair) -> None:
            if progress is not None:
                progress(pair, result)

        result = play_match(players, game, replace(options, out=out), show)
        yield AblationRow(pair, result)


def _folder(pair: Comparison) -> Path:
    first, second = pair.values
    return Path(f"{pair.option}-{first}-{second}")


def _option(name: str) -> dict[str, Any]:
    rows: dict[str, dict[str, Any]] = {row["name"]: row for row in SearchOptions.table()}
    if name not in rows:
        raise UserError(f"the search has no option '{name}'; {nearest(name, rows)}")
    return rows[name]


def _alone(item: str) -> list[Comparison]:
    """All comparisons of one option."""
    name, _, given = item.partition("=")
    row = _option(name)
    default = row["default"]
    if given:
        others = given.split(":")
    elif isinstance(default, bool):
        return [Comparison(name, {name: "on"}, {name: "off"})]
    elif row["choices"]:
        others = [choice for choice in row["choices"] if choice != default]
    else:
        others = [row["alphazero"]]
        if not _is_number(others[0]) or float(others[0]) == float(default):
            raise UserError(
                f"{name} is a number: say what its {value_text(default)} is to be compared with, "
                f"as in {name}=VALUE"
            )
    return [Comparison(name, {name: value_text(default)}, {name: other}) for other in others]


def _together(item: str) -> Comparison:
    """Several switches at once: all on against all off."""
    names = [name.strip() for name in item.split("+")]
    for name in names:
        if not isinstance(_option(name)["default"], bool):
            raise UserError(f"'{item}': only switches can be joined by +, and {name} is none")
    return Comparison(item, dict.fromkeys(names, "on"), dict.fromkeys(names, "off"))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
