class BOUpserter:
    """Writes business objects."""

    def write(self, records):
        for record in records:
            self.store(record)

    def store(self, record):
        record.save()
