"""Turns the mined definitions into arrays of word numbers: `prepared.npz` and the vocabulary.

The vocabulary is the words that occur in most definitions; all other words share a few hundred rows by hash.
Whatever equals a held-out code or doc sentence is dropped, as are repeats across packages.
"""

import gzip
import hashlib
import json
import re
import sys
from collections import Counter
from multiprocessing import Pool
from pathlib import Path

import numpy as np

from .collect import mined_file
from .packages import ECOSYSTEMS, cache, read
from .words import head, words

VOCABULARY = 40_000
BUCKETS = 2_048
MIN_DOCUMENTS = 4
# Maximum number of words that are read from a text, both in training and in inference.
MAX_WORDS = 1_200
MAX_COUNT = 255


def fnv1a(word: str) -> int:
    value = 0x811C9DC5
    for byte in word.encode():
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value


def fingerprint(text: str) -> bytes:
    """Returns a digest that is equal for texts that differ only in white space and in upper and lower
    case."""
    return hashlib.md5(re.sub(r"\s+", "", text).lower().encode()).digest()


def read_rows(file: Path) -> list[dict]:
    with gzip.open(file, "rt") as lines:
        return [json.loads(line) for line in lines]


class Lists:
    """Lists of (word, count) in three packed arrays: `lengths`, `ids` and `counts`."""

    def __init__(self) -> None:
        self.lengths: list[int] = []
        self.ids: list[int] = []
        self.counts: list[int] = []

    def add(self, numbered: Counter) -> None:
        self.lengths.append(len(numbered))
        self.ids.extend(numbered.keys())
        self.counts.extend(min(count, MAX_COUNT) for count in numbered.values())

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return np.array(self.lengths, np.int32), np.array(self.ids, np.int32), np.array(self.counts, np.uint8)


KINDS = ("body", "head", "name", "doc")


def texts_of(row: dict) -> dict[str, str]:
    code = row["code"].encode()
    start, end = head(code)
    return {"body": row["code"], "head": code[start:end].decode("utf8", "replace"), "name": row["name"], "doc": row["doc"]}


def encode(rows: list[dict]) -> tuple[list[str], dict[str, tuple]]:
    """Returns all words of the rows, and for each kind of text the lists of word numbers."""
    numbers: dict[str, int] = {}
    lists = {kind: Lists() for kind in KINDS}
    for row in rows:
        for kind, text in texts_of(row).items():
            lists[kind].add(Counter(numbers.setdefault(word, len(numbers)) for word in words(text)[:MAX_WORDS]))
    return list(numbers), {kind: packed.arrays() for kind, packed in lists.items()}


def encode_package(job: tuple[Path, frozenset[bytes]]):
    file, held_out = job
    rows = [row for row in read_rows(file) if fingerprint(row["code"]) not in held_out and not (row["doc"] and fingerprint(row["doc"]) in held_out)]
    kinds = np.array([bool(row["doc"]) for row in rows], bool)
    languages = [row["language"] for row in rows]
    marks = np.array([int.from_bytes(fingerprint(row["code"])[:8], "little") for row in rows], np.uint64)
    return kinds, languages, marks, *encode(rows)


def held_out_fingerprints() -> frozenset[bytes]:
    rows = [json.loads(line) for line in open(cache() / "evaluation.jsonl")]
    return frozenset(fingerprint(row[key]) for row in rows for key in ("code", "doc") if row[key])


def main() -> None:
    packages = [package for ecosystem in ECOSYSTEMS for package in read(ecosystem) if mined_file(package).exists()]
    held_out = held_out_fingerprints()
    with Pool(2) as pool:
        parts = pool.map(encode_package, [(mined_file(package), held_out) for package in packages], chunksize=8)
    keep = first_occurrences([part[2] for part in parts])
    frequencies: Counter = Counter()
    for (_, _, _, vocabulary, lists), kept in zip(parts, keep):
        frequencies.update(document_frequencies(vocabulary, lists, kept))
    vocabulary = choose_vocabulary(frequencies)
    save(packages, parts, keep, vocabulary, frequencies)


def choose_vocabulary(frequencies: Counter) -> list[str]:
    """Returns the most frequent words. If several words have the same hash, returns only the most frequent of
    these words."""
    vocabulary, hashes = [], set()
    for word, number in sorted(frequencies.items(), key=lambda item: (-item[1], item[0])):
        if len(vocabulary) == VOCABULARY or number < MIN_DOCUMENTS:
            break
        if fnv1a(word) not in hashes:
            hashes.add(fnv1a(word))
            vocabulary.append(word)
    return vocabulary


def first_occurrences(marks: list[np.ndarray]) -> list[np.ndarray]:
    """Returns for each package a mask of the rows whose code occurs for the first time."""
    everything = np.concatenate(marks)
    _, first = np.unique(everything, return_index=True)
    mask = np.zeros(len(everything), bool)
    mask[first] = True
    return np.split(mask, np.cumsum([len(part) for part in marks])[:-1])


def document_frequencies(vocabulary: list[str], lists: dict, kept: np.ndarray) -> dict[str, int]:
    """Returns for each word the number of kept definitions whose code or doc contains the word."""
    pairs = []
    for kind in ("body", "doc"):
        lengths, ids, _ = lists[kind]
        rows = np.repeat(np.arange(len(lengths)), lengths)
        mask = kept[rows]
        pairs.append(rows[mask].astype(np.int64) * len(vocabulary) + ids[mask])
    unique = np.unique(np.concatenate(pairs)) % max(len(vocabulary), 1)
    counts = np.bincount(unique, minlength=len(vocabulary))
    return {word: int(count) for word, count in zip(vocabulary, counts) if count}


def row_numbers(vocabulary: list[str], index: dict[str, int]) -> np.ndarray:
    """Returns the row of the model for each word: its own row, or the row of the bucket that its hash
    selects."""
    return np.array([index[word] if word in index else len(index) + fnv1a(word) % BUCKETS for word in vocabulary], np.int32)


def save(packages: list, parts: list, keep: list, vocabulary: list[str], frequencies: Counter) -> None:
    index = {word: number for number, word in enumerate(vocabulary)}
    gathered: dict[str, list] = {f"{kind}_{field}": [] for kind in KINDS for field in ("lengths", "ids", "counts")}
    for (_, _, _, local, lists), kept in zip(parts, keep):
        rows = row_numbers(local, index)
        for kind in KINDS:
            lengths, ids, counts = lists[kind]
            mask = np.repeat(kept, lengths)
            gathered[f"{kind}_lengths"].append(lengths[kept])
            gathered[f"{kind}_ids"].append(rows[ids[mask]] if len(ids) else ids)
            gathered[f"{kind}_counts"].append(counts[mask])
    arrays = {name: np.concatenate(values) for name, values in gathered.items()}
    arrays["package"] = np.concatenate([np.full(int(kept.sum()), number, np.int32) for number, kept in enumerate(keep)])
    arrays["package_names"] = np.array([package.name for package in packages])
    arrays["documented"] = np.concatenate([part[0][kept] for part, kept in zip(parts, keep)])
    total = np.zeros(len(vocabulary) + BUCKETS)
    for word, number in frequencies.items():
        total[index.get(word, len(vocabulary) + fnv1a(word) % BUCKETS)] += number
    arrays["frequencies"] = total
    np.savez(cache() / "prepared.npz", **arrays)
    (cache() / "vocabulary.txt").write_text("\n".join(vocabulary) + "\n")
    by_language = Counter((language, bool(documented)) for part, kept in zip(parts, keep) for language, documented, is_kept in zip(part[1], part[0], kept) if is_kept)
    report = {f"{language} {'documented' if documented else 'undocumented'}": number for (language, documented), number in sorted(by_language.items())}
    (cache() / "prepared.json").write_text(json.dumps(report, indent=1))
    print(len(packages), "packages,", len(arrays["package"]), "definitions,", len(vocabulary), "words, rarest in", frequencies[vocabulary[-1]], json.dumps(report), file=sys.stderr)


if __name__ == "__main__":
    main()
