"""The compiled inner loops of training: they gather batches, add weighted rows, compute gradients, and apply
Adam.

An entry of a batch is (row of the table, damped count, role); its share in the text's vector is count ·
weight[role, row] · table[row]. Roles: 0 a word of a question, 1 a word of a passage, 2 a word of a passage's
head (in addition to 1).
"""

import numba
import numpy as np

QUERY, BODY, HEAD = 0, 1, 2


@numba.njit(cache=True)
def gather(rows, hide, offsets, ids, counts, head_offsets, head_ids, name_offsets, name_ids, damped, role, keep, seed):
    """Returns the entries of the texts `rows`. If `hide` is set for a text, the words of the definition's
    name are left out. Every other entry is kept with probability `keep`."""
    np.random.seed(seed)
    size = 0
    for row in rows:
        size += offsets[row + 1] - offsets[row] + head_offsets[row + 1] - head_offsets[row]
    starts = np.zeros(len(rows) + 1, np.int64)
    found_ids, found_values, found_roles = np.empty(size, np.int32), np.empty(size, np.float32), np.empty(size, np.uint8)
    filled = 0
    for number, row in enumerate(rows):
        names = name_ids[name_offsets[row] : name_offsets[row + 1]]
        for at in range(offsets[row], offsets[row + 1]):
            if (hide[number] and np.any(names == ids[at])) or (keep < 1.0 and np.random.random() > keep):
                continue
            found_ids[filled], found_values[filled], found_roles[filled] = ids[at], damped[counts[at]], role
            filled += 1
        if role == BODY:
            for at in range(head_offsets[row], head_offsets[row + 1]):
                if (hide[number] and np.any(names == head_ids[at])) or (keep < 1.0 and np.random.random() > keep):
                    continue
                found_ids[filled], found_values[filled], found_roles[filled] = head_ids[at], 1.0, HEAD
                filled += 1
        starts[number + 1] = filled
    return starts, found_ids[:filled], found_values[:filled], found_roles[:filled]


@numba.njit(fastmath=True, parallel=True, cache=True)
def sums(starts, ids, values, roles, table, weights, out):
    for text in numba.prange(len(starts) - 1):
        for at in range(starts[text], starts[text + 1]):
            share = values[at] * weights[roles[at], ids[at]]
            for dimension in range(table.shape[1]):
                out[text, dimension] += share * table[ids[at], dimension]


@numba.njit(fastmath=True, parallel=True, cache=True)
def gradients(starts, ids, values, roles, table, weights, grads, table_grads, weight_grads):
    """Adds the gradients of the table and of the logarithms of the weights. The two halves of the dimensions
    are processed in parallel."""
    half = table.shape[1] // 2
    for part in numba.prange(2):
        first, last = part * half, (part + 1) * half
        for text in range(len(starts) - 1):
            for at in range(starts[text], starts[text + 1]):
                row = ids[at]
                share = values[at] * weights[roles[at], row]
                dot = np.float32(0.0)
                for dimension in range(first, last):
                    grad = grads[text, dimension]
                    dot += grad * table[row, dimension]
                    table_grads[row, dimension] += share * grad
                weight_grads[part, roles[at], row] += dot * share


@numba.njit(fastmath=True, parallel=True, cache=True)
def adam(rows, table, grads, mean, variance, rate, first_correction, second_correction):
    for number in numba.prange(len(rows)):
        row = rows[number]
        for dimension in range(table.shape[1]):
            grad = grads[row, dimension]
            mean[row, dimension] = np.float32(0.9) * mean[row, dimension] + np.float32(0.1) * grad
            variance[row, dimension] = np.float32(0.999) * variance[row, dimension] + np.float32(0.001) * grad * grad
            table[row, dimension] -= rate * (mean[row, dimension] / first_correction) / (np.sqrt(variance[row, dimension] / second_correction) + np.float32(1e-8))
            grads[row, dimension] = 0.0
