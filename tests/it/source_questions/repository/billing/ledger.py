class Ledger:
    """Stores the totals of customers."""

    def add(self, customer, total):
        self.totals[customer] = total

    def remove(self, customer):
        del self.totals[customer]
