"""Suites made for other tools: files are read as data, and nothing in them is ever run."""
