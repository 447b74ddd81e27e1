"""A second implementation of inference, which uses only the model file. It writes the golden vectors for the
tests in Rust.

Written for reading, not for speed: if both agree to the bit on these texts, the format's description is
complete.
"""

import json
import math
import struct
import sys
from pathlib import Path

import numpy as np

from .prepare import fnv1a
from .words import head, words

SCALE = 400.0
MAX_WORDS, MAX_ROWS, MAX_COUNT = 1_200, 512, 255

TEXTS = [
    ("query", "how do I wait until the user stops typing"),
    ("query", "parse HTTP response headers"),
    ("query", "Größe des Fensters"),
    ("query", "zyzzyvaish qwertzuiopü"),
    ("query", ""),
    ("query", "日本語"),
    ("passage", "def debounce(wait_ms, callback):\n    timer.cancel()\n    timer = Timer(wait_ms, callback)\n    return timer\n"),
    ("passage", "@cache\n# Sums.\ndef total(prices,\n          taxes=()):\n    return sum(prices) + sum(taxes)\n"),
    ("passage", "/// Opens the store.\n#[must_use]\npub fn open(path: &Path) -> Result<Store, StoreError> {\n    let file = File::open(path)?;\n    Store::read(&file)\n}\n"),
    ("passage", "func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {\n\ts.mux.ServeHTTP(w, r)\n}\n"),
    ("passage", "export const parseURLQuery = (text) => {\n  return new URLSearchParams(text)\n}\n"),
    ("passage", "static int\ncompare_names(const char *left, const char *right)\n{\n\treturn strcmp(left, right);\n}\n"),
    ("passage", "class Größe:\n    \"\"\"Ünïcode.\"\"\"\n    naïve = 1\n"),
    ("passage", "// only a comment\n"),
    ("passage", ""),
    ("passage", "+-*/ {} \t\n"),
    ("passage", "x " * 2_000),
    ("passage", " ".join(f"word{'abcdefghij'[number % 10]}{'klmnopqrst'[number // 10 % 10]}{'uvwxyzabcd'[number // 100]}" for number in range(1_000))),
]


class ModelFile:
    def __init__(self, content: bytes) -> None:
        version, self.dimensions, self.num_words, self.num_buckets, num_slots, words_bytes = struct.unpack("<6I", content[8:32])
        assert content[:8] == b"CAIRNSTA" and version == 1
        self.position, self.content = 64, content
        self.damped = self.section("<u2", 256)
        self.section("<u2", num_slots)
        self.section("<u4", self.num_words)
        rows = self.num_words + self.num_buckets
        self.weights = self.section("<u2", rows * 3).reshape(rows, 3)
        self.table = self.section("i1", rows * self.dimensions).reshape(rows, self.dimensions)
        listed = content[self.position : self.position + words_bytes].decode().split()
        self.rows = {word: row for row, word in enumerate(listed)}

    def section(self, kind: str, count: int) -> np.ndarray:
        values = np.frombuffer(self.content, kind, count, self.position)
        self.position += -(-values.nbytes // 64) * 64
        return values

    def row_of(self, word: str) -> int:
        return self.rows.get(word, self.num_words + fnv1a(word) % self.num_buckets)

    def embed(self, side: str, text: str) -> list[int]:
        counts: dict[int, int] = {}
        for word in words(text)[:MAX_WORDS]:
            row = self.row_of(word)
            if row in counts or len(counts) < MAX_ROWS:
                counts[row] = min(counts.get(row, 0) + 1, MAX_COUNT)
        start, end = head(text.encode())
        in_head = {self.row_of(word) for word in words(text.encode()[start:end].decode("utf8", "ignore"))} if side == "passage" else set()
        total = np.zeros(self.dimensions, np.int64)
        for row, count in counts.items():
            query, passage, extra = (int(weight) for weight in self.weights[row])
            share = (query if side == "query" else passage) * int(self.damped[count]) >> 8
            total += (share + (extra if row in in_head else 0)) * self.table[row].astype(np.int64)
        if not total.any():
            total = self.table[self.num_words + fnv1a(text) % self.num_buckets].astype(np.int64)
        return quantized([int(element) for element in total])


def quantized(total: list[int]) -> list[int]:
    squares = 0.0
    for element in total:
        squares += float(element) * float(element)
    scale = SCALE / math.sqrt(squares)
    rounded = (int(element * scale + math.copysign(0.5, element)) for element in total)
    return [max(-127, min(127, element)) for element in rounded]


def main() -> None:
    model, out = ModelFile(Path(sys.argv[1]).read_bytes()), Path(sys.argv[2])
    lines = [json.dumps({"side": side, "text": text, "vector": model.embed(side, text)}, ensure_ascii=False) for side, text in TEXTS]
    out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
