"""Writes a sample of the mined definitions for the table of document frequencies: `frequencies.jsonl`.

The table itself is counted by the tokenizer that will use it (`cairn-ranking`, example
`count_document_frequencies`).
"""

import json
import sys

from .collect import mined_file
from .packages import ECOSYSTEMS, cache, read
from .prepare import fingerprint, held_out_fingerprints, read_rows

# Every `STEP`th definition is counted, at most `MAX_PER_PACKAGE` per package. With these numbers, the counts
# are stable, and no large package dominates.
STEP = 5
MAX_PER_PACKAGE = 400


def main() -> None:
    seen = set(held_out_fingerprints())
    written = 0
    with open(cache() / "frequencies.jsonl", "w") as out:
        for package in (package for ecosystem in ECOSYSTEMS for package in read(ecosystem)):
            if not mined_file(package).exists():
                continue
            for row in read_rows(mined_file(package))[::STEP][:MAX_PER_PACKAGE]:
                mark = fingerprint(row["code"])
                if mark not in seen:
                    seen.add(mark)
                    out.write(json.dumps({key: row[key] for key in ("name", "doc", "code")}) + "\n")
                    written += 1
    print(written, "definitions", file=sys.stderr)


if __name__ == "__main__":
    main()
