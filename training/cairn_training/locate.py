"""Finds a downloaded package in the cache, and reads its declared licence."""

import json
import os
import re
import tarfile
import zipfile
from pathlib import Path

from . import licences
from .packages import Package, cache

LICENCE_FILE = re.compile(r"(^|/)(licen[sc]e|copying|unlicense)[^/]*$", re.I)


def cargo_home() -> Path:
    return Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")


def go_escaped(module: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: "!" + letter.group().lower(), module)


def archives_of(package: Package) -> list[Path]:
    """Returns the archives of a package in its pinned version. The list is empty if the package has not been
    downloaded."""
    root = cache() / "get" / package.ecosystem
    name, version = package.name, package.version
    if package.ecosystem == "pypi":
        stem = re.sub(r"[-_.]+", "_", name).lower()
        return [path for path in sorted(root.glob("*.whl")) if wheel_is(path, stem, version)]
    if package.ecosystem == "npm":
        return [path for path in [root / f"{name.lstrip('@').replace('/', '-')}-{version}.tgz"] if path.exists()]
    if package.ecosystem == "crates":
        return sorted(cargo_home().glob(f"registry/cache/*/{name}-{version}.crate"))[:1]
    if package.ecosystem == "go":
        return [path for path in [root / "cache/download" / go_escaped(name) / "@v" / f"{go_escaped(version)}.zip"] if path.exists()]
    if package.ecosystem == "maven":
        group, artifact = name.split(":")
        return [path for path in [root / "sources" / f"{group}.{artifact}-{version}-sources.jar"] if path.exists()]
    upstream = re.sub(r"^[0-9]+:", "", version).rsplit("-", 1)[0]
    return sorted(path for path in root.glob(f"{name}_{upstream}.orig*.tar.*") if path.suffix in (".gz", ".xz", ".bz2"))


def wheel_is(path: Path, stem: str, version: str) -> bool:
    parts = path.name.split("-")
    return re.sub(r"[-_.]+", "_", parts[0]).lower() == stem and parts[1] == version


def licence_of(package: Package, archives: list[Path]) -> str | None:
    """Returns the permissive licence that the metadata or else the licence file of a package names. Returns
    None if neither names a permissive licence."""
    found = {"pypi": licence_of_wheel, "npm": licence_of_npm, "crates": licence_of_crate, "go": licence_of_go, "maven": licence_of_maven, "debian": licence_of_debian}
    return found[package.ecosystem](package, archives[0])


def licence_of_wheel(_package: Package, archive: Path) -> str | None:
    with zipfile.ZipFile(archive) as opened:
        names = opened.namelist()
        metadata_name = next((name for name in names if name.endswith(".dist-info/METADATA")), None)
        if metadata_name is None:
            return None
        header = opened.read(metadata_name).decode("utf8", "replace").split("\n\n")[0]
        classifiers = [line.split(":", 1)[1].strip() for line in header.splitlines() if line.startswith("Classifier: License ::")]
        classifiers = [line for line in classifiers if line != "License :: OSI Approved"]
        if classifiers and not all(licences.of_expression(classifier) for classifier in classifiers):
            return None
        expressions = [line.split(":", 1)[1].strip() for line in header.splitlines() if re.match(r"License(-Expression)?:", line)]
        for expression in [*expressions, *classifiers]:
            licence = licences.of_expression(expression)
            if licence:
                return licence
        texts = [name for name in names if ".dist-info/" in name and LICENCE_FILE.search(name)]
        return of_texts([opened.read(name).decode("utf8", "replace") for name in texts])


def of_texts(texts: list[str]) -> str | None:
    """Returns the first licence if every text is a permissive licence."""
    found = [licences.of_text(text) for text in texts]
    return found[0] if found and all(found) else None


def tar_texts(archive: Path, depth: int) -> list[str]:
    with tarfile.open(archive) as opened:
        chosen = [member for member in opened if member.isfile() and member.name.count("/") <= depth and LICENCE_FILE.search(member.name)]
        return [opened.extractfile(member).read().decode("utf8", "replace") for member in chosen]


def licence_of_npm(_package: Package, archive: Path) -> str | None:
    with tarfile.open(archive) as opened:
        member = next((member for member in opened if re.fullmatch(r"[^/]+/package\.json", member.name)), None)
        if member is None:
            return None
        manifest = json.loads(opened.extractfile(member).read().decode("utf8", "replace"))
    declared = manifest.get("license") or manifest.get("licenses") or ""
    declared = declared[0] if isinstance(declared, list) and declared else declared
    declared = declared.get("type", "") if isinstance(declared, dict) else declared
    return licences.of_expression(declared) if declared else of_texts(tar_texts(archive, 1))


def licence_of_crate(_package: Package, archive: Path) -> str | None:
    with tarfile.open(archive) as opened:
        member = next((member for member in opened if re.fullmatch(r"[^/]+/Cargo\.toml", member.name)), None)
        manifest = opened.extractfile(member).read().decode("utf8", "replace") if member else ""
    declared = re.search(r"(?m)^license\s*=\s*\"([^\"]+)\"", manifest)
    return licences.of_expression(declared.group(1)) if declared else of_texts(tar_texts(archive, 1))


def licence_of_go(package: Package, archive: Path) -> str | None:
    top = f"{package.name}@{package.version}/"
    with zipfile.ZipFile(archive) as opened:
        names = [name for name in opened.namelist() if name.startswith(top) and "/" not in name[len(top) :] and LICENCE_FILE.search(name)]
        return of_texts([opened.read(name).decode("utf8", "replace") for name in names])


def licence_of_maven(package: Package, archive: Path) -> str | None:
    """Reads the licence from the pom or its parents. All named licences must be permissive, unless the pom
    offers a choice."""
    repository = cache() / "get" / "maven" / "repo"
    group, artifact, version = *package.name.split(":"), package.version
    for _ in range(6):
        pom = repository / group.replace(".", "/") / artifact / version / f"{artifact}-{version}.pom"
        if not pom.exists():
            break
        text = re.sub(r"<!--.*?-->", "", pom.read_text(errors="replace"), flags=re.S)
        names = re.findall(r"<license>.*?<name>\s*(.*?)\s*</name>", text, re.S)
        if names:
            found = [licences.of_expression(re.sub(r"\s+", " ", name)) for name in names]
            return next(filter(None, found), None) if any(found) else None
        parent = re.search(r"<parent>(.*?)</parent>", text, re.S)
        if not parent:
            break
        group, artifact, version = (re.search(rf"<{tag}>\s*(.*?)\s*</{tag}>", parent.group(1)).group(1) for tag in ("groupId", "artifactId", "version"))
    with zipfile.ZipFile(archive) as opened:
        names = [name for name in opened.namelist() if LICENCE_FILE.search(name) and name.count("/") <= 1]
        return of_texts([opened.read(name).decode("utf8", "replace") for name in names])


DEBIAN_SPELLINGS = {"expat": "MIT", "apache-2": "Apache-2.0", "bsd-3": "BSD-3-Clause", "bsd-2": "BSD-2-Clause", "public-domain": "Unlicense", "bsl-1": "BSL-1.0", "boost-1.0": "BSL-1.0", "apache": "Apache-2.0"}
BUILD_FILES = re.compile(r"debian/|\.m4|configure|aclocal|install-sh|ltmain|config\.|test|doc|example|benchmark|cmake|build|man/|tools/|\.el$|\.y$", re.I)


def licence_of_debian(package: Package, _archive: Path) -> str | None:
    """Reads the licence from debian/copyright. Every stanza must be permissive, except those of packaging,
    build files and tests."""
    root = cache() / "get" / "debian"
    upstream_version = re.sub(r"^[0-9]+:", "", package.version)
    packaging = sorted(root.glob(f"{package.name}_{upstream_version}.debian.tar.*"))
    if not packaging:
        return None
    with tarfile.open(packaging[0]) as opened:
        member = next((member for member in opened if member.name.lstrip("./") == "debian/copyright"), None)
        text = opened.extractfile(member).read().decode("utf8", "replace") if member else ""
    found = None
    for stanza in text.split("\n\n"):
        files = re.search(r"(?m)^Files:\s*(.*(?:\n\s+.*)*)", stanza)
        licence = re.search(r"(?m)^License:\s*(.*)", stanza)
        if not files or not licence:
            continue
        permissive = debian_expression(licence.group(1))
        if permissive is None and not all(BUILD_FILES.search(path) for path in files.group(1).split()):
            return None
        if permissive and files.group(1).split()[0] == "*":
            found = permissive
    return found


def debian_expression(expression: str) -> str | None:
    """Reads Debian's short licence names. If names are joined by `or`, one must be permissive; if they are
    joined by `and`, all must be."""
    parts = []
    for alternatives in re.split(r"\s+and\s+|,", expression.strip()):
        found = None
        for name in re.split(r"\s+or\s+", alternatives.strip()):
            name = name.strip().lower()
            found = found or next((licence for spelling, licence in DEBIAN_SPELLINGS.items() if name.startswith(spelling)), None) or licences.of_expression(name)
            found = found or ("BSD-3-Clause" if re.match(r"bsd[-~]", name) else None) or ("MIT" if re.match(r"mit[-~]|x11|libpng|jpeg|ijg", name) else None)
        parts.append(found)
    return parts[0] if all(parts) else None
