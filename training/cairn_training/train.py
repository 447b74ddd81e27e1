"""Trains the table. The vector of a text is the weighted sum of the vectors of its words. A doc sentence must
find its code among the codes of its batch.

Symmetric InfoNCE over batches made of groups from one package, so that most wrong answers are near ones. A
part of the code sides hides the name, else the model would learn names only. Undocumented definitions ask
with their name. Packages whose hash says so are kept aside for validation: choices are made on them, never on
the held-out packages.
"""

import argparse
import hashlib
import sys
import time

import numba
import numpy as np

from .kernels import BODY, HEAD, QUERY, adam, gather, gradients, sums
from .packages import cache
from .prepare import KINDS

VALIDATION_SHARE = 40
DAMPED = np.concatenate([[0], 1 + np.log(np.arange(1, 256))]).astype(np.float32)


class Data:
    """The prepared lists with their offsets. Flags mark the definitions that are documented, used for
    validation, or have usable names."""

    def __init__(self) -> None:
        arrays = np.load(cache() / "prepared.npz")
        self.frequencies = arrays["frequencies"]
        self.package = arrays["package"]
        self.documented = arrays["documented"]
        self.lists = {}
        for kind in KINDS:
            offsets = np.concatenate([[0], np.cumsum(arrays[f"{kind}_lengths"], dtype=np.int64)])
            self.lists[kind] = offsets, arrays[f"{kind}_ids"], arrays[f"{kind}_counts"]
        aside = np.array([int(hashlib.md5(name.encode()).hexdigest(), 16) % VALIDATION_SHARE == 0 for name in arrays["package_names"]])
        self.validation = aside[self.package]
        self.nameable = np.diff(self.lists["name"][0]) >= 2

    def code(self, rows, hide, keep, seed):
        body, head, name = self.lists["body"], self.lists["head"], self.lists["name"]
        return gather(rows, hide, *body, head[0], head[1], name[0], name[1], DAMPED, BODY, keep, seed)

    def question(self, kind, rows, keep, seed):
        asked, name = self.lists[kind], self.lists["name"]
        return gather(rows, np.zeros(len(rows), bool), *asked, asked[0], asked[1], name[0], name[1], DAMPED, QUERY, keep, seed)


class Model:
    """The trained parameters: the rows of the table, and the logarithm of the weight of each row in each
    role."""

    def __init__(self, frequencies: np.ndarray, definitions: int, dimensions: int, seed: int) -> None:
        random = np.random.default_rng(seed)
        rows = len(frequencies)
        self.table = (random.standard_normal((rows, dimensions)) / np.sqrt(dimensions)).astype(np.float32)
        start = np.load(cache() / "word-start.npy")
        start = start - start.mean(0)
        _, _, axes = np.linalg.svd(start[::4], full_matrices=False)
        start = start @ axes[:dimensions].T
        self.table[: len(start)] = start / (np.linalg.norm(start, axis=1, keepdims=True) + 1e-9)
        rarity = np.log(np.maximum(np.log(1 + definitions / (1 + frequencies)), 0.3))
        self.log_weights = np.stack([rarity, rarity, rarity]).astype(np.float32)
        self.mean, self.variance, self.grads = (np.zeros_like(self.table) for _ in range(3))
        self.weight_mean, self.weight_variance = np.zeros_like(self.log_weights), np.zeros_like(self.log_weights)
        self.weight_grads = np.zeros((2, *self.log_weights.shape), np.float32)

    def vectors(self, entries) -> np.ndarray:
        out = np.zeros((len(entries[0]) - 1, self.table.shape[1]), np.float32)
        sums(*entries, self.table, np.exp(self.log_weights), out)
        return out

    def add_gradients(self, entries, grads) -> None:
        gradients(*entries, self.table, np.exp(self.log_weights), grads.astype(np.float32), self.grads, self.weight_grads)

    def update(self, touched: np.ndarray, rate: float, step: int) -> None:
        first, second = np.float32(1 - 0.9**step), np.float32(1 - 0.999**step)
        adam(touched, self.table, self.grads, self.mean, self.variance, np.float32(rate), first, second)
        grads = self.weight_grads.sum(0)
        self.weight_mean = np.float32(0.9) * self.weight_mean + np.float32(0.1) * grads
        self.weight_variance = np.float32(0.999) * self.weight_variance + np.float32(0.001) * grads * grads
        change = (rate * (self.weight_mean / first) / (np.sqrt(self.weight_variance / second) + 1e-8)).astype(np.float32)
        self.log_weights[:, touched] -= change[:, touched]
        self.weight_grads[:] = 0


def normalised(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-6
    return vectors / lengths, lengths


def softmax(scores: np.ndarray, axis: int) -> np.ndarray:
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def learn(model: Model, question, code, temperature: float, rate: float, step: int) -> float:
    """Runs one step of symmetric InfoNCE, and returns the loss of the direction from question to code."""
    asked, asked_lengths = normalised(model.vectors(question))
    found, found_lengths = normalised(model.vectors(code))
    scores = asked @ found.T / temperature
    by_question = softmax(scores, 1)
    wrong = (by_question + softmax(scores, 0)) / 2
    size = len(scores)
    wrong[np.arange(size), np.arange(size)] -= 1
    wrong /= size * temperature
    asked_grads, found_grads = wrong @ found, wrong.T @ asked
    model.add_gradients(question, (asked_grads - asked * (asked_grads * asked).sum(1, keepdims=True)) / asked_lengths)
    model.add_gradients(code, (found_grads - found * (found_grads * found).sum(1, keepdims=True)) / found_lengths)
    model.update(np.unique(np.concatenate([question[1], code[1]])), rate, step)
    return float(-np.log(np.diag(by_question) + 1e-9).mean())


def batches(rows: np.ndarray, package: np.ndarray, size: int, group: int, random) -> list[np.ndarray]:
    """Yields batches of `size` rows. A batch consists of groups of `group` rows that are mostly from one
    package."""
    rows = random.permutation(rows)
    rows = rows[np.argsort(package[rows], kind="stable")]
    groups = rows[: len(rows) // group * group].reshape(-1, group)
    groups = groups[random.permutation(len(groups))]
    per_batch = size // group
    return list(groups[: len(groups) // per_batch * per_batch].reshape(-1, size))


def reciprocal_rank(ranked_first: np.ndarray) -> float:
    return float(np.where(ranked_first < 10, 1 / (ranked_first + 1), 0).mean())


def validate(model: Model, data: Data, questions: int = 2_000) -> float:
    """Returns the MRR@10 of the doc sentences of the validation packages. The corpus contains the definitions
    of these packages."""
    corpus = np.where(data.validation)[0]
    corpus = np.random.default_rng(5).permutation(corpus)[:16_000]
    asked = np.where(data.documented[corpus])[0][:questions]
    codes, _ = normalised(model.vectors(data.code(corpus, np.zeros(len(corpus), bool), 1.0, 0)))
    vectors, _ = normalised(model.vectors(data.question("doc", corpus[asked], 1.0, 0)))
    ranks = []
    for start in range(0, len(asked), 500):
        scores = vectors[start : start + 500] @ codes.T
        own = scores[np.arange(len(scores)), asked[start : start + 500]]
        ranks.append((scores > own[:, None]).sum(1))
    return reciprocal_rank(np.concatenate(ranks))


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--dimensions", type=int, default=256)
    options.add_argument("--epochs", type=float, default=2)
    options.add_argument("--batch", type=int, default=768)
    options.add_argument("--group", type=int, default=32)
    options.add_argument("--rate", type=float, default=3e-3)
    options.add_argument("--temperature", type=float, default=0.05)
    options.add_argument("--keep", type=float, default=0.85)
    options.add_argument("--hide-names", type=float, default=0.25)
    options.add_argument("--names", type=float, default=0.5, help="share of the undocumented definitions that each epoch takes")
    options.add_argument("--share", type=float, default=1.0, help="share of the data, for learning curves")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--out", default="trained.npz")
    options = options.parse_args()
    numba.set_num_threads(2)
    data = Data()
    model = Model(data.frequencies, len(data.package), options.dimensions, options.seed)
    random = np.random.default_rng(options.seed)
    chosen = ~data.validation & (random.random(len(data.package)) < options.share)
    documented = np.where(data.documented & chosen)[0]
    named = np.where(~data.documented & data.nameable & chosen)[0]
    total = int(options.epochs * (len(documented) + options.names * len(named)) / options.batch)
    print(f"{len(documented)} documented, {len(named)} named, {total} steps; validation at start {validate(model, data):.4f}", file=sys.stderr, flush=True)
    started, step, loss = time.time(), 0, 0.0
    while step < total:
        some = random.permutation(named)[: int(options.names * len(named))]
        plan = [("doc", rows) for rows in batches(documented, data.package, options.batch, options.group, random)]
        plan += [("name", rows) for rows in batches(some, data.package, options.batch, options.group, random)]
        for number in random.permutation(len(plan))[: total - step]:
            kind, rows = plan[number]
            step += 1
            hide = np.ones(len(rows), bool) if kind == "name" else random.random(len(rows)) < options.hide_names
            seed = int(random.integers(1 << 31))
            question, code = data.question(kind, rows, options.keep, seed), data.code(rows, hide, options.keep, seed + 1)
            rate = options.rate * min(1, step / 100) * max(0.02, 1 - step / total)
            loss += learn(model, question, code, options.temperature, rate, step)
            if step % 500 == 0:
                print(f"step {step}/{total} loss {loss / 500:.3f} validation {validate(model, data):.4f} {time.time() - started:.0f} s", file=sys.stderr, flush=True)
                loss = 0.0
    print(f"validation {validate(model, data):.4f} after {time.time() - started:.0f} s, {time.process_time():.0f} CPU s", file=sys.stderr)
    np.savez(cache() / options.out, table=model.table, log_weights=model.log_weights)


if __name__ == "__main__":
    main()
