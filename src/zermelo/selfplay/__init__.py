"""Self-play: a checkpoint goes in, shards come out. The games themselves are played in the core."""
