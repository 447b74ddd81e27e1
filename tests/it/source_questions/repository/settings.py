import json


def open_config_file(path):
    """Opens the configuration file."""
    return open(path)


def load_config(path):
    with open_config_file(path) as file:
        return json.load(file)
