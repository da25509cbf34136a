"""Pure scoring: an item and an answer become an outcome."""
