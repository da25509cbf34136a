"""Cheap models' answers to a suite, and what they say about its items before anything is bought."""
