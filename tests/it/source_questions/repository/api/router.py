"""Routes a request of the API to its handler."""

import auth
from api.handlers import handle_order


class Router:
    def __init__(self):
        self.routes = {"/orders": handle_order}

    def dispatch(self, request):
        """Gets the request to the handler of its path."""
        return handle_order(request)


def receive_request(request):
    """Receives a request from the server."""
    return Router().dispatch(request)
