"""The pipeline that makes Cairn's embedding model and its table of document frequencies."""
