"""A run on disk: made, opened, locked, described. Nothing here trains or plays."""
