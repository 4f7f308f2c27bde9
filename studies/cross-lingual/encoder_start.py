"""Embeddings to begin with: tokens by their neighbours and by the passages that they stand in, in whatever language."""

from __future__ import annotations

import numpy as np
from encoder_texts import Passage
from encoder_tokens import Sequences
from scipy import sparse
from scipy.sparse.linalg import norm
from sklearn.utils.extmath import randomized_svd

_NEIGHBOURS = 2
_SPREAD = 0.08  # standard deviation of the embeddings


def count_embeddings(
    passages: list[Passage], sequences: Sequences, vocabulary: int, width: int, seed: int
) -> np.ndarray:
    """A row for each token: the first singular vectors of its positive pointwise mutual information.

    Columns are the tokens one and two places before, those after, and the passages; translations of a passage are
    one column, so that a word and its translation are alike (Levy, Søgaard and Goldberg, 2017). Singular values
    enter by their square root. All rows are of one length; those of tokens that no text has are random.
    """
    columns: dict[tuple[str, str, str], int] = {}
    tokens, places = [], []
    blocks = [sparse.csr_array((vocabulary, vocabulary)) for _ in range(2)]
    text: list[np.ndarray] = []
    for p in passages:
        ids = np.array(sequences.ids(p), int)
        key = (p.source, p.page, p.place) if p.page else (p.source, p.language, p.place)
        tokens.append(ids)
        places.append(np.full(len(ids), columns.setdefault(key, len(columns))))
        text += [ids, np.full(_NEIGHBOURS, -1)]
    flat = np.concatenate(text)
    for k in range(1, _NEIGHBOURS + 1):
        a, b = flat[:-k], flat[k:]
        both = (a >= 0) & (b >= 0)
        pairs = sparse.coo_array((np.ones(both.sum()), (a[both], b[both])), shape=blocks[0].shape)
        blocks[0] = blocks[0] + pairs.tocsr() / k
        blocks[1] = blocks[1] + pairs.T.tocsr() / k
    token, place = np.concatenate(tokens), np.concatenate(places)
    shape = (vocabulary, len(columns))
    blocks.append(sparse.coo_array((np.ones(len(token)), (token, place)), shape=shape).tocsr())
    parts = [positive_information(block) for block in blocks]
    whole = sparse.hstack([part / norm(part) for part in parts]).tocsr()
    U, s, _ = randomized_svd(whole, width, n_iter=2, random_state=seed)
    found = U * np.sqrt(s)
    norms = np.linalg.norm(found, axis=1, keepdims=True)
    known = norms[:, 0] > 1e-9
    random = np.random.default_rng(seed)
    rows = random.normal(size=found.shape) / np.sqrt(width)
    rows[known] = found[known] / norms[known]
    # A turn, so that no single neuron carries the first direction.
    turn, _ = np.linalg.qr(random.normal(size=(width, width)))
    return np.asarray(rows @ turn * np.sqrt(width) * _SPREAD, np.float32)


def positive_information(counts: sparse.csr_array) -> sparse.csr_array:
    """Pointwise mutual information where it is above 0: log of n(a, b) Σ n(·)^¾ / (n(a) n(b)^¾).

    The power, which is word2vec's, keeps rare columns from weighing too much.
    """
    found = counts.tocoo()
    row = np.asarray(counts.sum(1)).ravel()
    column = np.asarray(counts.sum(0)).ravel() ** 0.75
    expected = row[found.row] * column[found.col] / column.sum()
    values = np.maximum(np.log(found.data / expected), 0)
    return sparse.coo_array((values, (found.row, found.col)), shape=found.shape).tocsr()
