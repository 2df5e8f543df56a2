"""What a search thinks of many positions: requests answered as they come, annotated games."""
