from fisio.imports.base import BaseImporter


class AWSImporter(BaseImporter):
    """Imports the resources of AWS."""

    def __init__(self, session):
        self.session = session

    def fetch_data(self):
        return self.session.pages("aws")

    def transform(self, rows):
        return [row["aws_id"] for row in rows]

    def upsert(self, records):
        self.session.write("aws", records)
