"""Runs on the page: list, one run live, its games and checkpoints, comparison; the report."""
