"""Which of an lc0 file's heads is which message, by lc0's names.

A file has one policy and one value head among its other weights, or several under names. Knows
where their layers are and not what they are.
"""

from __future__ import annotations

from dataclasses import dataclass

from zermelo.errors import UserError, nearest
from zermelo.network.lc0.formats import POLICY_HEADS, VALUE_HEADS
from zermelo.network.wire import Message

POLICIES = {"vanilla": 3, "optimistic": 4, "soft": 5, "opponent": 6}
VALUES = {"winner": 1, "q": 2, "st": 3}
DEFAULT_POLICY, DEFAULT_VALUE = "vanilla", "winner"

Dense = tuple[int, int]  # fields of weights and biases


@dataclass(frozen=True)
class PolicyHead:
    """The fields of a policy head in its message."""

    message: Message
    embed_weight: Message  # of a layer, which heads may share
    embed_bias: Message
    conv1: int = 10
    conv: int = 11
    query: Dense = (3, 4)
    key: Dense = (5, 6)
    promotion: int = 7
    encoders: int = 8
    heads: int = 9


@dataclass(frozen=True)
class ValueHead:
    """The fields of a value or moves-left head in its message."""

    message: Message
    conv: int = 11
    embed: Dense = (1, 2)
    hidden: Dense = (3, 4)
    out: Dense = (5, 6)


def chosen_heads(text: str) -> tuple[str, str]:
    """The policy head and the value head of a text such as "optimistic,q".

    >>> chosen_heads("q"), chosen_heads("soft,st")
    (('vanilla', 'q'), ('soft', 'st'))
    """
    policy, value = DEFAULT_POLICY, DEFAULT_VALUE
    for word in text.split(",") if text else ():
        if word in POLICIES:
            policy = word
        elif word in VALUES:
            value = word
        else:
            hint = nearest(word, [*POLICIES, *VALUES])
            raise UserError(f"lc0's networks have no head '{word}'; {hint}")
    return policy, value


def policy_head(weights: Message, chosen: str, name: str) -> PolicyHead:
    """The head of that name; `name` is the file's."""
    if POLICY_HEADS not in weights:
        _only(DEFAULT_POLICY, chosen, "policy", name)
        weight, bias = (weights.message(number) for number in (4, 5))
        return PolicyHead(weights, weight, bias, 11, 3, (17, 18), (19, 20), 22, 21, 24)
    several = weights.message(POLICY_HEADS)
    head = _one_of(several, POLICIES, chosen, "policy", name)
    parts = []
    for number, elsewhere in ((1, 4), (2, 5)):
        shared = several if number in several else None
        own = head if number in head else shared
        parts.append(own.message(number) if own else weights.message(elsewhere))
    return PolicyHead(head, parts[0], parts[1])


def value_head(weights: Message, chosen: str, name: str) -> ValueHead:
    """The head of that name; `name` is the file's."""
    if VALUE_HEADS not in weights:
        _only(DEFAULT_VALUE, chosen, "value", name)
        return ValueHead(weights, 6, (29, 30), (7, 8), (9, 10))
    return ValueHead(_one_of(weights.message(VALUE_HEADS), VALUES, chosen, "value", name))


def moves_head(weights: Message) -> ValueHead:
    """There is one at most."""
    return ValueHead(weights, 12, (31, 32), (13, 14), (15, 16))


def _only(default: str, chosen: str, what: str, name: str) -> None:
    if chosen != default:
        raise UserError(f"{name}: it has no {what} head '{chosen}', only {default}")


def _one_of(several: Message, known: dict[str, int], chosen: str, what: str, name: str) -> Message:
    present = [head for head, number in known.items() if number in several]
    if chosen in present:
        return several.message(known[chosen])
    if not present:
        raise UserError(f"{name}: it has no {what} head")
    raise UserError(f"{name}: it has no {what} head '{chosen}'; {nearest(chosen, present)}")
