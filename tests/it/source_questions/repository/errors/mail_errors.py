import logging


class MailErrorHandler:
    """Handles an error of the mail code: logs it and queues the message again."""

    def __init__(self, logger):
        self.logger = logger or logging.getLogger("mail")

    def handle(self, error):
        self.log(error)
        return self.recover(error)

    def log(self, error):
        self.logger.error("mail error: %s", error)

    def recover(self, error):
        raise NotImplementedError("queues the message again")
