"""The same as `benchmarks.speed`, on a GPU; says so and ends where there is none.

python -m benchmarks.cuda
"""

import argparse
import sys

import torch

from benchmarks import speed
from monitor.stats import faq


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--steps", type=int, default=200, help="of the fits that are timed")
    given = parser.parse_args()
    if not torch.cuda.is_available():
        sys.stdout.write("skipped: torch sees no CUDA device on this machine\n")
        return
    sys.stdout.write(f"{torch.cuda.get_device_name()}\n")
    side_by_side = faq.width(speed.ITEMS, on_cpu=False)
    speed.report_draws("cuda", side_by_side=side_by_side, draws=given.draws)
    for observed in (0.05, 1.0):
        speed.report_fit("cuda", models=2_200, items=12_000, observed=observed, steps=given.steps)


if __name__ == "__main__":
    main()
