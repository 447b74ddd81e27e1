import logging


class PaymentErrorHandler:
    """Handles an error of the payment code: logs it and refunds the customer."""

    def __init__(self, logger):
        self.logger = logger or logging.getLogger("payment")

    def handle(self, error):
        self.log(error)
        return self.recover(error)

    def log(self, error):
        self.logger.error("payment error: %s", error)

    def recover(self, error):
        raise NotImplementedError("refunds the customer")
