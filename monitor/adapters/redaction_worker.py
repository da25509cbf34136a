"""The process in which texts are redacted; `redaction` starts and kills it.

It reads patterns and texts as JSON and writes the texts back, and imports nothing of the program,
so that it is soon there.
"""

import json
import re
import sys

REDACTED = "[redacted]"


def main() -> None:
    """Redact what stands on standard input."""
    request = json.load(sys.stdin.buffer)
    texts = request["texts"]
    for pattern in map(re.compile, request["patterns"]):
        texts = [pattern.sub(REDACTED, text) for text in texts]
    sys.stdout.buffer.write(json.dumps(texts).encode())


if __name__ == "__main__":
    main()
