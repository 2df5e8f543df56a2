"""Whether what a network learns of values holds for games that training never sees.

The trainer measures it in every iteration, so this check needs no network. `overfitting` asks the
network itself, and tells what is lost of the policy too.
"""

from __future__ import annotations

import math

from zermelo.doctor.evidence import LEAST_ITERATIONS, Evidence
from zermelo.doctor.finding import Finding, unknown, verdict
from zermelo.runs.status import number

KNOWS_NOTHING = math.log(3)  # cross-entropy of saying that win, draw and loss are equally likely
MARGIN = 0.05  # beyond it; healthy runs may begin above, and are below after three iterations
LEAST_SAMPLES = 500  # kept out of training


def values(evidence: Evidence) -> Finding:
    """Ill: in games kept out the value is worse than that of a network that knows nothing."""
    name = "held-out values"
    if evidence.iteration <= LEAST_ITERATIONS:
        return unknown(name, f"only {evidence.iteration} iterations are finished")
    newest = evidence.metrics[-1]
    samples = number(newest, "train", "held_out", "samples") or 0
    loss = number(newest, "train", "held_out", "value_loss")
    learned = number(newest, "train", "training", "value_loss")
    if loss is None or learned is None or samples < LEAST_SAMPLES:
        return unknown(name, f"only {samples:.0f} samples are kept out of training")
    return verdict(
        name,
        loss > KNOWS_NOTHING + MARGIN,
        loss,
        f"the loss of the value is {learned:.2f} in training and {loss:.2f} in games kept out; "
        f"a network that knows nothing has {KNOWS_NOTHING:.2f}",
        "It memorises who won: set train.value_blend to 0.5 and train.value_blend_ramp to 0, lower "
        "train.reuse, or raise loop.samples_per_iteration and replay.window_start.",
        training=learned,
    )
