"""Reads the source files of a downloaded package: wheels, npm and crate tarballs, Go zips, source jars,
Debian sources."""

import os
import re
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from .exclusions import is_vendored
from .languages import EXTENSIONS
from .mine import MAX_FILE_BYTES

# Skips tests and generated or minified code, because a model would learn names from them that no question
# contains.
SKIPPED = re.compile(
    r"(^|/)(tests?|testing|testdata|__tests__|spec|specs|node_modules|dist/min|umd|locale|locales|i18n|fixtures|_vendor|vendor|third_party)(/|$)|"
    r"\.min\.|\.d\.ts$|_pb2|\.spec\.|\.test\.|_test\.go$|zz_generated|\.pb\.go$|\.d\.mts$|_test\.rb$|_spec\.rb$", re.I
)


def wanted(path: str) -> bool:
    return os.path.splitext(path)[1] in EXTENSIONS and not SKIPPED.search(path)


def members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Yields every file of an archive with its path inside the archive, in the order of the archive."""
    if archive.suffix in (".whl", ".zip", ".jar"):
        with zipfile.ZipFile(archive) as opened:
            for member in opened.infolist():
                if member.file_size < MAX_FILE_BYTES and not member.is_dir():
                    yield member.filename, opened.read(member)
        return
    with tarfile.open(archive) as opened:
        for member in opened:
            if member.isfile() and member.size < MAX_FILE_BYTES:
                reader = opened.extractfile(member)
                if reader is not None:
                    yield member.name, reader.read()


def inner_path(archive: Path, path: str) -> str:
    """Returns the path without the package's own top folder, so that the name of this folder is not taken for
    a vendored copy."""
    if archive.suffix in (".whl", ".jar"):
        return path
    if archive.suffix == ".zip":
        return path.split("@", 1)[-1].partition("/")[2]
    return path.partition("/")[2]


def sources(archive: Path, held_out: bool = False) -> Iterator[tuple[str, bytes]]:
    """Yields the source files to mine. In a held-out package, no file is treated as vendored, because the
    package itself has an excluded name."""
    for path, data in members(archive):
        inner = inner_path(archive, path)
        if wanted(inner) and (held_out or not is_vendored(inner)):
            yield inner, data
