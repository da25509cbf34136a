"""Bus, submission and archive in one SQLite file, for one replica without a broker.

The consuming process holds a lock on the state directory; others submit and read beside it.
"""
