"""Our games and players for other libraries: `pettingzoo` and `open_spiel`, each an extra."""
