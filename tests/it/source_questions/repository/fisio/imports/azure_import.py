from fisio.imports.base import BaseImporter


class AzureImporter(BaseImporter):
    """Imports the resources of Azure."""

    def __init__(self, session):
        self.session = session

    def fetch_data(self):
        return self.session.pages("azure")

    def transform(self, rows):
        return [row["azure_id"] for row in rows]

    def upsert(self, records):
        self.session.write("azure", records)
