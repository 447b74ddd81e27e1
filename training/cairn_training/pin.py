"""Adds packages to the lists: `pin ECOSYSTEM NAME VERSION...` downloads them, reads their licence and writes
the list.

A package stays out if its name is that of an evaluation package, a fork or a plugin of one, or if neither its
metadata nor its licence files name a permissive licence.
"""

import sys
from dataclasses import replace

from .exclusions import is_excluded
from .fetch import get_all
from .locate import archives_of, licence_of
from .packages import Package, read, write


def main() -> None:
    ecosystem, *pairs = sys.argv[1:]
    listed = {package.name: package for package in read(ecosystem)}
    wanted = [Package(ecosystem, name, version) for name, version in zip(pairs[::2], pairs[1::2], strict=True)]
    get_all([package for package in wanted if not is_excluded(ecosystem, package.name)])
    for package in wanted:
        archives = archives_of(package)
        if is_excluded(ecosystem, package.name):
            print(f"{package.name}: reserved for evaluation", file=sys.stderr)
        elif not archives:
            print(f"{package.name}: not there", file=sys.stderr)
        elif licence := licence_of(package, archives):
            listed[package.name] = replace(package, licence=licence)
        else:
            print(f"{package.name}: no permissive licence found", file=sys.stderr)
    write(ecosystem, list(listed.values()))


if __name__ == "__main__":
    main()
