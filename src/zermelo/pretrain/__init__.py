"""A run that begins from games, positions or a teacher instead of from nothing."""
