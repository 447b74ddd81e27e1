"""Compares answers about definitions and callers with a plain text search."""

import random
import re
from collections import defaultdict
from pathlib import Path

from .program import Cairn
from .sources import Form

# Regular expressions that find definitions, by file extension. Group 1 is the name of the definition.
DEFINITIONS = {
    "py": r"^\s*(?:async )?(?:def|class) ([A-Za-z_]\w{7,})",
    "go": r"^func (?:\([^)]*\) )?([A-Za-z_]\w{7,})[\[(]",
    "rs": r"^\s*(?:pub(?:\([a-z ]+\))? )?(?:async |const |unsafe )*(?:fn|struct|enum|trait) ([A-Za-z_]\w{7,})",
    "java": r"^\s*(?:(?:public|protected|private|static|final|abstract|sealed) )+(?:class|interface|enum) ([A-Za-z_]\w{7,})",
    "js": r"^\s*(?:export )?(?:default )?(?:async )?(?:function\*?|class) ([A-Za-z_]\w{7,})",
    "c": r"^(?:[A-Za-z_][\w*]* +)+\*?([a-z_]\w{7,})\([^;]*$",
}
# Words that code in a class can use instead of the name of the class.
OWN_NAME = re.compile(r"\b(Self|self|cls|this|super)\b")
# Number of names per tree whose definitions are requested, and number of names whose callers are requested.
NUM_ASKED = 40
NUM_CALLERS = 15
# The definition must be the first hit for this percentage of the requested names.
LEAST_PERCENT = 85


class Texts:
    """The lines of the indexed files of a tree, and the definitions whose names are defined only once in
    these files."""

    def __init__(self, cairn: Cairn, form: Form) -> None:
        self.lines: dict[str, list[str]] = {}
        self.places: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for entry in cairn.ask("coverage", "tree")["entries"]:
            path = entry["path"]
            if entry["outcome"] == "indexed" and Path(path).suffix[1:] in DEFINITIONS:
                self.add(path, form.path / path)

    def add(self, path: str, file: Path) -> None:
        lines = file.read_text(encoding="utf8", errors="replace").split("\n")
        self.lines[path] = lines
        pattern = re.compile(DEFINITIONS[Path(path).suffix[1:]])
        for number, line in enumerate(lines, 1):
            if match := pattern.match(line):
                self.places[match.group(1)].append((path, number))

    def unique(self) -> list[str]:
        return sorted(name for name, places in self.places.items() if len(places) == 1 and not re.search(r"(^|/)tests?/|_test\.|test_", places[0][0]))


def check(cairn: Cairn, form: Form, seed: int) -> list[str]:
    texts = Texts(cairn, form)
    unique = texts.unique()
    asked = random.Random(seed).sample(unique, min(NUM_ASKED, len(unique)))
    missed = [name for name in asked if not finds(cairn, texts, name)]
    print(f"   definitions: {len(asked) - len(missed)} of {len(asked)} are the first hit{': not ' if missed else ''}{', '.join(missed)}")
    edges, false = 0, []
    for name in asked[:NUM_CALLERS]:
        found = cairn.ask("graph", "callers", name, "--repo", "tree").get("edges", [])
        edges += len(found)
        false += [f"{form.name}: {edge['site']} is not a call of {name}" for edge in found if not is_call(texts, edge, name)]
    print(f"   callers of {min(NUM_CALLERS, len(asked))}: {edges} edges, {len(false)} sites without the name")
    if (len(asked) - len(missed)) * 100 < len(asked) * LEAST_PERCENT:
        false.append(f"{form.name}: {len(missed)} of {len(asked)} definitions are not the first hit")
    return false


def finds(cairn: Cairn, texts: Texts, name: str) -> bool:
    path, line = texts.places[name][0]
    results = cairn.ask("search", name, "--repo", "tree", "--limit", "1").get("results", [])
    return any(hit["path"] == path and hit["start_line"] <= line <= hit["end_line"] for hit in results)


def is_call(texts: Texts, edge: dict, name: str) -> bool:
    """Returns whether the line of the call, or one of the next three lines, contains the name or a word that
    can replace it."""
    site = edge["site"]
    if site is None or site["path"] not in texts.lines:
        return site is None
    near = "\n".join(texts.lines[site["path"]][site["line"] - 1 : site["line"] + 3])
    return name in near or OWN_NAME.search(near) is not None
