"""Settings behind a name: `hex?size=7&swap=on` is the name `hex` with two settings.

Knows neither games nor players; both are looked up by such a text. Every refusal is one sentence
that says what is allowed.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Any

from zermelo.errors import UserError

Value = bool | int | float | str | None

_SWITCH = {"on": True, "true": True, "yes": True, "1": True}
_SWITCH |= {"off": False, "false": False, "no": False, "0": False}


@dataclass(frozen=True)
class Setting:
    """One keyword of a factory: its name, its default and what it may be."""

    name: str
    default: Any
    kind: type = bool
    choices: tuple[Value, ...] = ()  # if there are any, nothing else is allowed
    low: float | None = None
    high: float | None = None

    def allowed(self) -> str:
        """What may be given, as the end of a sentence."""
        if self.choices:
            return " or ".join(str(choice) for choice in self.choices)
        if self.kind is bool:
            return "on or off"
        if self.kind is str:
            return "text"
        number = "a whole number" if self.kind is int else "a number"
        if self.low is not None and self.high is not None:
            return f"{number} from {self.low} to {self.high}"
        return f"{number} from {self.low} up" if self.low is not None else number

    def default_text(self) -> str:
        """The default as it would be typed."""
        if isinstance(self.default, bool):
            return "on" if self.default else "off"
        return "none" if self.default is None else str(self.default)

    def parse(self, text: str, owner: str) -> Value:
        """The value that `text` spells for the keyword of `owner`."""
        value: Value = None
        try:
            value = _SWITCH[text.lower()] if self.kind is bool else self.kind(text)
        except (KeyError, ValueError):
            good = False
        else:
            good = self._permits(value)
        if not good:
            raise UserError(f"{owner}: {self.name} must be {self.allowed()}, not '{text}'")
        return value

    def _permits(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        if self.kind is int or self.kind is float:
            above = self.low is None or value >= self.low  # False for nan
            return above and (self.high is None or value <= self.high)
        return True


def split_spec(spec: str) -> tuple[str, dict[str, str]]:
    """The name and the settings as they were typed."""
    name, _, query = spec.strip().partition("?")
    given: dict[str, str] = {}
    for part in query.split("&") if query else ():
        key, equals, value = part.partition("=")
        if not key or not equals or not value:
            raise UserError(f"'{spec}': '{part}' should look like size=7")
        if key in given:
            raise UserError(f"'{spec}': '{key}' is given twice")
        given[key] = value
    return name, given


def parse_settings(
    owner: str, settings: Iterable[Setting], given: Mapping[str, str]
) -> dict[str, Value]:
    """Keyword arguments for the factory called `owner`."""
    known = {setting.name: setting for setting in settings}
    for key in given:
        if key not in known:
            if not known:
                raise UserError(f"{owner} has no parameters, so '{key}' cannot be set")
            listing = ", ".join(f"{s.name} ({s.allowed()})" for s in known.values())
            raise UserError(f"{owner} has no parameter '{key}'; it has {listing}")
    return {key: known[key].parse(text, owner) for key, text in given.items()}


def settings_of(factory: Callable[..., Any], skip: Collection[str] = ()) -> tuple[Setting, ...]:
    """The keywords of any factory, from its signature: annotated, or typed by their defaults."""
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):
        return ()
    annotated = factory.__init__ if isinstance(factory, type) else factory  # type: ignore[misc]
    try:
        hints = typing.get_type_hints(annotated)
    except (NameError, TypeError):
        hints = {}
    found = []
    for parameter in parameters:
        if parameter.name in skip or parameter.kind not in (
            parameter.POSITIONAL_OR_KEYWORD,
            parameter.KEYWORD_ONLY,
        ):
            continue
        kind = _plain_type(hints.get(parameter.name), parameter.default)
        if kind is not None:
            found.append(Setting(parameter.name, parameter.default, kind))
    return tuple(found)


def _plain_type(hint: Any, default: Any) -> type | None:
    """bool, int, float or str if a text can spell the argument, else None."""
    options = [option for option in (typing.get_args(hint) or (hint,)) if option is not NoneType]
    for kind in (bool, int, float, str):
        if options == [kind] or (hint is None and type(default) is kind):
            return kind
    return None
