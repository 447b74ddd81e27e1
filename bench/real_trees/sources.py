"""Creates git repositories in the cache from the pinned packages."""

import os
import shutil
import subprocess
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from cairn_training import fetch
from cairn_training.locate import archives_of
from cairn_training.packages import Package, cache

LIST = Path(__file__).resolve().parent.parent / "trees.tsv"


@dataclass(frozen=True)
class Form:
    """A tree that the program indexes: a working tree, a bare repository or a plain directory."""

    name: str
    path: Path
    kind: str


def rows() -> dict[str, Package]:
    found = {}
    for line in LIST.read_text().splitlines()[1:]:
        ecosystem, name, version, licence, tree = line.split("\t")
        found[tree] = Package(ecosystem, name, version, licence)
    return found


def names() -> list[str]:
    return list(rows())


def folder() -> Path:
    path = cache().parent / "trees"
    path.mkdir(parents=True, exist_ok=True)
    return path


def git(directory: Path, *arguments: str) -> bytes:
    """Runs git with a fixed identity and time and without the user's settings, and returns its output."""
    identity = {"GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.org", "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.org"}
    times = {"GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z"}
    plain = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    settings = ["-c", "core.autocrlf=false", "-c", "core.safecrlf=false", "-c", "protocol.file.allow=always", "-c", "gc.auto=0"]
    return subprocess.run(["git", "-C", directory, *settings, *arguments], env={**os.environ, **identity, **times, **plain}, stdout=subprocess.PIPE, check=True).stdout


def archive_of(package: Package) -> Path:
    target = cache() / "get" / package.ecosystem
    target.mkdir(parents=True, exist_ok=True)
    fetch.get([package], target)
    archives = archives_of(package)
    if not archives:
        raise SystemExit(f"cannot get {package.ecosystem} {package.name} {package.version}: the registry's client says why above")
    return archives[0]


def unpack(archive: Path, target: Path) -> None:
    if archive.suffix in (".whl", ".zip", ".jar"):
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(target)
    else:
        with tarfile.open(archive) as opened:
            opened.extractall(target, filter="data")


def root_of(unpacked: Path) -> Path:
    """Skips top folders that contain only one folder, because many archives have a top folder with the
    package's name."""
    while len(entries := list(unpacked.iterdir())) == 1 and entries[0].is_dir():
        unpacked = entries[0]
    return unpacked


def tree(name: str) -> Form:
    """Returns the package as a git repository with one commit, which is created on the first call."""
    package = rows()[name]
    target = folder() / f"{name}-{package.version}"
    if not target.exists():
        making = folder() / f"{name}.making"
        shutil.rmtree(making, ignore_errors=True)
        unpack(archive_of(package), making)
        root = root_of(making)
        git(root, "init", "-q", "-b", "main")
        git(root, "add", "-A", "-f")
        git(root, "commit", "-q", "-m", f"{package.name} {package.version}")
        root.rename(target)
        shutil.rmtree(making, ignore_errors=True)
    return Form(name, target, "work tree")
