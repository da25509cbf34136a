"""The commands of `variant-monitor`: arguments in, exit code out.

What a command needs is imported when it runs, so that `--help` does not wait for numpy.
"""

import sys

from monitor.domain.errors import MonitorError


def main() -> None:
    """Run the command line and exit with its code."""
    from monitor.cli.commands import app
    from monitor.cli.exits import ExitCode, code_of

    try:
        app(prog_name="variant-monitor")
    except MonitorError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(code_of(error))
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
