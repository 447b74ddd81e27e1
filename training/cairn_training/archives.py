"""Reads the source files of a downloaded package: wheels, npm and crate tarballs, Go zips, source jars, Debian sources."""

import os
import re
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from .exclusions import is_vendored
from .languages import EXTENSIONS
from .mine import MAX_FILE_BYTES

# Tests, generated and minified code teach names that no question contains.
SKIPPED = re.compile(
    r"(^|/)(tests?|testing|testdata|__tests__|spec|specs|node_modules|dist/min|umd|locale|locales|i18n|fixtures|_vendor|vendor|third_party)(/|$)|"
    r"\.min\.|\.d\.ts$|_pb2|\.spec\.|\.test\.|_test\.go$|zz_generated|\.pb\.go$|\.d\.mts$|_test\.rb$|_spec\.rb$", re.I
)


def wanted(path: str) -> bool:
    return os.path.splitext(path)[1] in EXTENSIONS and not SKIPPED.search(path)


def members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Every file of an archive with its path inside, in the archive's order."""
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
    """The path below the package's own top folder, so that the package's name does not count as a vendored copy."""
    if archive.suffix in (".whl", ".jar"):
        return path
    if archive.suffix == ".zip":
        return path.split("@", 1)[-1].partition("/")[2]
    return path.partition("/")[2]


def sources(archive: Path, held_out: bool = False) -> Iterator[tuple[str, bytes]]:
    """The source files worth mining. A held-out package's own folder carries an excluded name, so no file there counts as vendored."""
    for path, data in members(archive):
        inner = inner_path(archive, path)
        if wanted(inner) and (held_out or not is_vendored(inner)):
            yield inner, data
