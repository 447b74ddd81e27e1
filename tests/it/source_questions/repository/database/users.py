from database.connection import open_database


def find_user(name):
    return open_database().execute("SELECT * FROM users WHERE name = ?", [name])
