from fisio.imports.base import BaseImporter


class OCIImporter(BaseImporter):
    """Imports the resources of OCI."""

    def __init__(self, session):
        self.session = session

    def fetch_data(self):
        return self.session.pages("oci")

    def transform(self, rows):
        return [row["oci_id"] for row in rows]

    def upsert(self, records):
        self.session.write("oci", records)
