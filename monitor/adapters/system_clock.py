"""The machine's clock."""

import asyncio
import time
from datetime import UTC, datetime


class SystemClock:
    """Implements `ports.Clock`."""

    def now(self) -> datetime:
        """Wall clock, in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - the one clock

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait; a time that has passed already only lets others run."""
        await asyncio.sleep(max(0.0, seconds))
