import numpy as np

from monitor.stats import guides
from monitor.stats.answers import History
from monitor.stats.constant import Constant

FIRST = Constant(population=3, successes=1.0, failures=2.0, dispersion=1.0)


def test_the_digest_is_of_the_bytes_and_stays() -> None:
    assert (
        guides.digest(FIRST) == "5b97047765868174bf4ac6fd08141f33f3dee1bdec8308df8f5d42554e3c1d7d"
    )


def test_the_digest_tells_dispersions_apart() -> None:
    other = Constant(population=3, successes=1.0, failures=2.0, dispersion=0.5)
    assert guides.digest(other) != guides.digest(FIRST)


def test_the_digest_tells_guides_apart() -> None:
    history = History.from_matrix(np.array([[0.0, 1.0, 1.0]]))
    digests = {guides.digest(kind.fit(history)) for kind in guides.GUIDES.values()}
    assert len(digests) == len(guides.GUIDES)
