"""Figures that say how strong a network is, the same at every iteration of a run."""
