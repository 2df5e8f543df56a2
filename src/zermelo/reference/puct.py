"""AlphaZero's tree search, whole, in plain Python: read it top to bottom.

The native core does the same thing much faster; `tests/differential` holds the two together, visit
for visit. So this file is the definition: where the order of additions or a tie matters, the order
here is the one that counts. It needs a game (the six methods of `zermelo.games.protocol`) and an
evaluator: a function `(game, state, actions) -> (logits, value)`, one logit per legal action, and a
value in [-1, 1] for the player to move.

One simulation has four steps:
  1. select    walk down from the root, always to the action with the best Q + U;
  2. expand    give the new position its legal actions;
  3. evaluate  ask the network once: a policy for those actions and a value;
  4. backup    add the value to every action on the way back to the root.
With `leaves_per_tree` above 1, so many simulations do their first steps before any of them is
evaluated, as they would for a network that answers many questions at once.

Perspective. A node's value sum belongs to the player who *chose* the action that leads to it, so a
parent compares its children without changing signs. The root has no such player; there it is the
root's own mover. The sign flips on the way up only where the player to move changes.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from zermelo.games.protocol import Game, Outcome, State
from zermelo.reference.settling import Settling

Evaluate = Callable[[Any, State, Sequence[int]], tuple[Sequence[float], float]]


@dataclass(frozen=True)
class Options:
    """The techniques that fit one page; names and defaults are those of `SearchOptions`."""

    c_puct: float = 1.5  # S2
    c_puct_factor: float = 0.0
    c_puct_base: float = 19652.0
    fpu: str = "zero"  # S3: zero, parent, reduced, loss
    fpu_root: str = "same"  # or one of the above
    fpu_reduction: float = 0.10
    virtual_loss: int = 1  # S4
    virtual_loss_kind: str = "loss"  # S22: loss, visit
    max_collisions: int = 1
    leaves_per_tree: int = 1
    dirichlet_epsilon: float = 0.25  # S7, used when noise is given
    min_root_visits: int = 0  # S9
    turn_discount: float = 0.99  # S10
    solver: bool = True  # S11
    auto_extend: bool = True  # S12
    repetition_draw: bool = True  # S13
    stop_gain: float = 0.0  # P9
    stop_interval: int = 100
    stop_minimum: int = 100


class Certain(NamedTuple):
    """A proven result for the player who chose the node: +1, 0 or -1, that many plies away."""

    result: int
    distance: int


@dataclass(slots=True)
class Node:
    """An action of its parent, and the position it leads to once it is visited (S1)."""

    action: int
    prior: float
    visits: int = 0
    value_sum: float = 0.0
    in_flight: int = 0  # S4: simulations below that still wait for their value
    waiting: bool = False  # its position is being evaluated
    certain: Certain | None = None
    children: list[Node] = field(default_factory=list)  # empty until expanded; best prior first

    def q(self, discount: float) -> float:
        """Mean value for the player who chose this action; certain values replace averages."""
        if self.certain:
            return self.certain.result * discount**self.certain.distance
        return self.value_sum / self.visits


class Descent(NamedTuple):
    """A simulation after its first two steps. `players[i]` moves at `path[i]`."""

    path: list[Node]
    players: list[int]
    state: State  # at the end of the path
    value: float | None  # for the player to move there; None: the network has to say


def search(
    game: Game,
    state: State,
    evaluate: Evaluate,
    simulations: int,
    options: Options | None = None,
    noise: Sequence[float] | None = None,
    root: Node | None = None,
) -> Node:
    """The root after `simulations` simulations; it is expanded first, which counts as none.

    `root` is continued: what an earlier search of this position or `advance` gave.
    """
    options = options or Options()
    root = root or Node(action=-1, prior=1.0)
    if not root.children:
        finish(game, descend(game, state, root, options), evaluate, options)
    if noise is not None:  # S7: into the network's priors of the root, action by action
        for child, sample in zip(root.children, noise, strict=True):
            child.prior = (1.0 - options.dirichlet_epsilon) * child.prior
            child.prior += options.dirichlet_epsilon * sample
    stop = (options.stop_gain, options.stop_interval, options.stop_minimum)  # P9
    settling = Settling([child.visits for child in root.children], root.visits, *stop)
    known = 0  # simulations that needed no network
    while simulations > 0 and not root.certain:  # S11: then nothing is left to find out
        waiting: list[Descent] = []
        collided: list[Descent] = []
        while len(waiting) < options.leaves_per_tree and simulations > 0 and not root.certain:
            if settling.over([child.visits for child in root.children], root.visits):
                simulations = 0
                break
            descent = descend(game, state, root, options)
            if descent.path[-1].waiting:  # S22: it came to a leaf that waits already
                collided.append(descent)
                if len(collided) == options.max_collisions:
                    break
                continue
            simulations -= 1
            if descent.value is None:
                descent.path[-1].waiting = True
                waiting.append(descent)
                continue
            finish(game, descent, evaluate, options)
            known += 1
            if known % 64 == 0:  # other boards want their turn
                break
        for descent in collided:
            land(descent)
        for descent in waiting:
            finish(game, descent, evaluate, options)
    return root


def advance(root: Node, action: int, flips: bool) -> Node:
    """S5: the root after `action` was played; `flips` tells whether another player moves there."""
    node = next(child for child in root.children if child.action == action)
    if not node.children:
        return Node(action=-1, prior=1.0)
    sign = -1 if flips else 1
    certain = node.certain and Certain(sign * node.certain.result, node.certain.distance)
    return replace(node, action=-1, prior=1.0, value_sum=sign * node.value_sum, certain=certain)


def descend(game: Game, state: State, root: Node, options: Options) -> Descent:
    """Steps 1 and 2 of a simulation."""
    path, players = [root], [game.player(state)]
    node, value = root, 0.0

    def play(child: Node) -> State:
        child.in_flight += 1
        after = game.play(state, child.action)
        path.append(child)
        players.append(game.player(after))
        return after

    # 1. select
    while node.children and not (node.certain and node is not root):
        mover_is_chooser = len(path) == 1 or players[-1] == players[-2]
        node = select(node, options, node is root, mover_is_chooser)
        state = play(node)

    # 2. expand: `value` is for the player to move at the end of the path
    while not node.certain and not node.waiting:
        outcome = game.outcome(state)
        chooser = players[-2] if len(path) > 1 else players[-1]
        if outcome is not None:
            value = float(value_for(outcome, players[-1]))
            if options.solver:
                node.certain = Certain(value_for(outcome, chooser), 0)
            break
        if options.repetition_draw and len(path) > 1 and repeated(game, state, len(path) - 1):
            break
        actions = game.legal_actions(state)
        if options.auto_extend and len(actions) == 1:  # S12: only one action, go on to its end
            node.children = [Node(actions[0], prior=1.0)]
            node = node.children[0]
            state = play(node)
            continue
        return Descent(path, players, state, None)
    return Descent(path, players, state, value)


def finish(game: Game, descent: Descent, evaluate: Evaluate, options: Options) -> None:
    """Steps 3 and 4 of a simulation."""
    path, players, state, value = descent
    node = path[-1]

    # 3. evaluate
    if value is None:
        actions = game.legal_actions(state)
        logits, value = evaluate(game, state, actions)
        node.children = expand(actions, logits)
        node.waiting = False

    # 4. backup
    land(descent)
    if len(path) > 1 and players[-1] != players[-2]:
        value = -value
    for depth in range(len(path) - 1, -1, -1):
        node = path[depth]
        if node.certain:
            value = node.q(options.turn_discount)
        node.visits += 1
        node.value_sum += value
        if depth > 0:
            value *= options.turn_discount  # S10
            parent_chooser = players[depth - 2] if depth > 1 else players[0]
            flips = players[depth - 1] != parent_chooser
            if flips:
                value = -value
            if options.solver and node.certain:
                prove(path[depth - 1], flips)


def land(descent: Descent) -> None:
    """S4: the simulation is no longer on its way."""
    for node in descent.path[1:]:
        node.in_flight -= 1


def select(node: Node, options: Options, is_root: bool, mover_is_chooser: bool) -> Node:
    """The child with the best Q + U; the first of equals."""
    if is_root:  # S9
        for child in node.children:
            if counted(child, options) < options.min_root_visits and not child.certain:
                return child
    total = sum(counted(child, options) for child in node.children)
    growth = math.log((total + options.c_puct_base) / options.c_puct_base)
    scale = (options.c_puct + options.c_puct_factor * growth) * math.sqrt(total)
    first_play = first_play_urgency(node, options, is_root, mover_is_chooser)
    best, best_score = None, -math.inf
    for child in node.children:
        if child.certain and child.certain.result < 0:  # S11: a certain loss is not searched again
            continue
        q = value_in_flight(child, options, first_play)
        score = q + scale * child.prior / (1 + counted(child, options))
        if score > best_score:
            best, best_score = child, score
    assert best is not None, "a node whose children are all certain losses is certain itself"
    return best


def counted(child: Node, options: Options) -> int:
    """S4, S22: visits, and those of simulations on their way."""
    return child.visits + options.virtual_loss * child.in_flight


def value_in_flight(child: Node, options: Options, first_play: float) -> float:
    """Q; while a simulation is on its way it looks lost (S4) or does not count in Q (S22)."""
    if child.certain:
        return child.q(options.turn_discount)
    lost = options.virtual_loss * child.in_flight if options.virtual_loss_kind == "loss" else 0
    visits = child.visits + lost
    return (child.value_sum - lost) / visits if visits else first_play


def first_play_urgency(
    node: Node, options: Options, is_root: bool, mover_is_chooser: bool
) -> float:
    """S3: what an action that was never tried is taken to be worth."""
    rule = options.fpu_root if is_root and options.fpu_root != "same" else options.fpu
    if rule == "zero":
        return 0.0
    if rule == "loss":
        return -1.0
    parent = node.value_sum / node.visits if node.visits else 0.0
    if not mover_is_chooser:
        parent = -parent
    if rule == "parent":
        return parent
    visited = sum(child.prior for child in node.children if counted(child, options))
    return parent - options.fpu_reduction * math.sqrt(visited)


def expand(actions: Sequence[int], logits: Sequence[float]) -> list[Node]:
    """S1: one child per legal action, softmax over the legal actions only, best prior first."""
    largest = max(logits)
    weights = [math.exp(logit - largest) for logit in logits]
    total = sum(weights)
    children = [
        Node(action, stored_prior(weight / total))
        for action, weight in zip(actions, weights, strict=True)
    ]
    return sorted(children, key=lambda child: -child.prior)  # stable: equals keep their order


def prove(node: Node, flips: bool) -> None:
    """S11: makes `node` certain when its children say so.

    Children's results are for the player to move at `node`; `flips` tells whether another player
    chose `node`. A win takes the shortest way, a loss the longest.
    """
    wins = [c.certain for c in node.children if c.certain and c.certain.result > 0]
    if wins:
        best = Certain(1, min(win.distance for win in wins) + 1)
    elif all(child.certain for child in node.children):
        known = [child.certain for child in node.children if child.certain]
        result = max(c.result for c in known)
        best = Certain(result, max(c.distance for c in known if c.result == result) + 1)
    else:
        return
    node.certain = Certain(-best.result if flips else best.result, best.distance)


def best_action(root: Node) -> int:
    """What is played: a certain win by the shortest way, else the most visits (S11, S20)."""

    def rank(child: Node) -> tuple[int, float, int]:
        if child.certain and child.certain.result > 0:
            return (2, -child.certain.distance, child.visits)
        if child.certain and child.certain.result < 0:
            return (0, child.certain.distance, child.visits)
        return (1, child.visits, 0)

    return max(root.children, key=rank).action


def repeated(game: Any, state: State, plies: int) -> bool:
    """S13: whether the position already stood on the board during the last `plies` plies."""
    return hasattr(game, "repeated_within") and bool(game.repeated_within(state, plies))


def value_for(outcome: Outcome, player: int) -> int:
    """+1, 0 or -1 for `player`."""
    if outcome == Outcome.DRAW:
        return 0
    return 1 if (outcome == Outcome.FIRST_WINS) == (player == 0) else -1


def stored_prior(probability: float) -> float:
    """A prior as the tree keeps it, in 13 bits: an exponent of 5 bits and a mantissa of 8.

    The range is 2**-31 to 1, rounded to nearest; anything smaller is 0.
    """
    (bits,) = struct.unpack("<I", struct.pack("<f", probability))
    code = max(0, bits + (1 << 14) - (96 << 23)) >> 15
    if code == 0:
        return 0.0
    (value,) = struct.unpack("<f", struct.pack("<I", (code << 15) + (96 << 23)))
    return float(value)
