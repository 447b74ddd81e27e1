"""Mines the definitions of every pinned package into `mined/<ecosystem>/<package>.jsonl.gz` in the cache.
Packages with an existing file are skipped."""

import gzip
import hashlib
import json
import os
import random
import sys
from multiprocessing import Pool
from pathlib import Path

from .archives import sources
from .languages import EXTENSIONS
from .locate import archives_of
from .mine import definitions
from .packages import ECOSYSTEMS, Package, cache, read, read_held_out

# With more definitions of one package, the model would learn the style of this package instead of the words
# of the language.
MAX_DOCUMENTED = 5_000
MAX_UNDOCUMENTED = 1_500
MINER_VERSION = 1
QUESTIONS_PER_LANGUAGE = 400
QUESTION_SEED = 13


def mine_package(package: Package, held_out: bool = False) -> list[dict]:
    """Returns the definitions of a package. A definition is left out if its code or doc sentence occurred
    before."""
    seen: set[str] = set()
    rows = []
    for archive in archives_of(package):
        for path, data in sources(archive, held_out):
            for found in definitions(data, EXTENSIONS[os.path.splitext(path)[1]]):
                keys = {digest(found.code), digest(found.doc or found.code)}
                if seen.isdisjoint(keys):
                    rows.append({"language": found.language, "name": found.name, "doc": found.doc, "code": found.code, "package": package.name})
                seen |= keys
    return rows


def digest(text: str) -> str:
    return hashlib.md5(text.encode()).hexdigest()


def sample(rows: list[dict], seed: str) -> list[dict]:
    """Returns at most the maximum number of documented and undocumented definitions, chosen with a seed for
    each package."""
    chooser = random.Random(seed)
    documented = [row for row in rows if row["doc"]]
    undocumented = [row for row in rows if not row["doc"]]
    chooser.shuffle(documented)
    chooser.shuffle(undocumented)
    return documented[:MAX_DOCUMENTED] + undocumented[:MAX_UNDOCUMENTED]


def mined_file(package: Package) -> Path:
    return cache() / f"mined-{MINER_VERSION}" / package.ecosystem / f"{package.slug}.jsonl.gz"


def collect(package: Package) -> str:
    target = mined_file(package)
    if target.exists():
        return ""
    try:
        rows = sample(mine_package(package), package.slug)
    except Exception as error:  # noqa: BLE001 - an unreadable archive is reported and must not end the run
        return f"{package.ecosystem} {package.slug}: {error!r}"
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(".partial")
    with gzip.open(partial, "wt", compresslevel=1) as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    partial.rename(target)
    return ""


def write_evaluation_corpus() -> None:
    """Writes `evaluation.jsonl`: all definitions of the held-out packages without repeats. 400 documented
    definitions of each language become questions."""
    by_code: dict[str, dict] = {}
    for package in read_held_out():
        for row in mine_package(package, held_out=True):
            by_code.setdefault(digest(row["code"]), row)
    rows = list(by_code.values())
    chooser = random.Random(QUESTION_SEED)
    for language in sorted({row["language"] for row in rows}):
        documented = [row for row in rows if row["language"] == language and row["doc"]]
        chooser.shuffle(documented)
        for row in documented[:QUESTIONS_PER_LANGUAGE]:
            row["question"] = True
    with open(cache() / "evaluation.jsonl", "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def main() -> None:
    if sys.argv[1:] == ["--held-out"]:
        write_evaluation_corpus()
        return
    packages = [package for ecosystem in ECOSYSTEMS for package in read(ecosystem)]
    with Pool(2) as pool:
        for number, problem in enumerate(pool.imap_unordered(collect, packages, chunksize=4), 1):
            if problem:
                print(problem, file=sys.stderr, flush=True)
            if number % 200 == 0:
                print(f"mined {number} of {len(packages)} packages", flush=True)


if __name__ == "__main__":
    main()
