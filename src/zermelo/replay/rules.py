"""What every row of samples must keep to. Data from a file is not trusted before it was here.

A column's own rule stands where the column is declared; here are those that need several columns.
Every rule is one pass over a column; the message names the first row that breaks one.
"""

from __future__ import annotations

import numpy as np

from zermelo.replay.columns import Array, Bounds, ShardError, check_rules, refuse
from zermelo.replay.records import DRAWN, GameRecords
from zermelo.replay.samples import (
    DRAW_SCALE,
    FULL,
    NO_ACTION,
    VALUE_SCALE,
    WHOLE_SHARE,
    Samples,
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
    _check_played(samples)
    check_rules(samples, Bounds(schema, iterations))
    _check_value_and_draw(samples)
    _check_observations(samples.observations, schema.layout)


def check_records(records: GameRecords, samples: Samples, schema: Schema) -> None:
    """Raises ShardError; the samples are of the recorded games, if any are recorded."""
    if not len(records):
        return
    check_rules(records, Bounds(schema))
    numbers = samples.games
    refuse(numbers >= len(records), numbers, "games", f"below {len(records)}")
    plies, lengths = samples.plies, records.game_lengths[numbers]
    refuse(plies > lengths, plies, "plies", "within its game")
    drawn = records.game_outcomes[numbers] == DRAWN
    refuse((samples.results == 0) != drawn, samples.results, "results", "how its game ended")


def _check_policy(samples: Samples, schema: Schema) -> None:
    counts, actions = samples.policy_counts, samples.policy_actions
    refuse(counts < 1, counts, "policy_counts", "at least 1")
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
    refuse(full & (sums != WHOLE_SHARE), sums, "the sum of policy_shares", str(WHOLE_SHARE))
    refuse(~full & (sums != 0), sums, "the sum of policy_shares", "0, though it has no policy")


def _check_played(samples: Samples) -> None:
    """What was played is one of the row's actions, or not known."""
    legal = samples.policy_actions == np.repeat(samples.played, samples.policy_counts)
    known = np.logical_or.reduceat(legal, samples.starts()) | (samples.played == NO_ACTION)
    refuse(~known, samples.played, "played", "one of its legal actions")


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
