"""Settings as they are chosen one after the other, each with a sentence that says why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zermelo.options import value_text

Settings = dict[str, dict[str, Any]]
Given = Mapping[str, Mapping[str, Any]]  # values of a run file's sections, in their own types


class Choices:
    """Settings as they are chosen, with a sentence for each; what was given is not chosen."""

    def __init__(self, given: Given) -> None:
        self.given = given
        self.settings: Settings = {}
        self.reasons: list[str] = []

    def value(self, section: str, key: str, otherwise: Any) -> Any:
        """What was given."""
        return self.given.get(section, {}).get(key, otherwise)

    def choose(self, section: str, why: str, **values: Any) -> None:
        """Takes those that were not given, for this reason."""
        given = self.given.get(section, {})
        own = {key: value for key, value in values.items() if key not in given}
        self.settings.setdefault(section, {}).update(own)
        if own:
            (first, value), *others = own.items()
            listing = [f"{section}.{first} is {value_text(value)}"]
            listing += [f"{section}.{key} {value_text(value)}" for key, value in others]
            self.reasons.append(f"{', '.join(listing)}: {why}")
        for key in values:
            if key in given:
                self.reasons.append(f"{section}.{key} is {value_text(given[key])}: as it was set")
