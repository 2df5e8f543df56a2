"""Any of our games as a PettingZoo environment (AEC) with action masks, for others' agents.

`env("connect4")`. The agents are `player_0`, who begins, and `player_1`. Knows no player of ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from zermelo.errors import UserError
from zermelo.games import game as find_game
from zermelo.games.protocol import Game, value_for
from zermelo.games.render import ascii_board

AGENTS = ["player_0", "player_1"]


class GameEnv(AECEnv):  # type: ignore[misc]
    """One game. An observation has `observation`, planes from that agent's turn, and `action_mask`.

    Only the agent to move has actions, and sees what a network sees; while the other one moves, an
    agent is shown the same planes with no action. A win is a reward of 1, a loss of -1, at the end.
    """

    metadata = {"name": "zermelo", "is_parallelizable": False, "render_modes": ["ansi"]}  # noqa: RUF012

    def __init__(self, game: Game | str, render_mode: str | None = None) -> None:
        super().__init__()
        self.rules = find_game(game)
        self.metadata = {**self.metadata, "name": self.rules.name}
        if render_mode not in (None, "ansi"):
            raise UserError(f"the render mode is 'ansi' or none, not '{render_mode}'")
        self.render_mode = render_mode
        self.possible_agents = list(AGENTS)
        count, shape = self.rules.num_actions, self.rules.observation_shape
        self.action_spaces = {agent: spaces.Discrete(count) for agent in AGENTS}
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(-np.inf, np.inf, shape, np.float32),
                    "action_mask": spaces.Box(0, 1, (count,), np.int8),
                }
            )
            for agent in AGENTS
        }

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The same object every time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The same object every time."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """The first position; there is no chance, so the seed does nothing."""
        del seed, options
        self.state_of_game = self.rules.initial()
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self.agent_selection = AGENTS[self.rules.player(self.state_of_game)]

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        """See the class."""
        mask = np.zeros(self.rules.num_actions, np.int8)
        over = self.rules.outcome(self.state_of_game) is not None
        if not over and agent == AGENTS[self.rules.player(self.state_of_game)]:
            mask[list(self.rules.legal_actions(self.state_of_game))] = 1
        planes = np.asarray(self.rules.observe(self.state_of_game), np.float32)
        return {
            "observation": planes.reshape(self.rules.observation_shape),
            "action_mask": mask,
        }

    def step(self, action: int | None) -> None:
        """The selected agent's action; ValueError if it is not legal."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        assert action is not None
        self.state_of_game = self.rules.play(self.state_of_game, int(action))
        self._cumulative_rewards[agent] = 0.0
        outcome = self.rules.outcome(self.state_of_game)
        if outcome is None:
            self.agent_selection = AGENTS[self.rules.player(self.state_of_game)]
        else:
            self.rewards = {a: float(value_for(outcome, i)) for i, a in enumerate(AGENTS)}
            self.terminations = dict.fromkeys(AGENTS, True)
            self.agent_selection = AGENTS[1 - AGENTS.index(agent)]
        self._accumulate_rewards()

    def render(self) -> str | None:
        """The board as text, in the mode `ansi`."""
        return None if self.render_mode is None else ascii_board(self.rules, self.state_of_game)

    def close(self) -> None:
        """Nothing is held."""


def env(game: Game | str, render_mode: str | None = None) -> Any:
    """The environment in PettingZoo's usual wrappers: an illegal action ends the game as a loss."""
    made: Any = GameEnv(game, render_mode)
    made = wrappers.TerminateIllegalWrapper(made, illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(made)
