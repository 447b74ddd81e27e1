import time


class RetryManager:
    """Retries a call with a growing pause."""

    def call(self, function, attempts=3):
        for attempt in range(attempts):
            try:
                return function()
            except ConnectionError:
                time.sleep(2 ** attempt)
        raise ConnectionError("no attempt succeeded")
