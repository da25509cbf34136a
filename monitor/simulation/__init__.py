"""A world to try the product in: synthetic suites and an endpoint whose answers follow a model."""
