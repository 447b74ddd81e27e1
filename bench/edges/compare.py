#!/usr/bin/env python3
"""Compares all edges of a folder of Go or TypeScript with the type checker of the language.

    (cd bench/edges/typecheck && go run . FOLDER) > USES
    node bench/edges/typecheck/typescript.js FOLDER > USES
    bench/edges/compare.py READ_EDGES FOLDER USES

The first line is for Go, the second for TypeScript.

READ_EDGES is the example of cairn-linking. Counts by class the edges of calls, references and inheritance
whose target is the definition that the checker names, those whose target is another, and those in files that
are not built here (other systems, build tags).
"""

import re
import subprocess
import sys
from collections import Counter, defaultdict

EDGE = re.compile(r"(\S+)  .* (CALLS|REFERENCES|EXTENDS|IMPLEMENTS) (\S+)$")
TARGET = re.compile(r"    -> (\S+):(\d+)")
# The span of a definition starts at the comment above it, but the checker reports the line of the name.
LONGEST_COMMENT = 140


def main():
    program, folder, uses_path = sys.argv[1:4]
    uses = defaultdict(set)
    for line in open(uses_path):
        site, name, path, target_line = line.rstrip("\n").split("\t")
        uses[site, name].add((path, int(target_line)))
    endings = {site.split(":")[0].rsplit(".", 1)[-1] for site, _ in uses}
    for resolution in ("exact", "import", "heuristic", "ambiguous"):
        kinds = "CALLS,REFERENCES,EXTENDS,IMPLEMENTS"
        command = [program, folder, resolution, "1", "100000000", kinds]
        rows = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split("\n")
        counts = Counter()
        for index in range(0, len(rows) - 2, 3):
            edge, target = EDGE.match(rows[index]), TARGET.match(rows[index + 2])
            if not edge or not target or edge.group(1).split(":")[0].rsplit(".", 1)[-1] not in endings:
                continue
            found = uses.get((edge.group(1), edge.group(3).split(".")[-1]))
            path, start = target.group(1), int(target.group(2))
            if not found:
                counts["not built"] += 1
            elif any(path == other and start <= line <= start + LONGEST_COMMENT for other, line in found):
                counts["right"] += 1
            else:
                counts["wrong"] += 1
        read = counts["right"] + counts["wrong"]
        print(f"{resolution} {dict(counts)} precision {counts['right'] / max(1, read):.4f}")


if __name__ == "__main__":
    main()
