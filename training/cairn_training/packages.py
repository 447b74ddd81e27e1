"""Reads the committed lists of packages: `packages/<ecosystem>.tsv` with name, version and licence, and
`held-out.tsv` for evaluation."""

import os
from dataclasses import dataclass
from pathlib import Path

PACKAGES = Path(__file__).parent.parent / "packages"
ECOSYSTEMS = ("pypi", "npm", "crates", "go", "maven", "debian")


@dataclass(frozen=True, order=True)
class Package:
    ecosystem: str
    name: str
    version: str
    licence: str = ""

    @property
    def slug(self) -> str:
        """Returns a unique file name for the package."""
        return f"{self.name}@{self.version}".replace("/", "+").replace(":", "+")


def cache() -> Path:
    """Returns the folder of downloads and of all files that are created from them. This folder is never in
    the repository."""
    root = os.environ.get("CAIRN_CACHE") or Path.home() / ".cache" / "cairn"
    return Path(root) / "training"


def read(ecosystem: str) -> list[Package]:
    """Reads the pinned training packages of an ecosystem."""
    lines = (PACKAGES / f"{ecosystem}.tsv").read_text().splitlines()
    return [Package(ecosystem, *line.split("\t")) for line in lines[1:] if line]


def read_held_out() -> list[Package]:
    """Reads the pinned evaluation packages, in the order in which they are mined."""
    lines = (PACKAGES / "held-out.tsv").read_text().splitlines()
    return [Package(*line.split("\t")) for line in lines[1:] if line]


def write(ecosystem: str, packages: list[Package]) -> None:
    rows = [f"{package.name}\t{package.version}\t{package.licence}" for package in sorted(packages)]
    (PACKAGES / f"{ecosystem}.tsv").write_text("\n".join(["name\tversion\tlicence", *rows, ""]))
