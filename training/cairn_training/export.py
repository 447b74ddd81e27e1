"""Writes the trained table as the model file that `crates/adapters/local/embedding/src/format.rs`
describes."""

import argparse
import struct
import sys
from pathlib import Path

import numpy as np
from blake3 import blake3

from .packages import cache
from .prepare import BUCKETS, fnv1a
from .train import DAMPED

VERSION = 1
HEADER_BYTES = 64
SLOTS = 1 << 17
EMPTY_SLOT = 0xFFFF
# With this limit, 4095 · 6.54 (the largest damped count) + 4095 is below 2^15.
MAX_WEIGHT = 4_095
# Weights above this quantile are reduced to it. Without this limit, a few outliers would reduce the precision
# of all other weights.
WEIGHT_QUANTILE = 0.9995
MAX_FILE_BYTES = 12_000_000


def quantized_table(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the rows as bytes, and the scale of each row."""
    scales = np.abs(table).max(1) / 127
    scales[scales == 0] = 1
    return np.rint(table / scales[:, None]).astype(np.int8), scales


def quantized_weights(log_weights: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Returns the weights by row and role, multiplied by the row's scale. Questions have a separate unit,
    because the length of a question's vector does not matter."""
    weights = np.exp(log_weights) * scales
    units = np.empty_like(weights)
    units[0] = np.quantile(weights[0], WEIGHT_QUANTILE)
    units[1:] = np.quantile(weights[1:], WEIGHT_QUANTILE)
    return np.clip(np.rint(weights / units * MAX_WEIGHT), 0, MAX_WEIGHT).astype("<u2").T


def slots_of(hashes: list[int]) -> np.ndarray:
    slots = np.full(SLOTS, EMPTY_SLOT, "<u2")
    shift = 32 - (SLOTS.bit_length() - 1)
    for row, value in enumerate(hashes):
        slot = ((value * 0x9E3779B1) & 0xFFFFFFFF) >> shift
        while slots[slot] != EMPTY_SLOT:
            slot = (slot + 1) % SLOTS
        slots[slot] = row
    return slots


def padded(section: bytes) -> bytes:
    return section + bytes(-len(section) % 64)


def model_file(table: np.ndarray, log_weights: np.ndarray, words: list[str]) -> bytes:
    hashes = [fnv1a(word) for word in words]
    if len(set(hashes)) != len(hashes):
        raise ValueError("two words share a hash; leave one out of the vocabulary")
    rows, scales = quantized_table(table)
    listed = ("\n".join(words) + "\n").encode()
    sections = [
        np.rint(DAMPED * 256).astype("<u2").tobytes(),
        slots_of(hashes).tobytes(),
        np.array(hashes, "<u4").tobytes(),
        quantized_weights(log_weights, scales).tobytes(),
        rows.tobytes(),
        listed,
    ]
    body = b"".join(map(padded, sections))
    header = b"CAIRNSTA" + struct.pack("<6I", VERSION, table.shape[1], len(words), BUCKETS, SLOTS, len(listed)) + blake3(body).digest()
    assert len(header) == HEADER_BYTES
    return header + body


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("trained")
    options.add_argument("out", type=Path)
    options = options.parse_args()
    trained = np.load(cache() / options.trained)
    content = model_file(trained["table"], trained["log_weights"], (cache() / "vocabulary.txt").read_text().split())
    if len(content) > MAX_FILE_BYTES:
        raise SystemExit(f"the model has {len(content)} bytes, more than {MAX_FILE_BYTES}")
    options.out.write_bytes(content)
    print(len(content), "bytes, digest", content[32:64].hex()[:12], file=sys.stderr)


if __name__ == "__main__":
    main()
