"""One small network of every lc0 family, by name: what `lc0_files` and `lc0_attention` are told."""

from __future__ import annotations

from typing import Any

from lc0_attention import RELU2, SELU, SWISH

TOWERS: dict[str, dict[str, Any]] = {
    "squeeze-and-excitation, conv policy, WDL": {},
    "classical": {"se": 0, "policy": 1, "value": 1, "norm": "old"},
    "classical, before heads had formats": {"se": 0, "policy": 1, "value": 1, "structure": 1},
    "mish": {"activation": 1},
    "moves left": {"moves_left": 1, "policy": 1},
    "folded norms": {"norm": "folded"},
    "castling rights as rooks": {"inputs": 2},
    "16-bit floats": {"encoding": 2},
    "bfloat16": {"encoding": 3},
    "32-bit floats": {"encoding": 4},
}
FAMILIES: dict[str, dict[str, Any]] = {
    "position table": {},
    "position table, gates, smolgen": {
        "gates": True,
        "smolgen": True,
        "feed": RELU2,
        "smol": SWISH,
    },
    "dense position, smolgen, mish": {"embedding": "dense", "smolgen": True, "activation": 1},
    "several heads": {"embedding": "dense", "several": True, "gates": True, "feed": RELU2},
    "several heads in a file of one": {"embedding": "dense", "several": True, "structure": 6},
    "several heads, legacy": {"embedding": "dense", "several": True, "structure": 134},
    "embedding not said": {"unsaid": (10,)},
    "an old file": {"smolgen": True, "structure": 4, "unsaid": (8, 9, 10)},
    "a tower before it": {"blocks": 2, "gates": True},
    "a tower before it, dense position": {"blocks": 1, "embedding": "dense", "smolgen": True},
    "a tower with an attention policy": {"body": False, "blocks": 2, "moves_left": 1},
    "a tower, encoders in the policy": {"body": False, "blocks": 1, "policy_encoders": 2},
    "encoders in the policy": {"policy_encoders": 2, "smolgen": True, "feed": SELU},
    "moves left, scalar": {"moves_left": 1, "value": 1},
    "attention, 16-bit floats": {"encoding": 2, "embedding": "dense", "several": True},
    "attention, bfloat16": {"encoding": 3},
    "attention, 32-bit floats": {"encoding": 4, "smolgen": True},
}
