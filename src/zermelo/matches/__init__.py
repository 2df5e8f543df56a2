"""Games between players: paired openings, records that survive, matches, tournaments, ablations."""
