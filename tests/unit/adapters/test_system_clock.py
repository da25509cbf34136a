from datetime import UTC, datetime

from monitor.adapters.system_clock import SystemClock


def test_now_is_the_wall_clock() -> None:
    before = datetime.now(UTC)  # noqa: TID251 - what it is compared with
    now = SystemClock().now()
    assert before <= now <= datetime.now(UTC)  # noqa: TID251 - as above
