"""Says what is wrong with a run that does not learn; `diagnose` is the whole of it."""
