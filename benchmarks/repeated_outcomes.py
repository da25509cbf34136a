r"""Made-up models as a file of repeated answers, for back-tests of strata on accurate targets.

    python -m benchmarks.repeated_outcomes FILE.npz --accuracy 0.95 0.96 0.97
    variant-monitor backtest --outcomes FILE.npz --split model --scores first --surrogate auto \
        --designs stratified --budgets 60,80,160,400

Targets answer once, surrogates ten times an item. A model answers an item rightly with probability
1 / (1 + exp(b - theta)) (Rasch), where the difficulty b is partly the item's and partly what this
model makes of it, and theta is set to the wanted accuracy.
"""

import argparse
import math
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

ITEMS = 1700
ANSWERS = 10
# Share of the variance of the difficulties that all models agree on.
AGREED = 0.5
SPREAD = 2.0
SURROGATES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
ABILITIES = np.linspace(-20.0, 20.0, 4001)

Floats = npt.NDArray[np.float64]


def arrays(
    accuracies: list[float], *, copies: int, seed: int
) -> dict[str, npt.NDArray[np.generic]]:
    """Return the arrays of the file: `copies` targets of each accuracy, below the surrogates."""
    generator = np.random.default_rng(seed)
    agreed = generator.normal(size=ITEMS)
    targets = [(accuracy, copy) for accuracy in accuracies for copy in range(copies)]
    wanted = [*SURROGATES, *(accuracy for accuracy, _ in targets)]
    chances = np.array([_chances(accuracy, agreed, generator) for accuracy in wanted])
    samples = (generator.random((*chances.shape, ANSWERS)) < chances[:, :, np.newaxis]).astype(int)
    samples[len(SURROGATES) :, :, 1:] = -1
    answered = samples != -1
    return {
        "samples": samples.astype(np.int8),
        "outcomes": (samples * answered).sum(axis=2) / answered.sum(axis=2),
        "models": np.array(
            [f"surrogate of {accuracy:g}" for accuracy in SURROGATES]
            + [f"target {copy} of {accuracy:g}" for accuracy, copy in targets]
        ),
    }


def _chances(accuracy: float, agreed: Floats, generator: np.random.Generator) -> Floats:
    own = generator.normal(size=len(agreed))
    difficulties = SPREAD * (math.sqrt(AGREED) * agreed + math.sqrt(1.0 - AGREED) * own)
    means = [float(_right(ability - difficulties).mean()) for ability in ABILITIES]
    return _right(float(np.interp(accuracy, means, ABILITIES)) - difficulties)


def _right(logits: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-logits)))


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, help="to be written (.npz)")
    parser.add_argument("--accuracy", type=float, nargs="+", default=[0.95, 0.96, 0.97])
    parser.add_argument("--copies", type=int, default=10, help="targets of each accuracy")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    found = arrays(given.accuracy, copies=given.copies, seed=given.seed)
    with given.file.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **found)
    sys.stdout.write(f"{given.file}: {len(found['models'])} models, {ITEMS} items\n")


if __name__ == "__main__":
    main()
