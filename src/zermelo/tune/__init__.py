"""Search constants found by play: SPSA over paired games, checked by a match."""
