"""The asynchronous shell around the engine; it reaches the world through ports alone."""
