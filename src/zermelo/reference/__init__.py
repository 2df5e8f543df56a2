"""The search as one readable file; the oracle that the native search is tested against."""

from zermelo.reference.puct import Certain, Node, Options, advance, best_action, search

__all__ = ["Certain", "Node", "Options", "advance", "best_action", "search"]
