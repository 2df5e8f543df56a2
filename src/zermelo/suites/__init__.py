"""Suites of positions with known answers, and how a player solves them."""
