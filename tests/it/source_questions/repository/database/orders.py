from database.connection import open_database


def save_order(order):
    """Writes an order to the database."""
    return open_database().execute("INSERT INTO orders VALUES (?)", [order])
