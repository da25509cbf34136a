"""Pure rendering: an item and its template become the messages that a model is sent."""
