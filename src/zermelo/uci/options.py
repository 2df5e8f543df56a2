"""The engine's options: those of the search, from its own table, and those of UCI alone.

Every option is declared once; from the declaration come the line that `uci` prints, reading and
clamping of `setoption`, and the table in the guide. Names are lc0's where lc0 has the option.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from zermelo._core import SearchOptions
from zermelo.errors import UserError
from zermelo.network.own_search import LC0_SEARCH, searched
from zermelo.players.levels import HIGHEST, LOWEST
from zermelo.uci.contempt import contempt_parts

LARGEST_SPIN = 2**31 - 1  # programs keep a spin in 32 bits
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
EMPTY = "<empty>"  # how the protocol spells an empty text

# Names of the search's options where lc0 has one; the others are their key in capitals.
LC0_NAMES = {
    "c_puct": "CPuct",
    "c_puct_factor": "CPuctFactor",
    "c_puct_base": "CPuctBase",
    "c_puct_root": "CPuctAtRoot",
    "c_puct_factor_root": "CPuctFactorAtRoot",
    "fpu": "FpuStrategy",
    "fpu_root": "FpuStrategyAtRoot",
    "fpu_reduction": "FpuValue",
    "repetition_draw": "TwoFoldDraws",
    "leaves_per_tree": "MinibatchSize",
    "threads": "Threads",
    "policy_temperature": "PolicyTemperature",
    "stop_gain": "MinimumKLDGainPerNode",
    "stop_interval": "KLDGainAverageInterval",
}
# Search options that are no options of the engine, and why.
LEFT_OUT = {
    **dict.fromkeys(
        (
            "renoise",
            "dirichlet_epsilon",
            "dirichlet_alpha",
            "keep_fraction",
            "min_root_visits",
            "forced_playouts",
        ),
        "acts in the full searches of self-play only",
    ),
    **dict.fromkeys(
        ("gumbel", "gumbel_actions", "gumbel_visit", "gumbel_scale"),
        "shares out a number of simulations that is known beforehand",
    ),
    "cache_mib": "set by NNCacheSize",
    "cache_symmetry": "chess has no symmetry that always holds",
    "batch": "set by MinibatchSize",
}
# Where the engine's row is not the table's; a default of 0 lets the engine choose. A network's own
# options come before these defaults, which are those of lc0's networks.
OWN_ROWS: dict[str, dict[str, Any]] = {
    "threads": {
        "default": 0,
        "low": 0,
        "doc": "Search threads; 0 means 1, or 2 on the clock with a network and two processors.",
    },
    "leaves_per_tree": {
        "high": 1024,
        "doc": "Leaves that a thread evaluates together.",  # docs/decisions/0009
    },
    **{name: {"default": value} for name, value in LC0_SEARCH.items()},
}
# Other spellings of values and names that programs send.
VALUE_ALIASES = {
    "reduction": "reduced",
    "absolute": "loss",
    "centipawn_2018": "centipawn",
    "centipawn_2019": "centipawn",
    "centipawn_with_drawscore": "centipawn",
}
NAME_ALIASES = {"move overhead": "moveoverheadms"}


@dataclass(frozen=True)
class UciOption:
    """One option. `kind` is UCI's, but `float`, which is shown as a string."""

    name: str
    kind: str  # check, spin, float, combo, string
    default: Any
    doc: str
    low: float = 0
    high: float = 0
    choices: tuple[str, ...] = ()
    search_key: str = ""  # the search's option that it sets

    def line(self) -> str:
        """As `uci` prints it."""
        kind = "string" if self.kind == "float" else self.kind
        line = f"option name {self.name} type {kind} default {self.spelled(self.default)}"
        if self.kind == "spin":
            line += f" min {int(self.low)} max {int(self.high)}"
        return line + "".join(f" var {choice}" for choice in self.choices)

    def spelled(self, value: Any) -> str:
        """The value as the protocol spells it."""
        if self.kind == "check":
            return "true" if value else "false"
        if self.kind == "float":
            return f"{value:.10g}"
        return str(value) or EMPTY

    def read(self, text: str) -> Any:
        """The value that the text means, clamped to the range; UserError if it means none."""
        text = text.strip()
        if self.kind == "string":
            return "" if text == EMPTY else text
        if self.kind == "check":
            spelled = {
                "true": True,
                "on": True,
                "1": True,
                "false": False,
                "off": False,
                "0": False,
            }
            if text.lower() not in spelled:
                raise UserError(f"option {self.name} is true or false, not '{text}'")
            return spelled[text.lower()]
        if self.kind == "combo":
            wanted = VALUE_ALIASES.get(text.lower(), text).lower()
            for choice in self.choices:
                if choice.lower() == wanted:
                    return choice
            raise UserError(f"option {self.name} is one of {', '.join(self.choices)}, not '{text}'")
        return self._number(text)

    def _number(self, text: str) -> int | float:
        if not NUMBER.fullmatch(text):
            raise UserError(f"option {self.name} is a number, not '{text}'")
        number = min(max(float(text), self.low), self.high)
        return int(number) if self.kind == "spin" else number


def search_rows() -> list[UciOption]:
    """The options of the search, in the order of its table."""
    rows = [row | OWN_ROWS.get(row["name"], {}) for row in SearchOptions.table()]
    return [_from_table(row) for row in rows if row["name"] not in LEFT_OUT]


def _from_table(row: Mapping[str, Any]) -> UciOption:
    key, default = row["name"], row["default"]
    name = LC0_NAMES.get(key) or "".join(part.capitalize() for part in key.split("_"))
    kind = "spin"
    if row["choices"]:
        kind = "combo"
    elif isinstance(default, bool):
        kind = "check"
    elif isinstance(default, float):
        kind = "float"
    high = min(row["high"], LARGEST_SPIN) if kind == "spin" else row["high"]
    return UciOption(
        name, kind, default, row["doc"], row["low"], high, tuple(row["choices"]), search_key=key
    )


def _check(name: str, default: bool, doc: str) -> UciOption:
    return UciOption(name, "check", default, doc)


def _spin(name: str, default: int, high: int, doc: str, low: int = 0) -> UciOption:
    return UciOption(name, "spin", default, doc, low, high)


ENGINE_ROWS = (
    UciOption(
        "WeightsFile",
        "string",
        "",
        "The network: .pb.gz or .pb (lc0), .onnx, .safetensors or a checkpoint; empty takes the "
        "package's own, none takes none.",
    ),
    UciOption(
        "Backend",
        "combo",
        "auto",
        "Runtime of the network; auto takes the first that is installed.",
        choices=("auto", "openvino", "onnx", "torch"),
    ),
    UciOption(
        "Precision",
        "combo",
        "f32",
        "Precision of the network; int8 is for towers of convolutions with openvino.",
        choices=("f32", "bf16", "int8"),
    ),
    _spin("NNCacheSize", 2_000_000, LARGEST_SPIN, "Number of positions in the evaluation cache."),
    _spin(
        "RamLimitMb",
        0,
        1_000_000,
        "Memory of tree and cache (at most half of it); a full search stops; 0 means no limit.",
    ),
    _spin("MultiPV", 1, 500, "Number of lines to show, best first.", low=1),
    UciOption(
        "ScoreType",
        "combo",
        "centipawn",
        "Scale of `score cp`: centipawns by the formula above, or another.",
        choices=("centipawn", "win_percentage", "Q", "W-L", "WDL_mu"),
    ),
    UciOption(
        "SmartPruningFactor",
        "float",
        1.33,
        "Stop if the second-best move cannot catch up in 1/factor of the time left; 0 means off.",
        0,
        100,
    ),
    _spin("MoveOverheadMs", 50, 100_000, "Milliseconds reserved for sending a move."),
    _check("Ponder", False, "The engine may think on the opponent's time."),
    _check("VerboseMoveStats", False, "Print a line for every move after a search."),
    _check("LogLiveStats", False, "Print these lines with every `info` too."),
    _check("UCI_Chess960", False, "Write castling as the king's move onto his rook."),
    _check("UCI_ShowWDL", False, "Add win, draw and loss in permille to `info`."),
    _check("UCI_ShowMovesLeft", False, "Add `movesleft` to `info` if the end is proven."),
    _check("UCI_ShowEPS", False, "Add evaluations per second to `info`."),
    _check("UCI_LimitStrength", False, "Play as strongly as UCI_Elo says, not in analysis."),
    _spin(
        "UCI_Elo",
        1500,
        HIGHEST,
        "Rating on the scale of Stockfish's, measured with the package's network.",
        low=LOWEST,
    ),
    UciOption(
        "Contempt",
        "string",
        "",
        "Rating advantage that is played for: draws count less; also by name, as in Fish=50, "
        "-20. Empty takes UCI_RatingAdv.",
    ),
    UciOption(
        "UCI_RatingAdv",
        "float",
        0.0,
        "Our rating less the opponent's, as the program tells it.",
        -10_000,
        10_000,
    ),
    UciOption("UCI_Opponent", "string", "", "The opponent, for the names in Contempt."),
    UciOption("SyzygyPath", "string", "", "Folders of Syzygy tablebases, separated as in PATH."),
    UciOption("BookFile", "string", "", "A Polyglot opening book."),
    _check("OwnBook", True, "Use BookFile."),
)


@cache
def all_rows() -> tuple[UciOption, ...]:
    """Every option, in the order in which `uci` prints them."""
    return (*ENGINE_ROWS, *search_rows())


@dataclass(frozen=True)
class Settings:
    """The values of all options; a new object with every change, so a search keeps its own."""

    values: Mapping[str, Any] = field(default_factory=dict)
    given: frozenset[str] = frozenset()  # names of those that somebody set

    @classmethod
    def defaults(cls) -> Settings:
        """As the engine begins."""
        return cls({row.name: row.default for row in all_rows()})

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def with_value(self, name: str, text: str) -> Settings:
        """With one option set as `setoption` or `--set` spells it; UserError if that cannot be."""
        row = find(name)
        if row.name == "Contempt":
            contempt_parts(text)
        return Settings({**self.values, row.name: row.read(text)}, self.given | {row.name})

    def search_options(
        self,
        network: bool,
        processors: int,
        entry_bytes: int,
        own: SearchOptions | None = None,
        counted: bool = False,
    ) -> SearchOptions:
        """What the search is told; `entry_bytes` is the memory of one cached position.

        `own` are the network's own options, for those that nobody set. `counted` says whether the
        number of simulations is known beforehand: then threads are not chosen for speed, and each
        search of a position goes the same way.
        """
        chosen = {
            row.search_key: self.values[row.name]
            for row in all_rows()
            if row.search_key and (own is None or row.name in self.given)
        }
        if not self.values["Threads"]:
            chosen["threads"] = 2 if network and processors > 1 and not counted else 1
        options = SearchOptions(**chosen) if own is None else searched(own, chosen, counted)
        cache = math.ceil(self.values["NNCacheSize"] * entry_bytes / 2**20)
        return options.replace(batch=int(options.leaves_per_tree), cache_mib=cache)


def find(name: str) -> UciOption:
    """The option of that name or of that key of the search; case does not matter."""
    wanted = NAME_ALIASES.get(name.strip().lower(), name.strip().lower())
    for row in all_rows():
        if wanted in (row.name.lower(), row.search_key or None):
            return row
    raise UserError(f"there is no option '{name.strip()}'")


def uci_option_table() -> str:
    """The options as a Markdown table, for the guide."""
    lines = ["| option | default | values | effect |", "|---|---|---|---|"]
    for row in all_rows():
        values = {"check": "true, false", "combo": ", ".join(row.choices), "string": "text"}.get(
            row.kind, f"{row.low:,.10g} to {row.high:,.10g}"
        )
        default = row.spelled(row.default)
        lines.append(f"| `{row.name}` | {default.strip('<>')} | {values} | {row.doc} |")
    return "\n".join(lines)
