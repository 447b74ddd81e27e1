from billing.ledger import Ledger


def make_invoice(customer, usage):
    """Adds the usage of a month."""
    total = sum(usage)
    Ledger().add(customer, total)
    return total


def cancel_invoice(customer):
    Ledger().remove(customer)
