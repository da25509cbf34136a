"""`variant-monitor run`."""

import asyncio
import signal
from pathlib import Path

from monitor.adapters import structured_logs
from monitor.app.application import open_application
from monitor.settings import Settings, load_settings, resolve_credentials


def run(config: Path) -> None:
    """Run the daemon until SIGTERM or SIGINT.

    Raises:
        ProblemsFound, StateError: it cannot start, or its state failed.
    """
    settings = load_settings(config)
    secrets = [secret.get_secret_value() for secret in resolve_credentials(settings).values()]
    structured_logs.configure(settings.logs, secrets=secrets)
    asyncio.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    async with open_application(settings) as application:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, application.daemon.stop, settings.limits.drain_seconds)
        await application.daemon.run()
