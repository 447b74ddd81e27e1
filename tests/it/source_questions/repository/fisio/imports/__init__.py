"""Importers for the data of cloud providers."""
