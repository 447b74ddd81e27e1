from fisio.imports.base import BaseImporter


class IBMImporter(BaseImporter):
    """Imports the resources of IBM."""

    def __init__(self, session):
        self.session = session

    def fetch_data(self):
        return self.session.pages("ibm")

    def transform(self, rows):
        return [row["ibm_id"] for row in rows]

    def upsert(self, records):
        self.session.write("ibm", records)
