from auth import auth as authentication
from database.orders import save_order


def handle_order(request):
    """Handler of the API for orders: checks the login, then writes the order to the database."""
    authentication.login(request)
    return save_order(request.order)
