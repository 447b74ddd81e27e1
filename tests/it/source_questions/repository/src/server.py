from api.router import receive_request
from settings import load_config


class Server:
    """The HTTP server of the shop."""

    def run(self):
        self.config = load_config("config.json")
        for request in self.listen():
            receive_request(request)

    def listen(self):
        return []
