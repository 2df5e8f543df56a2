"""Processes that are started here and talk in messages; they know neither games nor networks."""
