"""`--help` answers at once: it waits for no library that it does not need."""

import json
import subprocess
import sys

SLOW_TO_IMPORT = {
    "httpx2",
    "kafka",
    "math_verify",
    "numpy",
    "openai",
    "plotly",
    "scipy",
    "starlette",
    "sympy",
    "torch",
    "uvicorn",
}

SHOW_HELP = """
import json, sys
from monitor import cli
sys.argv = ["variant-monitor", "--help"]
try:
    cli.main()
except SystemExit as end:
    assert not end.code, end.code
print(json.dumps(sorted(sys.modules)))
"""


def test_help_loads_nothing_slow() -> None:
    command = [sys.executable, "-I", "-c", SHOW_HELP]
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    help_text, _, loaded = shown.stdout.strip().rpartition("\n")
    assert "Usage" in help_text
    assert SLOW_TO_IMPORT.intersection(json.loads(loaded)) == set()
