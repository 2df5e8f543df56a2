"""What every row of samples must keep to. Data from a file is not trusted before it was here.

Every rule is one pass over a column; the message names the first row that breaks one.
"""

from __future__ import annotations

import numpy as np

from zermelo.replay.samples import (
    DRAW_SCALE,
    FLAGS,
    FULL,
    VALUE_SCALE,
    WHOLE_SHARE,
    Array,
    Samples,
    ShardError,
)
from zermelo.replay.schema import Layout, Schema


def check_rows(samples: Samples, schema: Schema, iterations: tuple[int, int] | None = None) -> None:
    """Raises ShardError; `iterations` are the first and last that the header speaks of."""
    if samples.words != schema.layout.words:
        raise ShardError(
            f"observations have {samples.words} words, those of {schema.game} "
            f"have {schema.layout.words}"
        )
    if not len(samples):
        return
    _check_policy(samples, schema)
    _refuse(np.abs(samples.results.astype(np.int16)) > 1, samples.results, "results", "-1, 0 or 1")
    _refuse(samples.values < -VALUE_SCALE, samples.values, "values", f"from -{VALUE_SCALE} up")
    _check_value_and_draw(samples)
    _refuse(
        (samples.symmetries < 1) | (samples.symmetries > schema.max_symmetries),
        samples.symmetries,
        "symmetries",
        f"from 1 to {schema.max_symmetries}",
    )
    _refuse((samples.flags & ~np.uint8(FLAGS)) != 0, samples.flags, "flags", f"made of {FLAGS}")
    if iterations is not None:
        low, high = iterations
        found = samples.iterations
        _refuse((found < low) | (found > high), found, "iterations", f"from {low} to {high}")
    _check_observations(samples.observations, schema.layout)


def _refuse(bad: Array, column: Array, name: str, allowed: str) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        raise ShardError(f"row {row}: {name} is {column[row]}, not {allowed}")


def _check_policy(samples: Samples, schema: Schema) -> None:
    counts, actions = samples.policy_counts, samples.policy_actions
    _refuse(counts < 1, counts, "policy_counts", "at least 1")
    starts = samples.starts()
    if (actions >= schema.num_actions).any():
        entry = int(np.argmax(actions >= schema.num_actions))
        row = int(np.searchsorted(starts, entry, "right")) - 1
        raise ShardError(f"row {row}: action {actions[entry]} is not below {schema.num_actions}")
    falls = actions[1:] <= actions[:-1]
    falls[starts[1:] - 1] = False  # a new row begins
    if falls.any():
        entry = int(np.argmax(falls))
        row = int(np.searchsorted(starts, entry, "right")) - 1
        raise ShardError(
            f"row {row}: action {actions[entry + 1]} stands after {actions[entry]}, "
            "but actions ascend and none comes twice"
        )
    sums = np.add.reduceat(samples.policy_shares, starts, dtype=np.int64)
    full = (samples.flags & FULL) != 0
    _refuse(full & (sums != WHOLE_SHARE), sums, "the sum of policy_shares", str(WHOLE_SHARE))
    _refuse(~full & (sums != 0), sums, "the sum of policy_shares", "0, though it has no policy")


def _check_value_and_draw(samples: Samples) -> None:
    """|value| + draw <= 1, where each was rounded to its own scale."""
    value = np.abs(samples.values.astype(np.int64)) * DRAW_SCALE
    total = value + samples.draws.astype(np.int64) * VALUE_SCALE
    bad = total > VALUE_SCALE * DRAW_SCALE + VALUE_SCALE + DRAW_SCALE
    if bad.any():
        row = int(np.argmax(bad))
        shown = total[row] / (VALUE_SCALE * DRAW_SCALE)
        raise ShardError(f"row {row}: |value| + draw is {shown:.6f}, not at most 1")


def _check_observations(words: Array, layout: Layout) -> None:
    spare = layout.words_per_plane * 64 - layout.cells
    if layout.binary_planes and spare:  # bits of a plane's last word beyond its last cell
        last = words[:, layout.words_per_plane - 1 : layout.binary_words : layout.words_per_plane]
        _refuse_rows((last >> np.uint64(64 - spare)) != 0, "a binary plane has a bit off the board")
    if len(layout.scalar_scales) % 8:
        last = words[:, layout.binary_words + layout.scalar_words - 1]
        unused = np.uint64(len(layout.scalar_scales) % 8 * 8)
        _refuse_rows((last >> unused)[:, None] != 0, "there is a byte behind the scalar planes")
    if layout.dense_planes:
        dense = np.ascontiguousarray(words[:, layout.binary_words + layout.scalar_words :])
        _refuse_rows(~np.isfinite(dense.view("<f4")), "an observation is not finite")
        if layout.dense_planes * layout.cells % 2:
            half = dense[:, -1:] >> np.uint64(32)
            _refuse_rows(half != 0, "there is a number behind the dense planes")


def _refuse_rows(bad: Array, reason: str) -> None:
    if bad.any():
        raise ShardError(f"row {int(np.argmax(bad.any(axis=1)))}: {reason}")
