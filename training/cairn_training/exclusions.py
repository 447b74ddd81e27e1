"""Packages that must never be mined: packages kept for evaluation, their forks, plugins and vendored copies.

The rules are wide on purpose. Losing a package that only shares a word with an evaluation package costs a
little training data; mining a plugin of one would make the figures lie.
"""

import re
from functools import cache
from pathlib import Path

EXCLUSIONS_FILE = Path(__file__).parent.parent / "exclusions.txt"

# The section of the exclusion list for each ecosystem. Debian packages can come from every ecosystem.
SECTIONS = {"pypi": "pypi", "npm": "npm", "crates": "crates", "go": "go", "maven": "maven"}

# Forks, front ends and sibling packages of evaluation packages whose names do not show the relation.
KNOWN_RELATIVES = frozenset(
    """
    structopt structopt-derive pekko valkey opentofu niquests itemadapter itemloaders quart actix ecolor emath epaint eframe globset ignore
    k8s kube-core naga naga-types nu-ansi-term object-store pretty-format diff-sequences expect scheduler use-sync-external-store engine-io
    """.split()
)

# A name that begins or ends with an excluded name of the same ecosystem is treated as a fork or plugin.
# Shorter excluded names are not compared in this way.
MIN_AFFIX = 5

VENDORED = re.compile(
    r"(^|/)(_?vendor(ed)?|third[_-]?party|thirdparty|3rd[_-]?party|extern(al|als)?|node_modules|bundled|deps|subprojects|submodules|libs)(/|$)", re.I
)


@cache
def sections() -> dict[str, frozenset[str]]:
    """Returns the normalised excluded names by ecosystem. The names in `other` apply to every ecosystem."""
    found: dict[str, set[str]] = {}
    section = ""
    for line in EXCLUSIONS_FILE.read_text().splitlines():
        line = line.strip()
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            names = {plain(name) for name in line.split()}
            found.setdefault(section, set()).update(names | {name.replace("-", "") for name in names})
    return {section: frozenset(names) for section, names in found.items()}


def plain(name: str) -> str:
    """Returns the name in lower case with `-` as the only separator."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def token_runs(whole: str) -> set[str]:
    """Returns every sequence of consecutive parts of a name, with and without separators between the
    parts."""
    tokens = [token for token in whole.split("-") if token]
    runs = {"-".join(tokens[start:end]) for start in range(len(tokens)) for end in range(start + 1, len(tokens) + 1)}
    return runs | {run.replace("-", "") for run in runs}


def normalise(name: str) -> str:
    """Returns the plain name without prefixes and suffixes that name a language: `Foo.js`, `py-foo` and
    `node-foo` are all `foo`."""
    name = re.sub(r"^(python|py|node|go|rust|ruby|php|lib|haskell)-", "", plain(name))
    return re.sub(r"-(js|py|rs|go|rb|php|java|kt|net|cpp)$", "", name)


def variants(token: str) -> set[str]:
    """Returns the token, and also the token without `py`, `lib`, `js`, `rs` or a version number."""
    found = {token}
    for pattern in (r"^py(?=.{4})", r"^lib(?=.{3})", r"(?<=.{3})js$", r"(?<=.{3})py$", r"(?<=.{3})[0-9]+$", r"(?<=.{3})-?rs$"):
        found |= {re.sub(pattern, "", one) for one in found}
    return found


@cache
def is_excluded(ecosystem: str, name: str) -> bool:
    """Returns whether a package may be an evaluation package, or a fork, plugin or binding of an evaluation
    package."""
    everywhere = frozenset().union(*sections().values())
    own = sections().get(SECTIONS.get(ecosystem, ""), frozenset()) | sections()["other"]
    if ecosystem == "debian":
        own = everywhere
    runs = token_runs(plain(name)) | token_runs(normalise(name))
    if runs & KNOWN_RELATIVES:
        return True
    if any(variant in everywhere for run in runs for variant in variants(run)):
        return True
    long = [name for name in own if len(name) >= MIN_AFFIX]
    return any(token.startswith(name) or token.endswith(name) for token in runs for name in long)


@cache
def is_vendored_directory(directory: str) -> bool:
    if VENDORED.search(directory):
        return True
    everywhere = frozenset().union(*sections().values())
    return any(normalise(part) in everywhere for part in directory.split("/"))


def is_vendored(path: str) -> bool:
    """Returns whether a file in a package looks like a copy of another package, because of its folder or its
    file name."""
    directory, _, file_name = path.rpartition("/")
    everywhere = frozenset().union(*sections().values())
    stem = normalise(re.sub(r"(\.(min|umd|esm|cjs|module|production|development|slim|core|bundle|full))*\.[a-z]+$", "", file_name))
    return is_vendored_directory(directory) or (len(stem) >= 4 and stem in everywhere)
