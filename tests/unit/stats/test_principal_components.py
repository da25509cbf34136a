import numpy as np

from monitor.stats.principal_components import PrincipalComponents

RESIDUALS = np.random.default_rng(0).normal(size=(6, 40)) * np.arange(1, 7)[:, np.newaxis]


def test_they_are_the_right_singular_vectors() -> None:
    found = PrincipalComponents.of(RESIDUALS, most=3)
    _, values, vectors = np.linalg.svd(RESIDUALS, full_matrices=False)
    assert np.allclose(found.ratios, values[:3] / values[0])
    assert np.allclose(np.abs(found.scores), np.abs(vectors[:3].T) * np.sqrt(40))


def test_their_mean_square_is_one() -> None:
    found = PrincipalComponents.of(RESIDUALS, most=6)
    assert np.allclose(np.mean(found.scores**2, axis=0), 1.0)


def test_the_order_of_models_does_not_matter() -> None:
    found = PrincipalComponents.of(RESIDUALS, most=3)
    assert np.allclose(found.scores, PrincipalComponents.of(RESIDUALS[::-1], most=3).scores)


def test_there_are_no_more_than_the_residuals_have() -> None:
    twice = np.vstack([RESIDUALS[:2], RESIDUALS[:2]])
    assert PrincipalComponents.of(twice, most=4).scores.shape == (40, 2)
    assert PrincipalComponents.of(np.zeros((3, 40)), most=4).scores.shape == (40, 0)
    assert PrincipalComponents.of(np.empty((0, 40)), most=4).ratios.shape == (0,)
