import logging


class NetworkErrorHandler:
    """Handles an error of the network code: logs it and opens the connection again."""

    def __init__(self, logger):
        self.logger = logger or logging.getLogger("network")

    def handle(self, error):
        self.log(error)
        return self.recover(error)

    def log(self, error):
        self.logger.error("network error: %s", error)

    def recover(self, error):
        raise NotImplementedError("opens the connection again")
