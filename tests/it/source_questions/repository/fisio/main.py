"""Command line of the engine."""

from fisio.imports.command import run_imports


def main(arguments):
    return run_imports(arguments)
