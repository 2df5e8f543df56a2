"""What a processor network looks like: its sizes, its arrays, how much they cost.

Knows no arithmetic: that is the core's, in `cpp/network/`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo import _core
from zermelo.errors import UserError
from zermelo.games.protocol import Game
from zermelo.network.architecture import NetworkOptions
from zermelo.network.form import MAX_NAME, NetworkForm
from zermelo.network.sparse.windows import WINDOW_PLANES, windows_of

VALUE_LAST = 32  # units before win, draw and loss
VALUE_OUTPUTS = 4  # win, draw, loss, plies left
MAX_ROWS = 1 << 21
MOST_WEIGHT = 1023  # of a row
MOST_BIAS = 1 << 24
Layout = tuple[int, int, int, list[float], int]


@dataclass(frozen=True)
class SparseArchitecture(NetworkForm):
    """Planes are binary first, then scalar, then dense; see the core's `FeatureSet`."""

    binary_planes: int
    scalar_scales: tuple[float, ...]
    hidden: int
    policy_hidden: int  # 0: the policy is taken from the hidden layer
    value_hidden: int
    windows: str = ""
    inputs: str = ""  # what the game tells beyond its planes; see the core's inputs.hpp
    kind: str = "sparse"

    def __post_init__(self) -> None:
        super().__post_init__()
        scales = self.scalar_scales
        if not isinstance(scales, list | tuple) or len(scales) > self.planes:
            raise UserError("the network's scalar_scales are no list of its scalar planes")
        if not all(type(scale) is float and math.isfinite(scale) for scale in scales):
            raise UserError("the network's scalar_scales are not all finite numbers")
        object.__setattr__(self, "scalar_scales", tuple(scales))
        for name, step, least in (
            ("hidden", 64, 64),
            ("policy_hidden", 32, 0),
            ("value_hidden", 32, 32),
        ):
            value, most = getattr(self, name), 1024
            if value % step or not least <= value <= most:
                raise UserError(
                    f"the network's {name} is {value}, not a multiple of {step} from {least} to "
                    f"{most}"
                )
        if self.binary_planes + len(scales) > self.planes:
            raise UserError("the network has more binary and scalar planes than planes")
        if self.planes * self.cells > MAX_ROWS:  # before anything of that size is made
            raise UserError(f"the network's planes have more than {MAX_ROWS:,} cells together")
        if len(self.windows) > MAX_NAME or not self.windows.isprintable():
            raise UserError("the network's windows are no names of windows")
        if len(self.inputs) > MAX_NAME or not self.inputs.isprintable():
            raise UserError("the network's inputs are no name of inputs")
        if self.features.num_rows > MAX_ROWS:
            raise UserError(f"the network's windows have more than {MAX_ROWS:,} contents")

    @property
    def layout(self) -> Layout:
        """Rows, columns, binary planes, scales of scalar planes, dense planes; see `layout_of`."""
        dense = self.planes - self.binary_planes - len(self.scalar_scales)
        return (self.rows, self.columns, self.binary_planes, list(self.scalar_scales), dense)

    @property
    def window_planes(self) -> list[int]:
        """Numbers among the planes of cells."""
        cell_planes = self.planes - len(self.scalar_scales)
        return list(range(min(WINDOW_PLANES, cell_planes))) if self.windows else []

    @cached_property
    def features(self) -> _core.SparseFeatures:
        """Which rows a position adds up."""
        windows = windows_of(self.rows, self.columns, self.windows)
        try:
            return _core.SparseFeatures(self.layout, self.window_planes, windows, self.inputs)
        except ValueError as error:
            raise UserError(f"the network's windows or inputs: {error}") from None

    @property
    def action_rows(self) -> int:
        """One for each action, then those of the inputs."""
        return self.num_actions + self.features.num_action_rows

    def check_fits(self, game: Game) -> None:
        """See `NetworkForm`; the core reads packed observations, so they are packed alike."""
        super().check_fits(game)
        if self.layout != layout_of(game):
            raise UserError(f"the network is for another form of the positions of {game.name}")

    @property
    def value(self) -> str:
        """As the tower's: win, draw and loss."""
        return "wdl"

    @property
    def size(self) -> str:
        """In a word."""
        return f"sparse {self.hidden}"

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The arrays of a network with this architecture."""
        tails = self.policy_hidden + self.value_hidden
        return {
            "table": (self.features.num_rows, self.hidden),
            "tail": (tails, self.hidden),
            "tail_bias": (tails,),
            "actions": (self.action_rows, self.policy_hidden or self.hidden),
            "action_bias": (self.action_rows,),
            "value1": (VALUE_LAST, self.value_hidden),
            "value1_bias": (VALUE_LAST,),
            "value2": (VALUE_OUTPUTS, VALUE_LAST),
            "value2_bias": (VALUE_OUTPUTS,),
        }

    def dtypes(self) -> dict[str, np.dtype[Any]]:
        """Of the arrays: integers, as the core computes with them."""
        found: dict[str, np.dtype[Any]] = dict.fromkeys(self.shapes(), np.dtype(np.int8))
        found |= {name: np.dtype(np.int32) for name in found if name.endswith("_bias")}
        return found | {"table": np.dtype(np.int16)}

    def check_arrays(self, arrays: Mapping[str, NDArray[Any]], name: str) -> None:
        """Within these bounds no sum of the core's can overflow."""
        for key, array in arrays.items():
            most = MOST_WEIGHT if key == "table" else MOST_BIAS
            if array.dtype != np.int8 and np.abs(array.astype(np.int64)).max(initial=0) > most:
                raise UserError(f"{name}: the weights '{key}' are not all within {most}")

    def parameters(self) -> int:
        """How many numbers the network has."""
        return sum(math.prod(shape) for shape in self.shapes().values())

    def multiply_adds(self) -> int:
        """For one position: some thirty rows, the tails, some thirty legal actions."""
        few = min(30, self.num_actions)
        shapes = self.shapes()
        dense = sum(math.prod(shapes[name]) for name in ("tail", "value1", "value2"))
        return 30 * self.hidden + dense + few * shapes["actions"][1]

    def summary(self) -> str:
        """One line for people."""
        windows = f", windows {self.windows}" if self.windows else ""
        inputs = f", inputs {self.inputs}" if self.inputs else ""
        return (
            f"sparse {self.hidden} hidden, policy {self.policy_hidden}, value {self.value_hidden}"
            f"{windows}{inputs}; {self.parameters():,} parameters"
        )


def layout_of(game: Game) -> Layout:
    """Of a game's packed observations; those of games in Python are dense."""
    native = getattr(game, "observation_layout", None)
    if native is not None:
        rows, columns, binary, scales, dense = native
        return (rows, columns, binary, [float(scale) for scale in scales], dense)
    planes, rows, columns = game.observation_shape
    return (rows, columns, 0, [], planes)


def sparse_for(game: Game, options: NetworkOptions) -> SparseArchitecture:
    """The processor network that these options mean for this game."""
    planes, rows, columns = game.observation_shape
    _, _, binary, scales, _ = layout_of(game)
    return SparseArchitecture(
        game=game.name,
        planes=planes,
        rows=rows,
        columns=columns,
        num_actions=game.num_actions,
        binary_planes=binary,
        scalar_scales=tuple(scales),
        hidden=options.hidden,
        policy_hidden=options.policy_hidden,
        value_hidden=options.value_hidden,
        windows=options.windows,
        inputs=options.inputs,
    )
