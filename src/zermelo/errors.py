"""What a person did wrong, as opposed to what the program did wrong, and what was probably meant.

A person's mistake is a `UserError`, a refusal of the core, or a fault in their own game file;
`users_sentence` tells such mistakes from ours. Knows no command: others print the sentence. A
`UserError` is a `ValueError`, so that callers of the library need not know it.
"""

from __future__ import annotations

import difflib
import errno
import traceback
from collections.abc import Iterable

from zermelo._core import RefusedError

GAME_MODULE = "zermelo_game_"  # how the names of modules begin that are made of people's game files


class UserError(ValueError):
    """A mistake in what was asked for; the message is one sentence for the person who asked."""


BAD_ANSWER = "the evaluator returned"  # how the core begins to say that an answer is unusable

# What to catch where input is read: what Python refuses, and what the core does.
REFUSALS = (UserError, RefusedError)


def users_sentence(error: BaseException) -> str | None:
    """One line for the person whose mistake it is; None if the fault is ours."""
    if isinstance(error, REFUSALS):
        return one_line(str(error) or type(error).__name__)
    if is_bad_answer(error):
        return one_line(f"the network cannot be used: {error}")
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        return one_line(f"a name is too long for a file: '{str(error.filename)[:60]}...'")
    place = place_in_game_file(error)
    return None if place is None else one_line(f"{place}: {type(error).__name__}: {error}")


def is_bad_answer(error: BaseException) -> bool:
    """Whether a network answered with what is no answer, such as NaN; ours have the right shape."""
    return isinstance(error, RuntimeError) and str(error).startswith(BAD_ANSWER)


def place_in_game_file(error: BaseException) -> str | None:
    """The deepest line of a person's game file in the traceback."""
    places = [
        f"{frame.f_code.co_filename} line {line}"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__")).startswith(GAME_MODULE)
    ]
    return places[-1] if places else None


MOST_LISTED = 40  # names in a sentence; of more only the nearest
FEW_LISTED = 5

# What other programs call it: by meaning, where letters say nothing.
MEANINGS = {
    "lr": ("learning_rate",),
    "rate": ("learning_rate",),
    "epochs": ("passes", "iterations"),
    "batch_size": ("batch",),
    "bs": ("batch",),
    "sims": ("simulations",),
    "playouts": ("simulations",),
    "visits": ("simulations",),
    "rollouts": ("simulations",),
    "cpuct": ("c_puct",),
    "exploration": ("c_puct",),
    "temperature": ("temperature_plies", "policy_temperature"),
    "temp": ("temperature_plies", "policy_temperature"),
    "alpha": ("dirichlet_alpha",),
    "noise": ("dirichlet_alpha",),
    "channels": ("filters",),
    "width": ("filters", "hidden"),
    "layers": ("blocks",),
    "depth": ("blocks",),
    "buffer": ("max_samples",),
    "buffer_size": ("max_samples",),
    "replay_size": ("max_samples",),
    "window": ("window_max",),
    "l2": ("weight_decay",),
    "wd": ("weight_decay",),
    "clip": ("gradient_clip",),
    "grad_clip": ("gradient_clip",),
    "processes": ("workers",),
    "actors": ("workers",),
    "cores": ("workers", "threads"),
    "cpus": ("workers", "threads"),
    "max_moves": ("max_plies",),
    "reversi": ("othello",),
    "draughts": ("checkers",),
    "four": ("connect4",),
    "noughts": ("tictactoe",),
    "greedy": ("policy",),
    "mcts": ("rollout", "search"),
    "alphabeta": ("minimax",),
}


def one_line(text: str) -> str:
    """Without line breaks, and nothing that a terminal would obey instead of showing it."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode()
        for char in " ".join(text.split())
    )


def nearest(name: str, names: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the one that was probably meant, or all.

    Of very many those that look most like it.
    """
    known = {each.lower(): each for each in sorted(names)}
    meant = [each for each in MEANINGS.get(name.lower(), ()) if each in known]
    if meant:
        return f"did you mean '{known[meant[0]]}'?"
    close = difflib.get_close_matches(name.lower(), known, 1, 0.5)
    if close:
        return f"did you mean '{known[close[0]]}'?"
    if len(known) > MOST_LISTED:
        close = difflib.get_close_matches(name.lower(), known, FEW_LISTED, 0.0)
        few = ", ".join(known[each] for each in close)
        return f"of {len(known)} the nearest are {few}"
    return f"there are {', '.join(known.values()) or 'none'}"
