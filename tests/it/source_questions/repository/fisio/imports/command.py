"""Runs the importers that the command line names."""

from fisio.imports.aws_import import AWSImporter
from fisio.imports.azure_import import AzureImporter

IMPORTERS = {"aws": AWSImporter, "azure": AzureImporter}


def run_imports(names):
    for name in names:
        importer = IMPORTERS[name](session=None)
        importer.upsert(importer.transform(importer.fetch_data()))
