import logging


class ImportErrorHandler:
    """Handles an error of the import code: logs it and skips the record."""

    def __init__(self, logger):
        self.logger = logger or logging.getLogger("import")

    def handle(self, error):
        self.log(error)
        return self.recover(error)

    def log(self, error):
        self.logger.error("import error: %s", error)

    def recover(self, error):
        raise NotImplementedError("skips the record")
