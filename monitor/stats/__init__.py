"""The statistics of an evaluation, on arrays alone.

It knows no item text, no endpoint and no plan: numbers come in, numbers go out, so that each
formula can be tested by simulation and replayed on any machine.
"""
