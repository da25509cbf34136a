"""Grades by a service of the installation: one POST for each answer."""

import asyncio
import logging

import httpx2

from monitor.domain.answers import Grade, Ungraded
from monitor.grading import external

log = logging.getLogger(__name__)

OK = 200
FAILED = Grade(ungraded=Ungraded.FAILED)


class HttpGrader:
    """Asks services; use `close` when done with it."""

    def __init__(self) -> None:
        # Neither proxies nor credentials of the environment, and nowhere else than configured.
        self._client = httpx2.AsyncClient(trust_env=False, follow_redirects=False, timeout=None)

    async def grade(self, url: str, question: bytes, *, seconds: float) -> Grade:
        """Ask the service at a URL; whatever goes wrong is a value."""
        try:
            async with asyncio.timeout(seconds):
                reply = await self._post(url, question)
        except TimeoutError:
            log.warning("grader %s: no reply within %g s", url, seconds)
            return Grade(ungraded=Ungraded.TIME_LIMIT)
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            log.warning("grader %s: %s: %s", url, type(error).__name__, error)
            return FAILED
        if reply is None:
            return FAILED
        found = external.grade(reply)
        if found == FAILED:
            log.warning("grader %s: no score in the %d bytes of its reply", url, len(reply))
        return found

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _post(self, url: str, question: bytes) -> bytes | None:
        """The body of a reply, None where it is an error or too long."""
        headers = {"content-type": "application/json", "accept": "application/json"}
        async with self._client.stream("POST", url, content=question, headers=headers) as response:
            if response.status_code != OK:
                log.warning("grader %s: HTTP %d", url, response.status_code)
                return None
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > external.LONGEST_REPLY:
                    log.warning("grader %s: its reply is too long", url)
                    return None
        return bytes(body)
