"""How a new run begins with the network of another: which options follow from it, what is refused.

Reads only. The loop makes the network; its samples, its optimiser and its window are new.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from zermelo.config import RunConfig, duration_text
from zermelo.config.run_config import merged
from zermelo.errors import UserError
from zermelo.network import architecture_for
from zermelo.network.chosen import options_of
from zermelo.runs.directory import Run
from zermelo.train.origin import Origin

# Ramps for networks that know nothing yet.
NO_RAMPS: dict[str, dict[str, Any]] = {
    "train": {"value_blend_ramp": 0.0},
    "selfplay": {"progressive_fraction": 0.0},
}


def begin_with(
    reference: str, game_name: str, asked: Mapping[str, Any]
) -> tuple[Origin, dict[str, Any]]:
    """The network, and the options that follow from it, by section.

    `asked` are a person's own options by section; where they mean another network than this, a
    UserError names both.
    """
    config = RunConfig.from_tables({"game": {"name": game_name}})
    game = config.game()
    origin, weights = Origin.find(reference, game)
    follow = options_of(weights.architecture, game, weights.name)
    wanted = merged({"network": follow}, {"network": asked.get("network", {})})
    there = replace(weights.architecture, game=game.name)
    meant = architecture_for(game, config.changed(wanted).network)
    if meant != there:
        raise UserError(
            f"{origin.title} has a network of {there.summary()}, but the options ask for "
            f"{meant.summary()}"
        )
    origin.network(game)  # or it is said now why it cannot be trained on
    ramps = {section: {**table, **asked.get(section, {})} for section, table in NO_RAMPS.items()}
    return origin, merged(ramps, wanted)


def refuse_other_beginning(run: Run, reference: str | None) -> None:
    """A run that is there has begun already; the same command may be given again to go on."""
    if reference is None:
        return
    origin = run.origin
    if origin is None or not origin.is_meant_by(reference):
        began = "from nothing" if origin is None else f"with {origin.title}"
        raise UserError(
            f"'{run.path}' has begun already, {began}: --from is for a new run, so name another "
            "directory with --run"
        )


def tell_beginning(run: Run, origin: Origin, tell: Callable[[str], None]) -> None:
    """Says in the log and to the person what a new run begins with."""
    before = f", trained for {duration_text(origin.seconds)} before" if origin.seconds else ""
    note = f"begins with the network of {origin.title}, sha256 {origin.sha256[:16]}{before}"
    run.log(note.replace(origin.sha256[:16], origin.sha256))
    tell(note)
