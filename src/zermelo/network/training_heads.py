"""T15: heads that a network has only while it learns. Needs torch.

They see what the other heads see, so what they are taught shapes it; nobody plays with them.
"""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor, nn

STEM_FILTERS = 16  # of a tower's board, before the heads


class ExtraHeads(NamedTuple):
    """Logits, for the player to move."""

    soft: Tensor  # [B, K] the policy, softened, of the legal actions
    reply: Tensor  # [B, R] of the opponent's actions
    futures: Tensor  # [B, horizons, 3] win, draw, loss, some plies later


class TrainingHeads(nn.Module):
    """`stem` makes [B, width] of what the network's own heads see."""

    def __init__(self, stem: nn.Module, width: int, num_actions: int, horizons: int) -> None:
        super().__init__()
        self.stem = stem
        self.soft = nn.Linear(width, num_actions)
        self.reply = nn.Linear(width, num_actions)
        self.futures = nn.Linear(width, 3 * horizons)
        self.horizons = horizons

    def forward(self, body: Tensor, actions: Tensor, replies: Tensor) -> ExtraHeads:
        """`actions` [B, K] are the legal ones, `replies` [B, R] the opponent's."""
        seen = self.stem(body)
        return ExtraHeads(
            self.soft(seen).float().gather(1, actions),
            self.reply(seen).float().gather(1, replies),
            self.futures(seen).float().view(len(seen), self.horizons, 3),
        )


def board_stem(channels: int) -> nn.Module:
    """Of a tower's board [B, channels, rows, columns]."""
    return nn.Sequential(nn.Conv2d(channels, STEM_FILTERS, 1), nn.ReLU(), nn.Flatten())
