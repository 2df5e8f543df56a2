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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from zermelo.games.protocol import Game, Outcome, State
from zermelo.reference.ending import count_proofs, drawn_to_end
from zermelo.reference.options import Options
from zermelo.reference.refinements import (
    impurity_factor,
    imputed_value,
    regularised_sum,
    spread_factor,
    stored_prior,
    tempered,
)
from zermelo.reference.settling import Settling

# The answer may have two more numbers: the probability of a draw, which only `draw_score` asks for,
# and the plies left, for `moves_left_slope`.
Evaluate = Callable[[Any, State, Sequence[int]], tuple[Any, ...]]


class Certain(NamedTuple):
    """A proven result for the player who chose the node: +1, 0 or -1, that many plies away."""

    result: int
    distance: int


@dataclass(slots=True)
class Node:
    """An action of its parent, and the position it leads to once it is visited (S1)."""

    action: int
    network_prior: float
    prior: float = field(init=False)  # the root has its own: with noise (S7), tempered (S27)
    visits: int = 0
    value_sum: float = 0.0
    squares: float = 0.0  # S23, S24: sum of the values' squares
    own_sum: float = 0.0  # S25: values of visits that ended here, for the player to move here
    plies: float = 0.0  # S10: sum of the plies left that were backed up
    proofs: list[int] = field(default_factory=lambda: [1, 1])  # S29: for either player's win
    in_flight: int = 0  # S4: simulations below that still wait for their value
    waiting: bool = False  # its position is being evaluated
    certain: Certain | None = None
    children: list[Node] = field(default_factory=list)  # empty until expanded; best prior first

    def __post_init__(self) -> None:
        self.prior = self.network_prior

    def q(self, discount: float, draw: float) -> float:
        """Mean value for the player who chose this action, to whom a draw is worth `draw`.

        Certain values replace averages.
        """
        if self.certain and self.certain.result == 0:
            return draw
        if self.certain:
            return self.certain.result * discount**self.certain.distance
        return self.value_sum / self.visits


class Descent(NamedTuple):
    """A simulation after its first two steps. `players[i]` moves at `path[i]`."""

    path: list[Node]
    players: list[int]
    state: State  # at the end of the path
    value: float | None  # for the player to move there; None: the network has to say

    def draw(self, depth: int, options: Options) -> float:
        """What a draw is worth to the player to move at `path[depth]`."""
        return options.draw_score * (1 if self.players[depth] == self.players[0] else -1)


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
    root = root or Node(action=-1, network_prior=1.0)
    if not root.children:
        finish(game, descend(game, state, root, options), evaluate, options)
    own = tempered([child.network_prior for child in root.children], options)
    for i, child in enumerate(root.children):
        child.prior = own[i]
        if noise is not None:  # S7: into the network's priors of the root, action by action
            child.prior = (1.0 - options.dirichlet_epsilon) * own[i]
            child.prior += options.dirichlet_epsilon * noise[i]
    stop = (options.stop_gain, options.stop_interval, options.stop_minimum)  # P9
    settling = Settling([child.visits for child in root.children], root.visits, *stop)
    known = 0  # simulations that needed no network
    while simulations > 0 and not root.certain:  # S11: then nothing is left to find out
        waiting: list[Descent] = []
        collided: list[Descent] = []
        leaves = leaves_at(root, options)
        while len(waiting) < leaves and simulations > 0 and not root.certain:
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


def leaves_at(root: Node, options: Options) -> int:
    """S22: how many leaves may wait; a small tree has few that are worth it."""
    most = options.leaves_per_tree
    if options.leaves_share == 0:
        return most
    return min(max(int(root.visits * options.leaves_share), 1), most)


def advance(root: Node, action: int, flips: bool) -> Node:
    """S5: the root after `action` was played; `flips` tells whether another player moves there."""
    node = next(child for child in root.children if child.action == action)
    if not node.children:
        return Node(action=-1, network_prior=1.0)
    sign = -1 if flips else 1
    certain = node.certain and Certain(sign * node.certain.result, node.certain.distance)
    return replace(node, action=-1, value_sum=sign * node.value_sum, certain=certain)


def descend(game: Game, state: State, root: Node, options: Options) -> Descent:
    """Steps 1 and 2 of a simulation."""
    path, players = [root], [game.player(state)]
    node, value, drawn = root, 0.0, False

    def play(child: Node) -> State:
        child.in_flight += 1
        after = game.play(state, child.action)
        path.append(child)
        players.append(game.player(after))
        return after

    # 1. select
    while node.children and not (node.certain and node is not root):
        mover_is_chooser = len(path) == 1 or players[-1] == players[-2]
        draw = options.draw_score * (1 if players[-1] == players[0] else -1)
        node = select(node, options, node is root, players[-1], mover_is_chooser, draw)
        state = play(node)

    # 2. expand: `value` is for the player to move at the end of the path
    while not node.certain and not node.waiting:
        outcome = game.outcome(state)
        chooser = players[-2] if len(path) > 1 else players[-1]
        if outcome is not None:
            value = float(value_for(outcome, players[-1]))
            drawn = outcome == Outcome.DRAW
            if options.solver:
                node.certain = Certain(value_for(outcome, chooser), 0)
            break
        if options.repetition_draw and len(path) > 1 and repeated(game, state, len(path) - 1):
            drawn = True
            break
        actions = game.legal_actions(state)
        if options.auto_extend and len(actions) == 1:  # S12: only one action, go on to its end
            node.children = [Node(actions[0], network_prior=1.0)]
            node = node.children[0]
            state = play(node)
            continue
        return Descent(path, players, state, None)
    if drawn:
        value = options.draw_score * (1 if players[-1] == players[0] else -1)
    return Descent(path, players, state, value)


def finish(game: Game, descent: Descent, evaluate: Evaluate, options: Options) -> None:
    """Steps 3 and 4 of a simulation."""
    path, players, state, value = descent
    node = path[-1]
    plies = 0.0

    # 3. evaluate
    if value is None:
        actions = game.legal_actions(state)
        logits, value, *more = evaluate(game, state, actions)
        if options.draw_score and more:
            value = min(max(value + descent.draw(-1, options) * more[0], -1.0), 1.0)
        plies = more[1] if len(more) > 1 else 0.0
        node.children = expand(actions, logits, options.policy_temperature)
        node.waiting = False

    # 4. backup
    land(descent)
    node.own_sum += value
    flips = len(path) > 1 and players[-1] != players[-2]
    if flips:
        value = -value
    for depth in range(len(path) - 1, -1, -1):
        node = path[depth]
        if node.certain:
            value = node.q(options.turn_discount, descent.draw(max(depth - 1, 0), options))
            plies = node.certain.distance
        node.plies += plies
        plies += 1
        count_proofs(node, players[depth])
        add_visit(node, value, flips, options, descent.draw(depth, options))
        if depth > 0:
            value *= options.turn_discount  # S10
            parent_chooser = players[depth - 2] if depth > 1 else players[0]
            flips = players[depth - 1] != parent_chooser
            if flips:
                value = -value
            if options.solver and node.certain:
                prove(path[depth - 1], flips)


def add_visit(node: Node, value: float, flips: bool, options: Options, draw: float) -> None:
    """S1; `flips` tells whether another player chose the node than moves there.

    `draw` is what a draw is worth to the player who moves there.
    """
    if options.backup == "regularised" and not node.certain:
        node.value_sum = regularised_sum(node, flips, options, draw)
    else:
        node.value_sum += value
    node.visits += 1
    node.squares += value * value


def land(descent: Descent) -> None:
    """S4: the simulation is no longer on its way."""
    for node in descent.path[1:]:
        node.in_flight -= 1


def select(
    node: Node, options: Options, is_root: bool, mover: int, mover_is_chooser: bool, draw: float
) -> Node:
    """The child with the best Q + U; the first of equals."""
    if is_root:  # S9
        for child in node.children:
            if counted(child, options) < options.min_root_visits and not child.certain:
                return child
    total = sum(counted(child, options) for child in node.children)
    scale = exploration(node, options, is_root, total)
    ending = drawn_to_end(node, mover, mover_is_chooser, options)
    best, best_score = None, -math.inf
    for child in node.children:
        if child.certain and child.certain.result < 0:  # S11: a certain loss is not searched again
            continue
        q = value_in_flight(child, options, draw)
        if q is None:
            q = first_play_urgency(node, child, options, is_root, mover_is_chooser)
        score = ending(child, q) + scale * child.prior / (1 + counted(child, options))
        if score > best_score:
            best, best_score = child, score
    assert best is not None, "a node whose children are all certain losses is certain itself"
    return best


def exploration(node: Node, options: Options, is_root: bool, total: int) -> float:
    """S2, S27: c sqrt(N), which a prior is multiplied with; c may grow, and differ at the root."""
    c, factor = options.c_puct, options.c_puct_factor
    if is_root:
        c = options.c_puct_root or c
        factor = options.c_puct_factor_root if options.c_puct_factor_root >= 0 else factor
    c += factor * math.log((total + options.c_puct_base) / options.c_puct_base)
    plain = c * math.sqrt(total)
    return plain * spread_factor(node, options) * impurity_factor(node, options)


def counted(child: Node, options: Options) -> int:
    """S4, S22: visits, and those of simulations on their way."""
    return child.visits + options.virtual_loss * child.in_flight


def value_in_flight(child: Node, options: Options, draw: float) -> float | None:
    """Q; while a simulation is on its way it looks lost (S4) or does not count in Q (S22).

    None for an action that was never tried.
    """
    if child.certain:
        return child.q(options.turn_discount, draw)
    lost = options.virtual_loss * child.in_flight if options.virtual_loss_kind == "loss" else 0
    visits = child.visits + lost
    return (child.value_sum - lost) / visits if visits else None


def first_play_urgency(
    node: Node, child: Node, options: Options, is_root: bool, mover_is_chooser: bool
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
    if rule == "imputed":
        return imputed_value(node, child, parent, options)
    visited = sum(child.prior for child in node.children if counted(child, options))
    return parent - options.fpu_reduction * math.sqrt(visited)


def expand(actions: Sequence[int], logits: Sequence[float], temperature: float) -> list[Node]:
    """S1: one child per legal action, softmax over the legal actions only, best prior first."""
    largest = max(logits)
    weights = [math.exp((logit - largest) / temperature) for logit in logits]
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


def repeated(game: Any, state: State, plies: int) -> bool:
    """S13: whether the position already stood on the board during the last `plies` plies."""
    return hasattr(game, "repeated_within") and bool(game.repeated_within(state, plies))


def value_for(outcome: Outcome, player: int) -> int:
    """+1, 0 or -1 for `player`."""
    if outcome == Outcome.DRAW:
        return 0
    return 1 if (outcome == Outcome.FIRST_WINS) == (player == 0) else -1
