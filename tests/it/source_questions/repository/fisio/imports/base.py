class BaseImporter:
    """Base class of all importers."""

    session = None
