"""The search as one readable page; the oracle that the native search is tested against."""

from zermelo.reference.choice import best_action
from zermelo.reference.options import Options
from zermelo.reference.puct import Certain, Node, advance, search

__all__ = ["Certain", "Node", "Options", "advance", "best_action", "search"]
