"""Whether a network's weights run away (T16), by the lengths that the metrics have of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from zermelo.doctor.evidence import RECENT, Evidence
from zermelo.doctor.finding import Finding, unknown, verdict
from zermelo.runs.status import number

# Growth within RECENT iterations. Healthy networks grew by 1.2 as a whole, from the first iteration
# on; at fifty times the usual learning rate by 4 to 40. Single layers are allowed a little more.
MOST_GROWTH = 3.0
MOST_LAYER_GROWTH = 4.0
FIRST = 2  # iterations in which a layer that begins almost at 0 may grow as it likes
STILL = 0.5  # of the length that it ran to; shorter, and the network is back


class Growth(NamedTuple):
    """The most that a length grew within RECENT iterations."""

    factor: float
    to: float
    iteration: int  # at its end


def norms(evidence: Evidence) -> Finding:
    """Whether the weights of the network or of one of its layers grow without end."""
    name = "norms"
    entries = [e for e in evidence.metrics if number(e, "train", "weight_norm") is not None]
    if not entries:
        return unknown(name, "the metrics have no lengths of weights (train.layer_norms)")
    iterations = [int(entry["iteration"]) for entry in entries]
    whole = [(number(e, "train", "weight_norm") or 0.0) for e in entries]
    before = number(entries[0], "train", "weight_norm_before") or whole[0]
    growth = most_growth([before, *whole], [iterations[0] - 1, *iterations])
    layer, worst = worst_layer([e["train"].get("layers") for e in entries[FIRST:]], iterations)
    network_ill = growth.factor > MOST_GROWTH and whole[-1] > STILL * growth.to
    layer_ill = worst.factor > MOST_LAYER_GROWTH
    sentence = (
        f"within {RECENT} iterations the weights grew at most {growth.factor:.2g} fold as a whole, "
        f"until iteration {growth.iteration}"
    )
    if layer:
        sentence += (
            f", and those of a layer {worst.factor:.2g} fold ('{layer}', until iteration "
            f"{worst.iteration})"
        )
    return verdict(
        name,
        network_ill or layer_ill,
        max(growth.factor, worst.factor) if layer_ill else growth.factor,
        sentence,
        "The weights run away: lower train.learning_rate (0.002 is usual with adamw), or raise "
        "train.weight_decay; begin again from a checkpoint before that with --from.",
        weight_norm=whole[-1],
        layer_growth=worst.factor,
    )


def most_growth(lengths: list[float], iterations: list[int]) -> Growth:
    """Over all stretches of RECENT iterations, and shorter ones."""
    found = Growth(1.0, lengths[0] if lengths else 0.0, iterations[0] if iterations else 0)
    for end in range(1, len(lengths)):
        least = min(x for x in lengths[max(0, end - RECENT) : end + 1])
        factor = lengths[end] / least if least > 0 else 1.0
        if factor > found.factor:
            found = Growth(factor, lengths[end], iterations[end])
    return found


def worst_layer(tables: list[Any], iterations: list[int]) -> tuple[str, Growth]:
    """The layer that grew most and has not shrunk back; empty without one."""
    chosen, worst = "", Growth(1.0, 0.0, 0)
    tables = [table if isinstance(table, Mapping) else {} for table in tables]
    for layer in tables[-1] if tables else ():
        lengths = [number(table, layer, "weight") for table in tables]
        known = [(x, i) for x, i in zip(lengths, iterations[FIRST:], strict=True) if x]
        growth = most_growth([x for x, _ in known], [i for _, i in known])
        back = not known or known[-1][0] < STILL * growth.to
        if growth.factor > worst.factor and not back:
            chosen, worst = str(layer), growth
    return chosen, worst
