"""Connect Four self-play with mctx and pgx: the peer of benchmarks/selfplay.py.

Usage (in an environment with `pip install jax mctx pgx`):
    python benchmarks/peers/mctx_pgx.py --blocks 5 --filters 64 --simulations 100 --seconds 10

Batched MCTS (mctx's AlphaZero policy) over pgx's vectorised games, compiled by XLA for the CPU. The
network is the same tower as ours: 3x3 convolutions, squeeze-and-excitation, dense heads. Prints one
JSON object with simulations per second.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import jax
import jax.numpy as jnp
import mctx
import pgx

ROWS, COLUMNS, PLANES, ACTIONS = 6, 7, 2, 7


def make_weights(key: Any, blocks: int, filters: int) -> dict[str, Any]:
    """Random numbers in the shapes of the network."""
    shapes: dict[str, tuple[int, ...]] = {"input": (3, 3, PLANES, filters)}
    for i in range(blocks):
        shapes[f"a{i}"] = shapes[f"b{i}"] = (3, 3, filters, filters)
        shapes[f"squeeze{i}"] = (filters, filters // 4)
        shapes[f"excite{i}"] = (filters // 4, 2 * filters)
    shapes["policy_conv"] = shapes["value_conv"] = (1, 1, filters, 32)
    shapes["policy"] = (32 * ROWS * COLUMNS, ACTIONS)
    shapes["hidden"] = (32 * ROWS * COLUMNS, 128)
    shapes["value"] = (128, 3)
    keys = jax.random.split(key, len(shapes))
    return {
        name: 0.05 * jax.random.normal(k, shape)
        for k, (name, shape) in zip(keys, shapes.items(), strict=True)
    }


def conv(x: Any, kernel: Any) -> Any:
    """Same padding, channels last."""
    return jax.lax.conv_general_dilated(
        x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def forward(weights: dict[str, Any], blocks: int, observation: Any) -> tuple[Any, Any]:
    """Policy logits and value of [batch, rows, columns, planes]."""
    x = jax.nn.relu(conv(observation.astype(jnp.float32), weights["input"]))
    for i in range(blocks):
        y = jax.nn.relu(conv(x, weights[f"a{i}"]))
        y = conv(y, weights[f"b{i}"])
        pooled = jax.nn.relu(y.mean(axis=(1, 2)) @ weights[f"squeeze{i}"])
        gate, shift = jnp.split(pooled @ weights[f"excite{i}"], 2, axis=-1)
        y = jax.nn.sigmoid(gate)[:, None, None] * y + shift[:, None, None]
        x = jax.nn.relu(x + y)
    p = jax.nn.relu(conv(x, weights["policy_conv"])).reshape(len(x), -1) @ weights["policy"]
    v = jax.nn.relu(conv(x, weights["value_conv"])).reshape(len(x), -1) @ weights["hidden"]
    wdl = jax.nn.softmax(jax.nn.relu(v) @ weights["value"])
    return p, wdl[:, 0] - wdl[:, 2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--filters", type=int, default=64)
    parser.add_argument("--simulations", type=int, default=100)
    parser.add_argument("--games", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=10.0)
    given = parser.parse_args()
    env = pgx.make("connect_four")
    step = jax.vmap(env.step)
    weights = make_weights(jax.random.PRNGKey(0), given.blocks, given.filters)

    def recurrent(weights: Any, key: Any, action: Any, state: Any) -> tuple[Any, Any]:
        del key
        mover = state.current_player
        state = step(state, action)
        logits, value = forward(weights, given.blocks, state.observation)
        logits = jnp.where(state.legal_action_mask, logits, jnp.finfo(jnp.float32).min)
        reward = jnp.take_along_axis(state.rewards, mover[:, None], axis=1)[:, 0]
        value = jnp.where(state.terminated, 0.0, value)
        discount = jnp.where(state.terminated, 0.0, -1.0)
        return mctx.RecurrentFnOutput(
            reward=reward, discount=discount, prior_logits=logits, value=value
        ), state

    @jax.jit
    def move(weights: Any, key: Any, state: Any) -> Any:
        logits, value = forward(weights, given.blocks, state.observation)
        root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state)
        search_key, reset_key = jax.random.split(key)
        found = mctx.muzero_policy(
            weights,
            search_key,
            root,
            recurrent,
            given.simulations,
            invalid_actions=~state.legal_action_mask,
        )
        state = step(state, found.action)
        fresh = jax.vmap(env.init)(jax.random.split(reset_key, given.games))
        ended = state.terminated | state.truncated
        return jax.tree_util.tree_map(
            lambda a, b: jnp.where(ended.reshape(-1, *([1] * (a.ndim - 1))), b, a), state, fresh
        )

    key = jax.random.PRNGKey(1)
    state = jax.vmap(env.init)(jax.random.split(key, given.games))
    state = jax.block_until_ready(move(weights, key, state))  # compiles
    moves, started = 0, time.perf_counter()
    while time.perf_counter() - started < given.seconds:
        key, now = jax.random.split(key)
        state = jax.block_until_ready(move(weights, now, state))
        moves += given.games
    spent = time.perf_counter() - started
    print(json.dumps({"simulations_per_second": moves * given.simulations / spent}))


if __name__ == "__main__":
    main()
