"""How a network wants to be searched: the options that its makers searched it with.

Owns the form in which network files and checkpoints keep them: only what differs from the defaults,
as plain values by name. What a file says is a stranger's word, so it is checked. Knows no search.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from zermelo._core import SearchOptions
from zermelo.errors import UserError

# Of the machine and of the moment, not of the network: no file may ask for memory or threads.
NOT_KEPT = (
    "threads", "batch", "cache_mib", "max_nodes", "seed", "stop_gain", "stop_interval",
    "stop_minimum",
)  # fmt: skip
# Transpositions share an evaluation whatever came before them, as in lc0: the network would see
# another past, but almost always judge the same.
LOOSE_CACHE: dict[str, Any] = {"cache_history": False, "cache_clock": False}
# No answer for a mirror image or for another past, whose evaluations are close, but not the same.
EXACT_CACHE: dict[str, Any] = {"cache_symmetry": False, "cache_history": True, "cache_clock": True}
# For networks of lc0, whose files do not say; reduced is 43 Elo stronger than zero
# (docs/decisions/0006), lc0's own policy temperature 53 stronger than 1 (docs/log.md). Its other
# constants are weaker than ours.
LC0_SEARCH: dict[str, Any] = {"fpu": "reduced", "policy_temperature": 1.359, **LOOSE_CACHE}


def changed_options(search: SearchOptions, without: Collection[str] = NOT_KEPT) -> dict[str, Any]:
    """Those with other values than their defaults, but for some.

    >>> changed_options(SearchOptions(c_puct=2, gumbel="on", threads=4))
    {'c_puct': 2.0, 'gumbel': True}
    """
    usual = SearchOptions().to_dict()
    return {
        name: value
        for name, value in search.to_dict().items()
        if value != usual[name] and name not in without
    }


def described_search(found: Any, name: str) -> dict[str, Any]:
    """What a file says of its search, in the form of `changed_options`.

    `found` is what stood there, of any type; a UserError names the file `name` if it means nothing.
    """
    if not isinstance(found, Mapping):
        raise UserError(f"{name}: its search options cannot be read")
    for key, value in found.items():
        if not isinstance(value, bool | int | float | str):
            raise UserError(f"{name}: its search option '{key}' is not a plain value")
    try:
        return changed_options(SearchOptions(**found))
    except (ValueError, OverflowError) as error:
        sentence = " ".join(str(error).split())
        raise UserError(f"{name}: its search options cannot be used: {sentence}") from None


def searched(own: SearchOptions, given: Mapping[str, Any], counted: bool = True) -> SearchOptions:
    """A network's own options with those that somebody gives, values or texts, over them.

    `counted` says whether the number of simulations is known beforehand. Then every evaluation is
    what the network says of just this position, so that a search goes the same way in whatever
    company it is. On the clock the network's own cache is quicker, but its Gumbel root, which
    shares out that number, is switched off; one that is given stays.

    >>> gumbel = SearchOptions(gumbel=True, c_puct=2)
    >>> [searched(gumbel, {"fpu": "loss"}, counted).gumbel for counted in (True, False)]
    [True, False]
    """
    return own.replace(**{**(EXACT_CACHE if counted else {"gumbel": False}), **given})
