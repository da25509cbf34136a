"""The commands of `variant-monitor`: arguments in, exit code out.

What a command needs is imported when it runs, so that `--help` does not wait for numpy.
"""

import sys
from typing import NoReturn

from monitor.domain.errors import InvalidEvent, MonitorError, ProblemsFound


def main() -> None:
    """Run the command line and exit with its code."""
    from monitor.cli.commands import app
    from monitor.cli.exits import ExitCode, code_of

    try:
        app(prog_name="variant-monitor")
    except InvalidEvent as error:
        _fail(f"such an event would be put aside: {error}", code=code_of(error))
    except ProblemsFound as error:
        _fail(*map(str, error.problems), code=code_of(error))
    except MonitorError as error:
        _fail(str(error), code=code_of(error))
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)


def _fail(*texts: str, code: int) -> NoReturn:
    sys.stderr.writelines(f"error: {text}\n" for text in texts)
    sys.exit(code)
