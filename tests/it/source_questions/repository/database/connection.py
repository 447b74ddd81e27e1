class Database:
    """The connection to the database."""

    def execute(self, statement, values):
        return self.cursor.execute(statement, values)


def open_database():
    return Database()
