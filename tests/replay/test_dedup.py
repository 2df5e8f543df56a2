"""Merging equals a dictionary, whatever the hash does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from make_samples import random_samples

from zermelo.replay import AUDIT, FULL, PROVEN, Merged, Samples, merge
from zermelo.replay import dedup as dedup_module

ACTIONS = [[0, 2, 3], [0, 2, 4], [1], [1, 5]]


def row_strategy() -> Any:
    return st.fixed_dictionaries(
        {
            "words": st.sampled_from([(0, 0), (0, 1), (1, 0), (2**63, 2**63), (2**64 - 1, 7)]),
            "actions": st.sampled_from(ACTIONS),
            "symmetries": st.sampled_from([1, 1, 2]),
            "full": st.booleans(),
            "other_flags": st.sampled_from([0, AUDIT, PROVEN]),
            "split": st.floats(0, 1),
            "result": st.integers(-1, 1),
            "value": st.integers(-32767, 32767),
            "draw": st.floats(0, 1),
            "left": st.integers(0, 65535),
        }
    )


def samples_of(rows: list[dict[str, Any]]) -> Samples:
    shares: list[int] = []
    for row in rows:
        first = int(row["split"] * 65535)
        own = [first, *[0] * (len(row["actions"]) - 1)]
        own[-1] += 65535 - first
        shares += own if row["full"] else [0] * len(own)
    count = len(rows)
    return Samples.from_columns(
        {
            "observations": np.array([row["words"] for row in rows], np.uint64).reshape(count, 2),
            "policy_counts": [len(row["actions"]) for row in rows],
            "policy_actions": [action for row in rows for action in row["actions"]],
            "policy_shares": shares,
            "results": [row["result"] for row in rows],
            "values": [row["value"] for row in rows],
            "draws": [int(row["draw"] * (1 - abs(row["value"]) / 32767) * 65535) for row in rows],
            "plies": [0] * count,
            "plies_left": [row["left"] for row in rows],
            "iterations": [0] * count,
            "games": range(count),
            "symmetries": [row["symmetries"] for row in rows],
            "flags": [row["full"] * FULL | row.get("other_flags", 0) for row in rows],
        }
    )


def slow_merge(samples: Samples, rows: list[int]) -> dict[bytes, dict[str, Any]]:
    """One dictionary entry per position, its targets added up one sample at a time."""
    groups: dict[bytes, list[int]] = {}
    for row in rows:
        groups.setdefault(key_of(samples, row), []).append(row)
    merged = {}
    for key, members in groups.items():
        policies = [policy_of(samples, row) for row in members if samples.flags[row] & FULL]
        value = np.mean([samples.values[row] / 32767 for row in members])
        draw = np.mean([samples.draws[row] / 65535 for row in members])
        results = [int(samples.results[row]) for row in members]
        known = [left for row in members if (left := int(samples.plies_left[row]))]
        merged[key] = {
            "count": len(members),
            "policy": np.mean(policies, axis=0) if policies else None,
            "result": [results.count(result) / len(members) for result in (1, 0, -1)],
            "root": [(1 - draw + value) / 2, draw, (1 - draw - value) / 2],
            "left": np.mean(known or [0]),
        }
    return merged


def key_of(samples: Samples, row: int) -> bytes:
    actions = samples.policy_actions[entries_of(samples, row)]
    parts = (samples.observations[row], samples.symmetries[row].astype(np.uint8), actions)
    return b"".join(part.tobytes() for part in parts)


def entries_of(samples: Samples, row: int) -> slice:
    start = int(samples.policy_counts[:row].sum())
    return slice(start, start + int(samples.policy_counts[row]))


def policy_of(samples: Samples, row: int) -> np.ndarray:
    return samples.policy_shares[entries_of(samples, row)] / 65535


def merged_policy(merged: Merged, position: int) -> np.ndarray:
    row = merged.rows[position]
    if merged.averaged[position] < 0:
        start = merged.starts[position]
        return merged.source.policy_shares[start : start + merged.source.policy_counts[row]] / 65535
    start = merged.averaged[position]
    return merged.shares[start : start + merged.source.policy_counts[row]]


def assert_equal_to_slow(merged: Merged, rows: list[int]) -> None:
    samples = merged.source
    expected = slow_merge(samples, rows)
    assert len(merged) == len(expected)
    for position, row in enumerate(merged.rows.tolist()):
        entry = expected.pop(key_of(samples, row))
        assert merged.counts[position] == entry["count"]
        assert merged.has_policy[position] == (entry["policy"] is not None)
        if entry["policy"] is not None:
            assert merged_policy(merged, position) == pytest.approx(entry["policy"], abs=1e-6)
        assert merged.result_wdl[position] == pytest.approx(entry["result"], abs=1e-6)
        assert merged.root_wdl[position] == pytest.approx(entry["root"], abs=1e-4)
        assert merged.root_wdl[position].sum() == pytest.approx(1)
        assert merged.plies_left[position] == pytest.approx(entry["left"], rel=1e-6)
        assert merged.weight[position] == pytest.approx(np.log2(1 + entry["count"]))
        assert merged.starts[position] == entries_of(samples, row).start
    assert not expected


@pytest.mark.technique("T4")
@settings(deadline=None, max_examples=150)
@given(st.lists(row_strategy(), max_size=40), st.data())
def test_merging_equals_a_dictionary(rows: list[dict[str, Any]], data: st.DataObject) -> None:
    samples = samples_of(rows)
    assert_equal_to_slow(merge(samples), list(range(len(rows))))
    chosen = data.draw(st.lists(st.integers(0, max(0, len(rows) - 1)), unique=True))
    chosen = [row for row in sorted(chosen) if row < len(rows)]
    assert_equal_to_slow(merge(samples, np.array(chosen, np.int64)), chosen)


@settings(deadline=None, max_examples=50)
@given(st.lists(row_strategy(), min_size=1, max_size=30))
def test_hash_collisions_merge_nothing(rows: list[dict[str, Any]]) -> None:
    samples = samples_of(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dedup_module, "hash_words", lambda words: np.zeros(len(words), np.uint64))
        assert_equal_to_slow(merge(samples), list(range(len(rows))))


@pytest.mark.parametrize("block_bytes", [1, 100, 1 << 20])
def test_blocks_of_any_size_give_the_same(
    block_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = random_samples("connect4", games=30, seed=3)
    monkeypatch.setattr(dedup_module, "BLOCK_BYTES", block_bytes)
    assert_equal_to_slow(merge(samples), list(range(len(samples))))


def test_real_games_have_duplicates_to_merge() -> None:
    samples = random_samples("tictactoe", games=50)
    merged = merge(samples)
    assert len(merged) < 0.6 * len(samples)
    assert merged.samples == len(samples)
    assert int(merged.counts.max()) == 50  # the initial position


def test_words_that_differ_in_few_bits_have_different_hashes() -> None:
    rng = np.random.default_rng(1)
    words = np.zeros((129, 15), np.uint64)
    for bit in range(64):
        words[1 + bit, 3] = 1 << bit
        words[65 + bit, 4] = 1 << bit
    both = np.repeat(words, 129, axis=0) ^ np.tile(words, (129, 1))
    unique = np.unique(both, axis=0)
    assert len(np.unique(dedup_module.hash_words(unique))) == len(unique)
    for size in (1, 3):
        many = rng.integers(0, 2**64, (20_000, size), np.uint64)
        before = many.copy()
        assert len(np.unique(dedup_module.hash_words(many))) == len(many)
        assert np.array_equal(many, before)


@pytest.mark.technique("T4")
@pytest.mark.parametrize(
    ("kind", "weights"),
    [("log", [1, np.log2(3), 2]), ("constant", [1, 1, 1]), ("linear", [1, 2, 3])],
)
def test_the_weight_of_a_position_grows_as_chosen(kind: str, weights: list[float]) -> None:
    row = {"actions": [1], "symmetries": 1, "full": True, "split": 1, "result": 0}
    row |= {"value": 0, "draw": 0, "left": 0}
    words = [(1, 1), (2, 2), (2, 2), (3, 3), (3, 3), (3, 3)]
    samples = samples_of([row | {"words": each} for each in words])
    merged = merge(samples, weight=kind)
    order = np.argsort(merged.counts)
    assert merged.counts[order].tolist() == [1, 2, 3]
    assert merged.weight[order] == pytest.approx(weights)


def test_without_deduplication_every_sample_stays_on_its_own() -> None:
    samples = random_samples("tictactoe", games=20)
    merged = merge(samples, deduplicate=False)
    assert merged.rows.tolist() == list(range(len(samples)))
    assert merged.counts.tolist() == merged.weight.tolist() == [1] * len(samples)
    assert (merged.averaged == -1).all()
    assert merged.plies_left.tolist() == samples.plies_left.tolist()
    assert merged.has_policy.tolist() == ((samples.flags & FULL) != 0).tolist()
