from fisio.imports.base import BaseImporter


class GCPImporter(BaseImporter):
    """Imports the resources of GCP."""

    def __init__(self, session):
        self.session = session

    def fetch_data(self):
        return self.session.pages("gcp")

    def transform(self, rows):
        return [row["gcp_id"] for row in rows]

    def upsert(self, records):
        self.session.write("gcp", records)
