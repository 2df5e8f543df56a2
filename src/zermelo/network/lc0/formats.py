"""What an lc0 file says of its network's form, older files brought up to date as lc0 does.

Owns the numbers of lc0's `NetworkFormat` and the refusals by name. Knows no weights.
"""

from __future__ import annotations

from dataclasses import dataclass

from zermelo.errors import UserError
from zermelo.network.wire import Message

# NetworkStructure
CLASSICAL, SE, CLASSICAL_HEADS, SE_HEADS, ONNX, BODY, BODY_HEADS, LEGACY_BODY_HEADS = (
    *range(1, 8),
    134,
)
POLICY_CONV, POLICY_ATTENTION = 2, 3
VALUE_WDL = 2
NO_EMBEDDING, PE_MAP, PE_DENSE = 0, 1, 2
# Fields of the message `Weights` that say what old files do not.
ENCODER, SMOLGEN_W, VALUE_HEADS, POLICY_HEADS = 27, 35, 44, 45

# Planes, castling rights as rooks; the others are canonical: 3, 4 with the clock in hundredths, 5
# with repeated boards only, 132 and 133 those for armageddon.
CLASSICAL_PLANES, ROOK_PLANES, TURNED_PLANES = 1, 2, (3, 4, 5, 132, 133)
# ActivationFunction; 0 is the network's own.
_ACTIVATIONS = {
    1: "mish",
    2: "relu",
    3: "none",
    4: "tanh",
    5: "sigmoid",
    6: "selu",
    7: "swish",
    8: "relu2",
}
# Networks for lc0 0.33 and later say the encoding in every layer.
PER_LAYER = (0, 33)


@dataclass(frozen=True)
class Format:
    """The enums of `NetworkFormat`, older files brought up to date; activations by our names."""

    input: int
    body: bool  # attention
    policy: int
    value: int
    moves_left: int
    dense_position: bool  # PE_DENSE, else PE_MAP
    activation: str
    feed_activation: str
    smolgen_activation: str


def read_format(net: Message, weights: Message, name: str) -> Format:
    """Of a whole file and its weights; what we do not compute is refused by name."""
    form, version = net.message(4), net.message(3)
    if form.integer(1) != 1 and (version.integer(1), version.integer(2)) < PER_LAYER:
        raise UserError(f"{name}: its weights are neither LINEAR16 nor encoded layer by layer")
    found = _corrected(form.message(2), weights)
    structure = found[3]
    if structure == ONNX:
        raise UserError(f"{name}: lc0 networks that hold an ONNX model are not supported")
    if structure not in (CLASSICAL_HEADS, SE_HEADS, BODY, BODY_HEADS):
        raise UserError(f"{name}: lc0 networks of structure {structure} are not known")
    _check_enums(found, name)
    own = "mish" if found[7] else "relu"
    chosen = {0: own, **_ACTIVATIONS}
    body = structure in (BODY, BODY_HEADS)
    return Format(
        input=found[1],
        body=body,
        policy=found[4],
        value=found[5],
        moves_left=found[6],
        dense_position=found[10] == PE_DENSE,
        activation=own,
        # Attention policies on towers are older than these fields.
        feed_activation=chosen[found[9]] if body else "selu",
        smolgen_activation=chosen[found[8]] if body else "none",
    )


def _corrected(network: Message, weights: Message) -> dict[int, int]:
    """The enums by field, as lc0's loader corrects those of older files."""
    found = {field: network.integer(field) for field in range(1, 11)}
    found[1] = found[1] or 1
    if not network.fields:
        found[3] = CLASSICAL
    if found[3] in (CLASSICAL, SE):  # from before the heads had formats
        found |= {3: found[3] + 2, 4: 1, 5: 1}
    elif found[3] == SE_HEADS and ENCODER in weights:
        found[3] = BODY
        if SMOLGEN_W in weights:
            found |= {9: 8, 8: 7}
    elif found[3] == LEGACY_BODY_HEADS:
        found[3] = BODY_HEADS
    if found[3] == BODY:
        if POLICY_HEADS in weights and VALUE_HEADS in weights:
            found |= {3: BODY_HEADS, 10: PE_DENSE}
        elif 10 not in network:
            found[10] = PE_MAP
    return found


def _check_enums(found: dict[int, int], name: str) -> None:
    if found[1] not in (CLASSICAL_PLANES, ROOK_PLANES, *TURNED_PLANES):
        raise UserError(f"{name}: its input format {found[1]} is unknown")
    if found[5] == 3:
        raise UserError(f"{name}: lc0 networks with the value format PARAM are not supported")
    for field, what, known in (
        (4, "policy format", (1, POLICY_CONV, POLICY_ATTENTION)),
        (5, "value format", (1, VALUE_WDL)),
        (6, "moves-left format", (0, 1)),
        (7, "activation", (0, 1)),
        (8, "smolgen activation", (0, *_ACTIVATIONS)),
        (9, "feed-forward activation", (0, *_ACTIVATIONS)),
        (10, "input embedding", (NO_EMBEDDING, PE_MAP, PE_DENSE)),
    ):
        if found[field] not in known:
            raise UserError(f"{name}: its {what} {found[field]} is unknown")
    if found[3] in (BODY, BODY_HEADS) and found[4] != POLICY_ATTENTION:
        kind = "convolutional" if found[4] == POLICY_CONV else "classical"
        raise UserError(f"{name}: an attention body with a {kind} policy is not supported")
