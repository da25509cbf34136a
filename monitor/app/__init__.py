"""The composition root: the only place that names every concrete class and puts them together."""
