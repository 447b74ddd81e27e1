"""The pipeline that creates Cairn's embedding model and its table of document frequencies."""
