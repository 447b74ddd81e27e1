import logging


class DatabaseErrorHandler:
    """Handles an error of the database code: logs it and rolls the transaction back."""

    def __init__(self, logger):
        self.logger = logger or logging.getLogger("database")

    def handle(self, error):
        self.log(error)
        return self.recover(error)

    def log(self, error):
        self.logger.error("database error: %s", error)

    def recover(self, error):
        raise NotImplementedError("rolls the transaction back")
